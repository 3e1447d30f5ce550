"""scripts/two-hosts: two ranks across a link between two hosts, and what happens when the link goes down."""
import contextlib
import json
import shutil
import signal

import pytest

from support.process import ROOT, run, start

NOT_PERMITTED = 77
SILENCE = 4  # seconds
ENVIRONMENT = {"NO_COLOR": 1, "PARBENCH_RANK_SILENCE": SILENCE}


@pytest.fixture(scope="module")
def parbench(build):
    if build.cached("PARBENCH_HAS_MPI") != "ON" or shutil.which("mpirun") is None:
        pytest.skip("this build has no MPI, or there is no mpirun (libopenmpi-dev, openmpi-bin)")
    done = run([ROOT / "scripts/two-hosts", "--", "hostname"], code=None)
    if done.returncode == NOT_PERMITTED:
        pytest.skip(f"{done.err.strip()}; ranks_test.py has the runs over loopback")
    assert done.returncode == 0, done.err
    assert sorted(done.out.split()) == ["host-1", "host-2"]
    return build.program("parbench")


def part_of(report):
    with contextlib.suppress(OSError, ValueError):
        return json.loads(report.read_text(encoding="utf-8"))["parbench"]
    return None


@pytest.mark.parametrize("link", [["--rate", "1gbit"], ["--rate", "1gbit", "--delay", "1ms"]])
def test_ranks_across_a_link_are_verified(parbench, tmp_path, link):
    report = tmp_path / "r.json"
    done = run([ROOT / "scripts/two-hosts", *link, "--", parbench, "--scenario", "collectives", "--collective",
                "all-reduce", "--size", "24,1MiB", "--benchmark_repetitions=1", "--no-timeline", "--quiet",
                "--report", report], env=ENVIRONMENT)
    assert "link between host-1 and host-2: round trip" in done.err
    cases = part_of(report)["cases"]
    assert {case["status"] for case in cases} == {"measured"}
    assert all(case["verification"]["passed"] for case in cases)
    assert [one["name"] for one in part_of(report)["devices"]] == ["host-1/0/cpu:0", "host-2/1/cpu:0"]


def test_all_reduces_by_machine_are_verified(parbench, tmp_path):
    report = tmp_path / "r.json"
    run([ROOT / "scripts/two-hosts", "--ranks", "2", "--", parbench, "--scenario", "collectives", "--collective",
         "all-reduce", "--strategy", "mpi,hierarchical", "--size", "24,12KiB,65548,3MiB",
         "--benchmark_repetitions=1", "--no-timeline", "--quiet", "--report", report], env=ENVIRONMENT)
    cases = part_of(report)["cases"]
    assert sorted(case["strategy"] for case in cases) == 4 * ["hierarchical"] + 4 * ["mpi"]
    assert all(case["status"] == "measured" and case["verification"]["passed"] for case in cases)
    names = {case["kernels"][0]["implementation"].split(" ")[0] for case in cases if case["strategy"] != "mpi"}
    assert names == {"hierarchical"}


def test_a_link_that_goes_down_ends_the_run(parbench, tmp_path):
    report = tmp_path / "r.json"
    words = [ROOT / "scripts/two-hosts", "--", parbench, "--scenario", "collectives", "--collective", "all-reduce",
             "--size", "16MiB", "--strategy", "ring", "--max-time", "300", "--precision", "0.01", "--quiet",
             "--no-timeline", "--report", report]
    with start(words, env=ENVIRONMENT) as process:
        process.wait_until(lambda: any(case.get("samples") for case in (part_of(report) or {}).get("cases", [])))
        second = f"parbench-{process.pid}-2"
        run(["ip", "-n", second, "link", "set", "dev", "link", "down"])
        process.wait_until(lambda: part_of(report)["cases"][0]["status"] == "failed")
        assert "rank 1 (host-2) has sent nothing" in part_of(report)["cases"][0]["error"]
        # mpirun itself waits for the daemon that it has lost; the ranks are gone.
        process.wait_until(lambda: not [one for one in programs_in(second) if "/bin/parbench" in one])
        process.send_signal(signal.SIGTERM)
        process.finish(None, 60)
    assert second not in run(["ip", "netns", "list"]).out


def programs_in(namespace):
    """The command lines of the processes of a host."""
    lines = []
    for pid in run(["ip", "netns", "pids", namespace]).out.split():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
            lines.append(file.read().decode())
    return lines


@pytest.mark.parametrize("words, text", [
    (["--ranks", "--", "true"], "--ranks needs a value"),
    (["--rate", "fast", "--", "true"], "--rate 'fast' is not a rate"),
    (["--rate", "0gbit", "--", "true"], "--rate '0gbit' is not a rate above 0"),
    (["--delay", "1", "--", "true"], "--delay '1' is not a time"),
    (["--ranks", "0", "--", "true"], "--ranks '0' is not a number of ranks"),
    (["--loss", "5%", "--", "true"], "--loss '5%' is not a percentage"),
    (["--loss", "100", "--", "true"], "--loss '100' is not a percentage below 100"),
    (["true"], "unknown word 'true'"),
    (["--rate", "1gbit"], "a command is needed"),
    (["--rate"], "--rate needs a value"),
])
def test_words_without_a_meaning_are_refused(words, text):
    assert text in run([ROOT / "scripts/two-hosts", *words], code=None).err
