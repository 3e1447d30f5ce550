"""scripts/gpu-check from start to end on the stand-in of CUDA (tests/cuda_stand_in), with a sample of the tests."""
import pytest

STEPS = ["smoke", "facts", "tests", "partition", "pair", "matmul", "schedules", "scenarios", "profiles", "ranks", "peaks",
         "ncu", "sanitizer"]
SAMPLE = 60  # runs one in 60 tests of operations


@pytest.fixture
def check(check_real, build):
    real = build.program("kernels_test")
    check_real.test_program(
        "kernels_test",
        f"export GTEST_TOTAL_SHARDS=$((${{GTEST_TOTAL_SHARDS:-1}} * {SAMPLE}))",
        "export GTEST_SHARD_INDEX=${GTEST_SHARD_INDEX:-0}",
        f'exec {real} "$@"',
    )
    (check_real.folder / "libexec/tests/runtime_test").symlink_to(build.program("runtime_test"))
    return check_real


def test_finds_nothing_wrong_and_names_what_is_missing(check):
    out = check.steps(",".join(STEPS), "--time-limit", "900", code=1, seconds=600).out
    wrong = [line.split(" (")[0] for line in out.splitlines() if line.startswith("!")]
    assert wrong == [
        "! matmul",
        "! ncu: not run: ncu is not installed",
        "! sanitizer: not run: compute-sanitizer is not installed",
    ]
    assert "matmul (3 figures): not run: no PyTorch" in out
    summary = check.summary
    assert summary["steps"] == dict.fromkeys(STEPS, "done")
    assert "CUDA stand-in, no figures" in str(summary["facts"]["parbench_devices"])
    assert summary["tests"]["passed"] > 10 and summary["tests"]["failed"] == 0
    checks = check.output("machine.json")["smoke"]["checks"]
    assert len(checks) == 14 and all(one["status"] == "passed" for one in checks)
    partition = check.output("tests.json")["partition"]["programs"][0]
    assert partition["passed"] > 0 and partition["status"] == "passed"
    scenarios = check.output("scenarios.json")
    assert len(scenarios["pair"]["reports"]) == 24 and len(scenarios["ranks"]["reports"]) == 3
