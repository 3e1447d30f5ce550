"""scripts/gpu-check on CPU devices, with programs that crash and hang, and where something is missing."""
import os
import re
import signal
import time

import pytest

from support.googletest import began, ran
from support.process import PYTHON, missing

PASSES = (
    ran("Sum.IsRight"),
    ran("Lanes/Sum.IsRight/cuda_0", "SKIPPED", "sum_test.cpp:3: Skipped", "no GPU"),
)


def test_refuses_a_machine_without_a_gpu(check_real):
    ended = check_real(
        "--output", "out", "--python", check_real.no_torch, code=3, CUDA_VISIBLE_DEVICES="-1"
    )
    assert "gpu-check: error: " in ended.err
    assert not (check_real.folder / "out").exists()


def test_tries_its_steps_on_cpu_devices(check_real):
    check = check_real
    check.test_program("sum_test", *PASSES)
    out = check.steps(
        "smoke,facts,tests,pair,schedules,matmul,scenarios,ranks,peaks,ncu,sanitizer",
        "--devices", "cpu", "--time-limit", "240",
    ).out
    assert not missing(out, "A trial on tiny sizes")
    # f32, and bf16 where the processor has it.
    assert re.search(r"matmul(/f32| \(2 figures\)): not run: no PyTorch", out), out
    summary = check.summary
    assert summary["trial"] is True
    assert summary["tests"] == {"passed": 1, "failed": 0, "skipped": 1}
    steps = ["smoke", "facts", "tests", "pair", "schedules", "matmul", "scenarios", "ranks", "peaks"]
    assert summary["steps"] == dict.fromkeys(steps, "done"), "ncu and sanitizer are for GPUs"
    assert check.target("overlap/d2h/pinned")["value"] > 0
    assert check.target("overlap/d2h/pinned")["reached"] is None, "a trial reaches no target"
    assert "cpu:0" in str(summary["facts"]["parbench_devices"])

    machine = check.output("machine.json")
    for subsystem in machine["smoke"]["checks"]:
        assert subsystem["status"] == "passed" and subsystem["lines"], subsystem
    assert "gemm f32" in str(machine["peaks"]["devices"])
    assert check.programs()[0]["skipped"] == {"no GPU": 1}
    on_pair = check.output("scenarios.json")["pair"]["reports"]
    assert len(on_pair) == 24, "twelve scenarios, each with graphs and without"
    assert all(report["medians"] for report in on_pair)
    reports = check.output("scenarios.json")["scenarios"]["reports"]
    assert len(reports) >= 5 and reports[0]["cases"]
    ranks = check.output("scenarios.json")["ranks"]
    assert len(ranks["reports"]) == 3 or ranks["left_out"]
    assert "'samples':" not in str(reports)
    files = list((check.folder / "out").iterdir())
    assert len(files) <= 7
    for file in files:
        assert file.stat().st_size <= 256 * 1024, file
        assert re.fullmatch("[A-Za-z0-9._-]+", file.name)


def test_a_crash_hides_no_other_test(check):
    check.test_program(
        "crash_test",
        'case "$*" in',
        f"*-) {ran('A.One')}; {began('A.Two')}; echo 'about to fall'; kill -SEGV $$ ;;",
        f"*A.One:A.Two) {ran('A.Three')} ;;",
        "esac",
    )
    check.test_program("sum_test", *PASSES)
    out = check.steps("tests", code=1).out
    crashed, other = check.programs()
    assert (crashed["program"], crashed["passed"]) == ("crash_test", 2)
    assert crashed["failed"]["A.Two"] == "ended by SIGSEGV: about to fall"
    assert other["status"] == "passed"
    assert "crash_test: 1 failed, first A.Two: ended by SIGSEGV" in out


