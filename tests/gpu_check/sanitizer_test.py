"""Compute Sanitizer in scripts/gpu-check: findings, refusals, absence."""
import pathlib

import pytest

from support.googletest import ran
from support.process import missing, write_program

NO_ERRORS = "ERROR SUMMARY: 0 errors"
NO_HAZARDS = "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
KERNELS_TEST = (
    'echo "kernels_test $* $PARBENCH_REQUIRE_CUDA" >>"$LOG"',
    ran("Conformance.Adds/cuda_0"),
)


@pytest.fixture
def sanitized(check):
    check.test_program("kernels_test", *KERNELS_TEST)
    return check


def write_sanitizer(check, memcheck=NO_ERRORS, racecheck=NO_HAZARDS, path="tools/compute-sanitizer"):
    """Writes a compute-sanitizer that prints this for each tool after it has run the program."""
    write_program(
        check.folder / path,
        'echo "sanitizer $*" >>"$LOG"\n[[ $1 != --version ]] || exit 0\n'
        'tool=$2\nwhile [[ $1 != */kernels_test ]]; do shift; done\n"$@"\n'
        f"[[ $tool == memcheck ]] && echo '========= {memcheck}' || echo '========= {racecheck}'\n",
    )


def runs(check):
    return check.output("tests.json")["sanitizer"]["runs"]


def test_runs_both_tools_over_the_tests_of_gpus(sanitized):
    write_sanitizer(sanitized)
    sanitized.steps("sanitizer")
    assert [(run["tool"], run["what"]) for run in runs(sanitized)] == [
        ("memcheck", "our kernels"),
        ("racecheck", "our kernels"),
        ("memcheck", "our kernels in convolutions"),
        ("memcheck", "all kernels"),
    ]
    assert runs(sanitized)[0]["passed"] == 1
    flags = ["--tool memcheck", "--tool racecheck", "--kernel-name kns=parbench"]
    assert not missing(sanitized.log, *flags, "*cuda*", " 1\n")


def test_watches_no_operations_of_vendors_where_our_kernels_are_watched(sanitized):
    write_sanitizer(sanitized)
    sanitized.steps("sanitizer")
    ours, races, convolutions, every = [
        line for line in sanitized.log.splitlines() if line.startswith("kernels_test")
    ]
    for watched in ours, races:
        assert not missing(watched.partition("-")[2], "*cuda*_convolution_*", "*cuda*_gemm*")
    assert "=*cuda*_convolution_weights_*bf16*:" in convolutions
    assert "_convolution_" not in every


def test_checks_failed_tests_first_and_all_their_kernels(sanitized):
    sanitized.test_program(
        "kernels_test",
        'echo "kernels_test $*" >>"$LOG"',
        ran("Conformance.Adds/cuda_0", "FAILED"),
        "exit 1",
    )
    write_sanitizer(sanitized)
    sanitized.steps("tests,sanitizer", code=None)
    assert runs(sanitized)[0]["what"] == "all kernels of failed tests"
    program = sanitized.folder / "libexec/tests/kernels_test"
    tests = "--gtest_filter=Conformance.Adds/cuda_0-Autotune.KeepsNoMemoryOfItsOwn"
    assert f"97 {program} {tests}\n" in sanitized.log


def test_findings_are_problems(sanitized):
    write_sanitizer(sanitized, memcheck="ERROR SUMMARY: 12 errors")
    out = sanitized.steps("sanitizer", code=1).out
    assert "memcheck over kernels_test, our kernels: ERROR SUMMARY: 12 errors" in out


def test_reports_why_the_tool_refused(sanitized):
    sanitized.test_program("kernels_test", "exit 1")
    error = "Error: Device not supported."
    write_sanitizer(sanitized, memcheck=error, racecheck=error)
    sanitized.steps("sanitizer", code=1)
    assert runs(sanitized)[0]["status"] == f"not run: {error}"


@pytest.mark.parametrize(
    "path, variable, value",
    [
        ("toolkit/compute-sanitizer/compute-sanitizer", "CUDA_HOME", "toolkit"),
        ("packages/nvidia/cu13/bin/compute-sanitizer", "PYTHONPATH", "packages"),
        ("toolkit/bin/compute-sanitizer", None, None),
    ],
    ids=["the toolkit that the environment names", "packages of Python", "the toolkit of nvcc"],
)
def test_is_found(sanitized, path, variable, value):
    write_sanitizer(sanitized, path=path)
    if variable is None:
        nvcc = write_program(sanitized.folder / "toolkit/bin/nvcc", "exit 1\n")
        (sanitized.folder / "tools/nvcc").symlink_to(nvcc)
    sanitized.steps("sanitizer", **({variable: sanitized.folder / value} if variable else {}))
    assert "sanitizer " in sanitized.log


@pytest.mark.skipif(
    pathlib.Path("/usr/local/cuda/bin/compute-sanitizer").exists(),
    reason="this machine has compute-sanitizer",
)
def test_its_absence_is_reported(sanitized):
    out = sanitized.steps("sanitizer", code=1).out
    assert sanitized.output("tests.json")["sanitizer"]["not_run"] == "compute-sanitizer is not installed"
    assert "sanitizer: not run: compute-sanitizer is not installed" in out
