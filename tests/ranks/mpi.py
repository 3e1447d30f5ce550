"""What tests of several ranks have in common: mpirun, and a run with its report."""
import json
import shutil

import pytest

from support.process import run

# As root mpirun wants to be asked twice. Its pause before it kills what is left is made longer than any
# report takes to be written.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1, "NO_COLOR": 1}
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "odls_base_sigkill_timeout", "5"]
TINY = ["--quiet", "--no-timeline", "--benchmark_repetitions=1"]


@pytest.fixture(scope="module")
def parbench(build):
    if build.cached("PARBENCH_HAS_MPI") != "ON" or shutil.which("mpirun") is None:
        pytest.skip("this build has no MPI, or there is no mpirun (libopenmpi-dev, openmpi-bin)")
    return build.program("parbench")


def measured(parbench, report, ranks, *words, code=0):
    """Runs parbench as so many ranks and returns its process and its report."""
    done = run([*MPIRUN, "-n", ranks, parbench, *words, "--report", report], code=code, env=ENVIRONMENT)
    return done, json.loads(report.read_text(encoding="utf-8"))["parbench"]


def statuses(report):
    return {case["name"]: case["status"] for case in report["cases"]}


def devices(report):
    return [device["name"] for device in report["devices"]]
