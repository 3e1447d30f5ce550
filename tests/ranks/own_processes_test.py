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
TOLERANCE = 0.4  # of a core: other programs may use it between samples, too


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


def test_ranks_are_no_other_programs(parbench, tmp_path):
    """Three ranks beside one use more than a core of two."""
    attempts = []
    for attempt in range(ATTEMPTS):
        path = tmp_path / f"{attempt}.json"
        foreign, (_, report) = used_by_others(lambda to=path: measured(parbench, to, RANKS, *WORDS))
        attempts.append((others(report), foreign))
        if others(report) < foreign + TOLERANCE:
            return
    if min(foreign for _, foreign in attempts) > 1:
        pytest.skip("other programs use more than a core")
    pytest.fail(f"cores of other programs, by the report and by the system: {attempts}")


def test_answers_say_that_ranks_share_cores(parbench, tmp_path):
    cores = len(os.sched_getaffinity(0))
    if cores >= RANKS:
        pytest.skip("each rank has a core")
    _, report = measured(parbench, tmp_path / "r.json", RANKS, "--scenario", "data-parallel", "--model", "toy",
                         "--strategy", "single,all-reduce", "--quiet", "--no-timeline", "--benchmark_repetitions=1")
    (answer,) = report["answers"]
    share = f"the {RANKS} devices share {cores} core{'s' if cores > 1 else ''}"
    assert any(share in warning for warning in answer["warnings"])
