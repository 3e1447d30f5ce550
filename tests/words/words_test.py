"""scripts/words on files and on a repository of its own."""
import shutil

import pytest

from support.process import PYTHON, ROOT, run


@pytest.fixture
def repository(tmp_path):
    """A repository with the script and nothing else."""
    run(["git", "init", "-q", tmp_path])
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/words", tmp_path / "scripts")
    return tmp_path


@pytest.fixture
def words(repository):
    """Checks a repository that has the given text in the file `name`."""

    def checked(text, name="bench/a.h", code=0):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text, encoding="utf-8")
        return run([PYTHON, repository / "scripts/words"], cwd=repository, code=code)

    return checked


@pytest.mark.parametrize(
    "line, found, better",
    [
        ("// Users are told of it.", "told", "report"),
        ("std::string told_lines;", "told", "report"),
        ("TEST(A, TellsItsVersion) {}", "Tells", "report"),
        ("// A case is looked at again.", "looked at", "profile"),
        ("void look_at(const Subject& subject);", "look_at", "profile"),
        ("// No sample is near the look.", "the look", "profiling pass"),
        ("bool looks_ = false;", "looks_", "profiling_"),
        ("// For whoever reads it.", "whoever", "the caller"),
        ("// Nobody waits.", "Nobody", "the user"),
        ("constexpr int most_executions = 25;", "most_executions", "max_"),
        ("double least_seconds = 0;", "least_seconds", "min_"),
        ("MOST_LINES = 5", "MOST_LINES", "max_"),
        ("double most = 0;", "double most", "max"),
        ("// Throws for a lost device, say.", ", say.", "for example"),
        ("// Of three launches the first.", "three launches", "processes"),
        ("int nap = 1;", "nap", "pause"),
        ("enum class Fate {};", "Fate", "handling"),
    ],
)
def test_finds_a_word_with_its_place_and_a_better_one(words, line, found, better):
    ended = words(f"#pragma once\n{line}\n", code=1)
    first = ended.out.splitlines()[0]
    assert first.startswith(f"bench/a.h:2: '{found}': use ")
    assert better in first
    assert ended.err == "1 words to replace; the table is in scripts/words\n"


@pytest.mark.parametrize(
    "text",
    [
        "// Returns at least one and at most ten samples, most of them short.\n",
        'row = Row("a", at_least=0.9, at_most=1.1)\n',
        "// Looks for GPUs; the driver looks up what looks like an address.\n",
        "graph.launch();  // counts the launches of the graph\n",
        'say("wrote report.json")\n',
        "std::size_t chunk = 0;  // snapshot, synapse, household names\n",
    ],
)
def test_passes_plain_text(words, text):
    ended = words(text)
    assert (ended.out, ended.err) == ("", "")


def test_exceptions_hold_for_their_files_only(words):
    looks = "/// As of the last look.\nstd::vector<int> looks_taken;\n"
    assert words(looks, "reports/compare/paired.h").out == ""
    assert words(looks, "bench/a.h", code=1).out.count("\n") == 2


def test_an_exception_does_not_cover_other_words(words):
    out = words("// The pairs tell nothing.\n", "reports/compare/paired.h", code=1).out
    assert out.startswith("reports/compare/paired.h:1: 'tell': use ")


def test_leaves_out_recorded_output_and_package_locks(words):
    for name in "reports/reference/run.txt", "reports/web/package-lock.json":
        assert words("nobody was told\n", name).out == ""


def test_reads_named_files_only(repository, words):
    words("nobody\n", "bench/bad.h", code=1)
    (repository / "good.h").write_text("// Returns the sum.\n", encoding="utf-8")
    run([PYTHON, repository / "scripts/words", repository / "good.h"], cwd=repository)
    refused = run([PYTHON, repository / "scripts/words", "none.h"], cwd=repository, code=2)
    assert "none.h cannot be read" in refused.err
