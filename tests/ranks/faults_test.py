"""What happens to a run when one of its ranks is lost, and when it is interrupted."""
import contextlib
import ctypes
import json
import os
import pathlib
import platform
import signal

import pytest

from mpi import ENVIRONMENT, MPIRUN, parbench  # one is a fixture
from support.process import run, start

SILENCE = 4  # seconds
LONG = ["--scenario", "collectives", "--collective", "all-reduce", "--size", "16MiB", "--strategy", "ring",
        "--max-time", "300", "--precision", "0.01", "--quiet", "--no-timeline"]


def ranks_of(mpirun):
    """The processes of the ranks, by rank."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent != mpirun.pid:
                continue
            variables = (folder / "environ").read_bytes().split(b"\0")
            prefix = b"OMPI_COMM_WORLD_RANK="
            rank = next(one for one in variables if one.startswith(prefix))
            found[int(rank[len(prefix):])] = int(folder.name)
    return found


@contextlib.contextmanager
def long_run(parbench, report, ranks, variables=None):
    words = [*MPIRUN, "-n", ranks, parbench, *LONG, "--report", report]
    env = {**ENVIRONMENT, "PARBENCH_RANK_SILENCE": SILENCE, **(variables or {})}
    with start(words, env=env) as process:
        def samples():
            with contextlib.suppress(OSError, ValueError):
                return json.loads(report.read_text(encoding="utf-8"))["benchmarks"]
            return []
        process.wait_until(samples)
        yield process, ranks_of(process)


def is_running(pid):
    with contextlib.suppress(OSError):
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    return False


@pytest.mark.parametrize("how, words", [(signal.SIGKILL, "has ended"), (signal.SIGSTOP, "has sent nothing")])
def test_a_lost_rank_ends_the_run_with_a_report(parbench, tmp_path, how, words):
    report = tmp_path / "r.json"
    with long_run(parbench, report, 3) as (process, ranks):
        os.kill(ranks[1], how)
        process.finish(None, 90)
        assert process.returncode != 0
        assert "rank 1 (" in process.err and words in process.err
        assert "\ncollectives\n" in process.out and f"report: {report}" in process.out, "the table is printed"
        case = json.loads(report.read_text(encoding="utf-8"))["parbench"]["cases"][0]
        assert case["status"] == "failed"
        assert "rank 1 (" in case["error"] and words in case["error"]
        assert not [pid for pid in ranks.values() if is_running(pid)], "no process is left"


def stop_thread(thread):
    """Stops one thread of a process for as long as this process lives; the others run on."""
    seize, interrupt = 0x4206, 0x4207  # of <sys/ptrace.h>
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long] * 4
    ptrace.restype = ctypes.c_long
    if ptrace(seize, thread, 0, 0) != 0 or ptrace(interrupt, thread, 0, 0) != 0:
        pytest.skip(f"ptrace is not allowed here: {os.strerror(ctypes.get_errno())}")


def worker_of(pid, rank):
    """A thread that executes a lane of the rank's only device, by its name, of which Linux keeps 15
    characters: the one that has run longest, as all lanes of a ring take part."""
    def ticks(folder):
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    device = f"{platform.node().partition('.')[0]}/{rank}/"[:15]
    workers = [one for one in pathlib.Path(f"/proc/{pid}/task").iterdir()
               if (one / "comm").read_text().startswith(device)]
    return int(max(workers, key=ticks).name)


@pytest.mark.parametrize("hanging", [0, 1])
def test_a_rank_that_lives_but_hangs_ends_the_run(parbench, tmp_path, hanging):
    report = tmp_path / "r.json"
    with long_run(parbench, report, 2, {"PARBENCH_RANK_PATIENCE": 8}) as (process, ranks):
        stop_thread(worker_of(ranks[hanging], hanging))
        process.finish(None, 90)
        assert process.returncode != 0
        assert f"rank {hanging} (" in process.err and "hangs: it did not reach" in process.err
        case = json.loads(report.read_text(encoding="utf-8"))["parbench"]["cases"][0]
        assert hanging == 0 or f"rank {hanging} (" in case["error"], "rank 0 writes no report once it hangs"
        assert not [pid for pid in ranks.values() if is_running(pid)], "no process is left"


@pytest.mark.parametrize("hanging", [0, 1, 2])
def test_a_rank_that_decides_nothing_ends_the_run(parbench, tmp_path, hanging):
    """Its lanes and its signs of life go on; the thread that prepares, meets and reports does not."""
    with long_run(parbench, tmp_path / "r.json", 3, {"PARBENCH_RANK_PATIENCE": 8}) as (process, ranks):
        stop_thread(ranks[hanging])
        process.finish(None, 90)
        assert process.returncode != 0
        assert f"rank {hanging} (" in process.err and "hangs: it did not reach" in process.err
        assert not [pid for pid in ranks.values() if is_running(pid)], "no process is left"


def test_a_rank_that_never_begins_ends_the_run(parbench):
    """MPI itself waits for it without a limit."""
    done = run([*MPIRUN, "-n", 1, parbench, "--scenario", "collectives", ":", "-n", 1, "sleep", 600], code=1,
               env={**ENVIRONMENT, "PARBENCH_RANK_PATIENCE": 2})
    assert "rank 0 (" in done.err and "not all 2 ranks connected within 2 s" in done.err
    assert "raise the limit with PARBENCH_RANK_PATIENCE=SECONDS" in done.err


def test_without_rank_zero_the_others_end(parbench, tmp_path):
    with long_run(parbench, tmp_path / "r.json", 3) as (process, ranks):
        os.kill(ranks[0], signal.SIGKILL)
        process.finish(None, 90)
        assert " rank 1] parbench: error: rank 0 (" in process.err
        assert not [pid for pid in ranks.values() if is_running(pid)]
        json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))


def test_an_interrupt_ends_all_ranks_in_order(parbench, tmp_path):
    with long_run(parbench, tmp_path / "r.json", 2) as (process, ranks):
        os.kill(process.pid, signal.SIGINT)
        process.finish(None, 90)
        assert not [pid for pid in ranks.values() if is_running(pid)]
        report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
        assert report["benchmarks"] and not report["parbench"]["complete"]


@pytest.mark.parametrize("variable", ["PARBENCH_RANK_SILENCE", "PARBENCH_RANK_PATIENCE"])
def test_an_invalid_limit_is_refused(parbench, variable):
    done = run([*MPIRUN, "-n", 2, parbench, "--scenario", "collectives"], code=2,
               env={**ENVIRONMENT, variable: "soon"})
    assert f"{variable}='soon' is not a valid time" in done.err