def test_a_lost_gpu_fails_no_other_test(check):
    """After an error that stays with the context, every later test of that process fails too."""
    lost = "this process can no longer use any GPU; start"
    check.test_program(
        "lose_test",
        'case "$*" in',
        f"*-) {ran('A.One/cuda_0')}; {ran('A.Two/cuda_0', 'FAILED', lost)}",
        f"    {ran('A.Three/cuda_0', 'FAILED', lost)}; sleep 1000 ;;",
        f"*-A.One/cuda_0:A.Two/cuda_0) {ran('A.Three/cuda_0')} ;;",
        "esac",
    )
    check.steps("tests", code=1)
    program = check.programs()[0]
    assert (program["passed"], program["processes"]) == (2, 2)
    assert program["failed"] == {"A.Two/cuda_0": lost}


def test_gpu_tests_run_first_then_those_on_a_partition_then_the_others(check):
    check.test_program(
        "kernels_test",
        'echo "$1 $PARBENCH_TEST_GPU $CUDNN_LOGLEVEL_DBG ${GTEST_TOTAL_SHARDS:-alone}" >>"$LOG"',
        "echo 'an error of cuDNN' >>\"$CUDNN_LOGDEST_DBG\"",
    )
    check.steps("other-tests,partition,tests", code=None)
    gpu_tests = "*cuda*:*Cuda*:*Gpu*:*Partitions*:Autotune.*:Choices.*"
    assert check.log.splitlines() == [
        *["--gtest_filter=*Conformance*cuda*-  1 8"] * 8,
        f"--gtest_filter={gpu_tests}-*Conformance*cuda*  1 alone",
        *["--gtest_filter=*Conformance*cuda*- cuda:0/1 1 8"] * 8,
        f"--gtest_filter=*-{gpu_tests}  1 alone",
    ]
    assert "an error of cuDNN" in check.read("out/cudnn.log")


# A test of its own in each shard, whose number is the letter of a suite.
SHARDED = "name=Conformance.$(echo ABCDEFGH | cut -c $((GTEST_SHARD_INDEX + 1)))/cuda_0"


def test_shards_run_side_by_side_and_one_that_crashes_hides_no_other_test(check):
    """Each waits for a file that the last one writes. Behind the crash another round runs the rest."""
    check.test_program(
        "kernels_test",
        "[[ -v GTEST_SHARD_INDEX ]] || exit 0",
        'if [[ $1 == *"*-"?* ]]; then echo "$GTEST_SHARD_INDEX $1" >>"$LOG"',
        f"  [[ $GTEST_SHARD_INDEX != 0 ]] || {{ {ran('Conformance.Left/cuda_0')}; }}; exit 0; fi",
        SHARDED,
        '[[ $GTEST_SHARD_INDEX != 7 ]] || touch "$LOG.last"',
        'until [[ -e $LOG.last ]]; do sleep 0.05; done',
        'echo "[ RUN      ] $name"',
        "[[ $GTEST_SHARD_INDEX != 3 ]] || kill -SEGV $$",
        'echo "[       OK ] $name (1 ms)"',
    )
    check.steps("tests", code=1)
    conformance = check.programs()[0]
    assert conformance["filter"] == "*Conformance*cuda*-"
    assert (conformance["passed"], conformance["began"], conformance["processes"]) == (8, 9, 16)
    assert list(conformance["failed"]) == ["Conformance.D/cuda_0"]
    assert len(check.log.splitlines()) == 8
    assert all(f"Conformance.{letter}/cuda_0" in check.log for letter in "ABCDEFGH")


def test_a_shard_that_hangs_keeps_what_the_others_found(check):
    check.test_program(
        "kernels_test",
        "[[ -v GTEST_SHARD_INDEX ]] || exit 0",
        SHARDED,
        'echo "[ RUN      ] $name"',
        "[[ $GTEST_SHARD_INDEX != 5 ]] || sleep 1000",
        'echo "[       OK ] $name (1 ms)"',
    )
    check.steps("tests", "--time-limit", "30", code=1)
    conformance = check.programs()[0]
    assert not missing(conformance["status"], "ended at its limit", "in Conformance.F/cuda_0")
    assert conformance["passed"] >= 7


