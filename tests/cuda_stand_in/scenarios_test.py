"""Every scenario on the devices of the stand-in, each run of run_scenarios.py as a test."""
import pytest

from run_scenarios import run, runs

RUNS = {name: words for name, *words in runs()}


@pytest.mark.parametrize("name", RUNS)
def test_all_cases_are_measured_and_verified(build, name):
    assert run(build.program("parbench"), *RUNS[name]) is None
