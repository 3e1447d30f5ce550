# Runs two MPI ranks on this machine's GPUs: each uses one if there are two (joined by NCCL), else a part
# of the only one, and data is copied.
import pathlib
import shutil

from figures import brief
from scenarios import problem_of
from setting import portions

RANKS = 2
# Flags of small cases, with their weights in sharing the time.
RUNS = {
    ("collectives", "--collective", "all-reduce,send-recv", "--size", "4KiB,1MiB"): 2,
    ("data-parallel", "--model", "mlp", "--batch", 64): 2,
    ("pipeline", "--model", "mlp", "--batch", 64, "--split", 16): 1,
}
# mpirun requires both to run as root.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def why_not(setting):
    """Returns why ranks cannot be started here; empty if they can."""
    if not (pathlib.Path(setting.root) / "libexec/libparbench-mpi.so").exists():
        return "this parbench was built without MPI (libopenmpi-dev)"
    return "" if shutil.which("mpirun") else "mpirun is not installed"


def run(setting, flags):
    """Returns a report of parbench on both ranks, and how mpirun ended."""
    ranks = ["mpirun", "-n", str(RANKS), "--oversubscribe", "--bind-to", "none"]
    scenario, *rest = map(str, flags)
    device = setting.device.partition(":")[0] + ":0"  # device of each rank
    words = ["--scenario", scenario, *rest, "--devices", device, "--max-time", "1"]
    return setting.parbench(words, f"{setting.scratch}/ranks-{scenario}.json", ENVIRONMENT, ranks)


def ranks(setting):
    """Runs and verifies every case; reports the reason if MPI is missing."""
    content = {"reports": [], "problems": []}
    reason = why_not(setting)
    if reason:
        setting.say(f"ranks: left out: {reason}")
        yield {**content, "left_out": reason}
        return
    for flags, portion in portions(RUNS):
        setting.say(f"{RANKS} ranks: scenario {flags[0]}")
        report, ended = run(setting.with_portion(portion), flags)
        if report is None:
            content["problems"].append(f"{flags[0]}: {ended.how()}: {ended.last_words()}")
        else:
            content["reports"].append(brief(report))
            problem = problem_of(report, ended)
            if problem:
                content["problems"].append(f"{flags[0]} {problem}")
        yield content