def test_a_command_that_hangs_hides_no_other_fact(check):
    check.tool("nvidia-smi", "echo 'H0, 580, 1, 1, 1, 1, 30, Default, on, 5, 16'\n")
    check.program("parbench", '[[ ! -v PARBENCH_CACHE ]] || sleep 1000\necho "cuda: 1 GPU"\n')
    check.steps("facts", "--time-limit", "20")
    assert check.summary["facts"]["gpus"][0]["name"] == "H0"
    assert "ended at its limit" in check.summary["facts"]["parbench_devices"][0]


def test_a_subsystem_that_crashes_or_hangs_hides_no_other(check):
    check.program(
        "parbench-smoke",
        'echo "$1 of $2"\n[[ $1 != graph ]] || kill -SEGV $$\n[[ $1 != condition ]] || sleep 1000\n',
    )
    ended = check.steps("smoke", "--time-limit", "24", code=1)
    assert "smoke: partition: partition of cuda:0\n" in ended.err
    checks = check.output("machine.json")["smoke"]["checks"]
    status = {one["check"]: one["status"] for one in checks}
    assert status["context"] == "passed"
    assert status["graph"] == "ended by SIGSEGV"
    assert "ended at its limit" in status["condition"]
    assert status["convolution-bf16"] == "passed"
    assert "! smoke: graph: ended by SIGSEGV: graph of cuda:0" in ended.out


def test_nothing_else_is_tried_without_a_context(check):
    check.program("parbench-smoke", 'echo "FAILED: no device"; exit 1\n')
    check.steps("smoke", code=None)
    checks = check.output("machine.json")["smoke"]["checks"]
    assert [one["status"] for one in checks[:2]] == ["exited 1", "not begun"]


def test_failures_keep_their_messages(check):
    check.test_program(
        "sum_test",
        ran("Sum.IsRight", "FAILED", "sum_test.cpp:7: Failure", "which is 5"),
        "echo '[  FAILED  ] 1 test, listed below:'",
        "echo '[  FAILED  ] Sum.IsRight'",
        "exit 1",
    )
    check.steps("tests", code=1)
    assert check.programs()[0]["failed"] == {"Sum.IsRight": "sum_test.cpp:7: Failure | which is 5"}
    assert check.summary["tests"]["failed"] == 1


HANGS = (began("Wait.ForEver"), 'echo $$ >"$LOG.process"', "sleep 1000")


def wait_for_end(process, tries=250):
    """Waits for a process that is no child of this one, and fails the test if it goes on."""
    for _ in range(tries):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail(f"process {process} still runs")


def test_a_program_that_hangs_is_ended_at_its_limit(check):
    check.test_program(
        "wait_test", HANGS[0], "trap '' TERM", HANGS[1], "while :; do sleep 1; done"
    )
    check.steps("tests,schedules,sanitizer", "--time-limit", "28", code=1)
    assert not missing(check.programs()[0]["status"], "ended at its limit", "in Wait.ForEver")
    wait_for_end(int(check.read("log.process")))
    assert check.target("overlap/d2h/pinned")["value"] == 1, "later steps run all the same"


def test_a_step_without_time_is_not_run(check):
    check.test_program("wait_test", "trap '' TERM", "while :; do sleep 1; done")
    check.steps("tests,schedules", "--time-limit", "20", code=1)
    assert check.target("partitions/two")["not_run"] == "not run: time"


def test_asked_to_end_it_leaves_a_summary_and_no_process(check):
    check.test_program("wait_test", *HANGS)
    with check.start_steps("tests") as process:
        process.wait_until(lambda: check.read("log.process"))
        process.send_signal(signal.SIGTERM)
        process.finish(code=130)
    assert check.summary["steps"]["tests"] == "interrupted"
    wait_for_end(int(check.read("log.process")))


def test_killed_it_has_written_what_it_knew(check):
    check.test_program("sum_test", *PASSES)
    check.test_program("wait_test", ran("Wait.ABit"), *HANGS)
    with check.start_steps("tests,schedules") as process:
        process.wait_until(
            lambda: '"running"' in check.read("out/tests.json") and check.read("log.process")
        )
        process.kill()
        process.finish(code=-signal.SIGKILL)
    os.kill(int(check.read("log.process")), signal.SIGKILL)
    assert [program["passed"] for program in check.programs()] == [1, 1]
    assert check.summary["steps"] == {"tests": "not finished", "schedules": "not begun"}


