"""Ranks that share cores: each other's work is that of the run, and answers say that cores are shared."""
import os
import resource
import time

import pytest

from mpi import measured, parbench  # one is a fixture

RANKS = 4
WORDS = ["--scenario", "data-parallel", "--model", "gpt-tiny", "--strategy", "single,all-reduce", "--quiet",
         "--no-timeline", "--benchmark_repetitions=10", "--benchmark_min_time=0.05"]
ATTEMPTS = 3


def busy_seconds():
    with open("/proc/stat", encoding="ascii") as stat:
        fields = [int(field) for field in stat.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def used_by_others(work):
    """Runs something and returns the cores that other programs used meanwhile, as a mean."""
    busy, own, begin = busy_seconds(), children_seconds(), time.monotonic()
    result = work()
    return (busy_seconds() - busy - (children_seconds() - own)) / (time.monotonic() - begin), result


def others(report):
    """The largest share of a device's cores that a case found other programs to use."""
    return max(device["threads"].get("others", 0) for case in report["cases"]
               for device in case.get("conditions", []) if "threads" in device)


@pytest.fixture(scope="module")
def shared(parbench, tmp_path_factory):
    """The report of ranks on an otherwise idle machine."""
    folder = tmp_path_factory.mktemp("shared")
    for attempt in range(ATTEMPTS):
        path = folder / f"{attempt}.json"
        foreign, (_, report) = used_by_others(lambda: measured(parbench, path, RANKS, *WORDS))
        if foreign < 0.1:
            return report
    return pytest.skip(f"other programs used {foreign:.1f} cores")


def test_ranks_are_no_other_programs(shared):
    assert others(shared) < 0.5
    (answer,) = shared["answers"]
    assert not any("other programs" in warning for warning in answer.get("warnings", []))


def test_answers_say_that_ranks_share_cores(parbench, tmp_path):
    cores = len(os.sched_getaffinity(0))
    if cores >= RANKS:
        pytest.skip("each rank has a core")
    _, report = measured(parbench, tmp_path / "r.json", RANKS, "--scenario", "data-parallel", "--model", "toy",
                         "--strategy", "single,all-reduce", "--quiet", "--no-timeline", "--benchmark_repetitions=1")
    (answer,) = report["answers"]
    share = f"the {RANKS} devices share {cores} core{'s' if cores > 1 else ''}"
    assert any(share in warning for warning in answer["warnings"])
