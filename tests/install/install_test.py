"""`cmake --install` into a folder, and examples/two-streams built with what lies there alone."""
import json
import re

import pytest

from support.process import ROOT, missing, run, text_of

EXAMPLE = ROOT / "examples/two-streams"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
CASES = [f"two-streams/{strategy}/rows:64/pieces:{pieces}"
         for pieces in (2, 4) for strategy in ("one-stream", "two-streams")]


@pytest.fixture(scope="module")
def prefix(build, tmp_path_factory):
    """A folder that parbench is installed in."""
    folder = tmp_path_factory.mktemp("installed") / "a prefix"
    run(["cmake", "--install", build.folder, "--prefix", folder])
    return folder


@pytest.fixture(scope="module")
def headers(prefix):
    """The installed headers, by the names by which they are included."""
    folder = prefix / "include/parbench"
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*.h"))}


@pytest.fixture(scope="module")
def example(build, prefix, tmp_path_factory):
    """Calls the program of the example in a folder of its own."""
    folder = tmp_path_factory.mktemp("example")
    compiler = build.cached("CMAKE_CXX_COMPILER")
    run(["cmake", "-G", "Ninja", "-S", copy_of(EXAMPLE, folder / "source"), "-B", folder / "build",
         f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}"])
    run(["cmake", "--build", folder / "build"])
    program = folder / "build/two-streams"

    def call(*words, code=0):
        return run([program, *words], code=code, cwd=folder, env={"TERM": "dumb"})

    call.folder = folder
    return call


def copy_of(source, target):
    """Copies the files of a folder, so that a build does not find the repository around them."""
    target.mkdir()
    for path in source.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    return target


@pytest.fixture(scope="module")
def reports(example):
    """Two reports of the example, the second by two processes."""
    short = ["--scenario", "two-streams", "--rows", "64", "--pieces", "2,4", "--max-total-time", "4"]
    example(*short, "--report", "one.json")
    example(*short, "--report", "two.json", "--processes", "2")
    return [json.loads(text_of(example.folder / name)) for name in ("one.json", "two.json")]


def test_installs_the_package_and_nothing_else(build, prefix):
    top = {str(path.relative_to(prefix)) for path in prefix.glob("*")}
    assert top == {"bin", "include", "lib"}
    assert [path.name for path in (prefix / "bin").iterdir()] == ["parbench"]
    assert {path.name for path in (prefix / "lib/cmake/parbench").iterdir()} == {
        "parbenchConfig.cmake", "parbenchConfig-release.cmake", "parbenchConfigVersion.cmake"}
    for path in (prefix / "lib/cmake/parbench").iterdir():
        assert str(ROOT) not in text_of(path) and str(prefix) not in text_of(path)
    assert run([prefix / "bin/parbench", "--version"]).out.startswith("parbench ")


def test_headers_include_only_what_is_installed(headers):
    assert {"bench/program.h", "scenarios/framework/scenario.h"} <= set(headers)
    assert [f"{name} includes {include}" for name, path in headers.items()
            for include in INCLUDE.findall(text_of(path)) if include not in headers] == []


def test_headers_compile_without_the_packages_that_parbench_is_built_with(build, headers, tmp_path):
    source = tmp_path / "all.cpp"
    source.write_text("".join(f'#include "{name}"\n' for name in headers), encoding="utf-8")
    program = headers["bench/program.h"]
    run([build.cached("CMAKE_CXX_COMPILER"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
         f"-I{program.parents[1]}", source])
    foreign = re.compile(r"#\s*include\s*<(?:fmt|nlohmann|oneapi|hwloc|benchmark|boost|CLI)\b")
    assert [name for name, path in headers.items() if foreign.search(text_of(path))] == []


def test_example_is_short():
    for path in EXAMPLE.glob("*.cpp"):
        assert len(text_of(path).splitlines()) <= 100


def test_example_has_flags_and_lists(example):
    listed = example("list").out
    assert not missing(listed, "two-streams", "--pieces", "selftest")
    cases = example("--scenario", "two-streams", "--rows", "64", "--pieces", "2,4", "--dry-run").out
    assert not missing(cases, *CASES)


def test_example_refuses_wrong_values(example):
    words = ["--scenario", "two-streams", "--rows", "64", "--pieces"]
    assert "--pieces 3 must divide --rows" in example(*words, "3", code=2).err
    assert "--pieces" in example(*words, "0", code=2).err


def test_example_writes_reports(example, reports):
    for report in reports:
        content = report["parbench"]
        assert sorted(case["name"] for case in content["cases"]) == sorted(CASES)
        for case in content["cases"]:
            assert case["status"] == "measured"
            assert case["verification"]["passed"]
            assert case["verification"]["against"] == "every result compared with twice its source"
        assert len(content["answers"][0]["recommendations"]) == 2
    shown = example("show", "one.json").out
    assert not missing(shown, "two-streams")
    assert re.search("→ (Another strategy|Use)", shown), shown


def test_example_compares_reports(example, prefix, reports):
    assert "no case" not in example("compare", "one.json", "one.json").out
    ended = example("compare", "one.json", "two.json", code=None)
    assert ended.returncode in (0, 3), ended.err
    by_parbench = run([prefix / "bin/parbench", "compare", "one.json", "two.json"], code=None,
                      cwd=example.folder, env={"TERM": "dumb"})
    assert (by_parbench.returncode, by_parbench.out) == (ended.returncode, ended.out)
