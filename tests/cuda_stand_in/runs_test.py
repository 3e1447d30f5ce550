"""parbench on the devices of the stand-in: ranks with GPUs, and failures that are injected."""
import json
import re
import sys

import pytest

from run_scenarios import BAD_WORDS, SECONDS, TINY_FLAGS, problem_of
from support.process import ROOT, run

sys.path.append(str(ROOT / "tests/ranks"))
from mpi import ENVIRONMENT, MPIRUN, devices  # noqa: E402
from mpi import parbench as with_mpi  # noqa: E402, F401 (a fixture)

BRIEF = ["--max-time", SECONDS, "--min-samples", 2, "--quiet"]


class Ended:
    """An end without a failure, as problem_of asks."""

    code = 0

    def how(self):
        return ""

    def last_words(self):
        return "no case"


@pytest.fixture
def parbench(build, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return build.program("parbench")


def content_of(path):
    return json.loads(path.read_text(encoding="utf-8"))["parbench"]


OVER_RANKS = ["collectives", "data-parallel", "tensor-parallel", "matmul", "pipeline", "graph", "hybrid"]


@pytest.mark.parametrize("gpus, names", [(2, ["cuda:0", "cuda:1"]), (1, ["cuda:0/0", "cuda:0/1"])],
                         ids=["a GPU each", "one GPU"])
@pytest.mark.parametrize("scenario", OVER_RANKS)
def test_two_ranks_have_a_gpu_each_or_share_one(parbench, with_mpi, tmp_path, scenario, gpus, names):
    report = tmp_path / "r.json"
    words = ["--scenario", scenario, *TINY_FLAGS[scenario], *BRIEF, "--report", report]
    env = {**ENVIRONMENT, "PARBENCH_STAND_IN_DEVICES": gpus, "PARBENCH_STAND_IN_JITTER": 50}
    done = run([*MPIRUN, "-n", 2, parbench, *words], env=env)
    assert BAD_WORDS not in done.err
    content = content_of(report)
    assert problem_of(content, Ended()) is None
    host = devices(content)[0].split("/")[0]
    assert devices(content) == [f"{host}/{rank}/{name}" for rank, name in enumerate(names)]
    measured = [case for case in content["cases"] if case["status"] == "measured"]
    assert all("timeline" in case.get("profile", {}) for case in measured), done.out


SCENARIO = ["--scenario", "pipeline", "--model", "toy", *BRIEF, "--no-timeline"]


def cases_of_failure(parbench, report, **variables):
    """The cases of a run on two GPUs that exits with 1."""
    words = [*SCENARIO, "--devices", "cuda:0,cuda:1", "--report", report]
    done = run([parbench, *words], code=1, seconds=60, env=variables)
    assert BAD_WORDS not in done.err
    return content_of(report)["cases"]


@pytest.mark.parametrize("number", [1, 2, 5, 8])
def test_an_allocation_that_fails_is_named_and_other_cases_are_measured(parbench, tmp_path, number):
    cases = cases_of_failure(parbench, tmp_path / "r.json", PARBENCH_STAND_IN_FAIL_ALLOCATION=number)
    skipped = [case["error"] for case in cases if case["status"] == "skipped"]
    assert re.match(r"out of memory on cuda:[01]: [1-9][0-9.]* (Ki)?B requested, 8.00 GiB available", skipped[0])
    assert [case for case in cases if case["status"] == "measured"]


@pytest.mark.parametrize("number", [1, 10, 100, 1000])
def test_a_lost_device_is_named_and_later_cases_are_not_run(parbench, tmp_path, number):
    cases = cases_of_failure(parbench, tmp_path / "r.json", PARBENCH_STAND_IN_LOSE_TASK=number)
    failed = [case["error"] for case in cases if case["status"] == "failed"]
    assert len(failed) == 1
    for words in " on cuda:", " at kernels/", "illegal memory access was encountered (cudaErrorIllegalAddress)":
        assert words in failed[0]
    later = [case["error"] for case in cases if case["status"] == "not_run"]
    assert later and all("its device was lost in pipeline/" in error for error in later)


def test_a_rank_whose_device_is_lost_ends_the_run(parbench, with_mpi, tmp_path):
    report = tmp_path / "r.json"
    lost = ["-x", "PARBENCH_STAND_IN_LOSE_TASK=100"]
    words = [*SCENARIO, "--report", report]
    done = run([*MPIRUN, "-n", 1, parbench, *words, ":", "-n", 1, *lost, parbench, *words],
               code=None, seconds=90, env=ENVIRONMENT)
    assert done.returncode != 0
    failed = [case["error"] for case in content_of(report)["cases"] if case["status"] == "failed"]
    assert len(failed) == 1 and "rank 1 (" in failed[0] and "illegal memory access" in failed[0]