def test_names_the_libraries_that_are_missing(check):
    check.write("libexec/needs", "libcudnn.so.9 libcublasLt.so.13\n")
    err = check("--output", "out", "--only", "schedules", code=2).err
    libraries = ["libcudnn.so.9 is missing", "libcublasLt.so.13 is missing"]
    assert not missing(err, *libraries, "cudnn-cu13==9")


def test_finds_libraries_beside_pytorch(check):
    check.write("libexec/needs", "libcudnn.so.9\n")
    check.write("packages/nvidia/cudnn/lib/libcudnn.so.9", "")
    words = ["--output", "out", "--python", PYTHON, "--only", "schedules"]
    ended = check(*words, code=None, PYTHONPATH=check.folder / "packages")
    assert ended.returncode != 2, ended.err


LIMITS = [
    (["--time-limit", limit], [f"'{limit}' is not a number of seconds from 20 to 86400"])
    for limit in ("nan", "inf", "0", "-5", "1e9", "soon")
]


@pytest.mark.parametrize(
    "words, messages",
    [
        (["--only", "speed"], ["'speed' does not exist", "matmul"]),
        (["--output", "/proc/no"], ["/proc/no"]),
        (["--python", "/no/such/python"], ["--python: '/no/such/python'", "No such file"]),
        (["--python", "/etc/passwd"], ["Permission denied"]),
        *LIMITS,
    ],
    ids=lambda words: " ".join(words) if words[0].startswith("--") else "",
)
def test_refuses_bad_values(check, words, messages):
    err = check("--python", check.no_torch, *words, code=2).err
    assert err.startswith("gpu-check: error: ")
    assert "Traceback" not in err
    assert not missing(err, *messages)


def test_shows_help_in_a_fresh_clone_before_anything_is_built(clone, check):
    check.folder = clone  # no bundle, and no CMakeLists.txt
    assert "--time-limit SECONDS" in check("--time-limit", "30", "--help").out
    err = check("fast", code=2).err
    assert not missing(err, "fast", "--help")
    assert not (clone / "build").exists()


@pytest.mark.parametrize("torch, share", [(True, range(300)), (False, range(401, 560))])
def test_steps_that_cannot_run_take_no_time_from_others(check, torch, share):
    check.test_program("sum_test", *PASSES)
    err = check.steps("tests,training", torch=torch, code=None).err
    assert int(re.search(r"tests, at most (\d+) s", err)[1]) in share


def test_tests_of_kernels_come_first(check):
    for name in "alpha_test", "kernels_test", "training_test":
        check.test_program(name, *PASSES)
    check.steps("tests", code=None)
    order = [program["program"] for program in check.programs()]
    assert order == ["kernels_test", "kernels_test", "training_test", "alpha_test"]


def test_tests_get_the_time_that_others_leave(check):
    """Of a program that did not end in its share, the other tests run in what others left."""
    check.test_program(
        "training_test",
        'case "$*" in',
        f"*-) {ran('A.One')}; {began('A.Two')}; sleep 1000 ;;",
        f"*-A.One) {ran('A.Two')} ;;",
        "esac",
    )
    check.test_program("sum_test", *PASSES)
    check.steps("tests", "--time-limit", "34")
    training = check.programs()[0]
    assert (training["status"], training["passed"], training["processes"]) == ("passed", 2, 2)


def test_three_commands_of_ten_minutes_run_every_step_once(check):
    run = []
    for part in "truth", "rest", "tools":
        check.steps(part, "--time-limit", "20", code=None)
        run += list(check.summary["steps"])
    assert "smoke" in run and "sanitizer" in run
    help_text = check("--help").out
    assert not [step for step in run if step not in help_text]
    assert len(run) == len(set(run)) == 18
