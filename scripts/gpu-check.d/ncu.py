# Runs Nsight Compute on parbench's own kernels in one training step: the share of the memory rate that
# norm, pooling and elementwise kernels reach, and their registers. Does not change the clocks.
import csv
import pathlib
import re

from programs import run_program
from sizes import sizes_for

TIME = "gpu__time_duration.sum"  # nanoseconds
BANDWIDTH = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
BYTES = "dram__bytes.sum"
REGISTERS = "launch__registers_per_thread"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
METRICS = [TIME, BANDWIDTH, BYTES, REGISTERS, WARPS]
MAX_LAUNCHES = 150  # each is repeated for its metrics; a step has about 500
DTYPE = "bf16"
LONGEST_NAME = 120
KEPT = 80  # number of kernels to store: those that take longest, by name and grid
ERROR = re.compile(r"^==ERROR== (.*)$", re.MULTILINE)


def command_of(setting, log):
    """Returns the command of ncu. parbench marks the beginning and end of its one execution."""
    size = sizes_for(setting)
    ncu = [setting.ncu, "--log-file", log, "--csv", "--print-units", "base", "--clock-control", "none"]
    ncu += ["--profile-from-start", "off", "--kernel-name-base", "demangled"]
    ncu += ["--kernel-name", "regex:parbench::", "--launch-count", MAX_LAUNCHES]
    ncu += ["--metrics", ",".join(METRICS)]
    work = ["--scenario", "pipeline", "--strategy", "single", "--model", "resnet50"]
    work += ["--batch", size.batch, "--image", size.image, "--dtype", DTYPE]
    files = ["--quiet", "--for-profiler", "--report", f"{log}.json", "--devices", setting.device]
    return [*ncu, f"{setting.root}/libexec/parbench", *work, *files]


def launches_in(text):
    """Returns the kernel, with its grid, and the metrics of each launch. A row is one metric of one launch."""
    begin = text.find('"ID"')
    if begin < 0:
        return []
    launches = {}
    for row in csv.DictReader(text[begin:].splitlines()):
        if row.get("Metric Name") in METRICS:
            name = f"{row['Kernel Name'][:LONGEST_NAME]} grid {row['Grid Size']}"
            known = launches.setdefault(row["ID"], (name, {}))[1]
            known[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    return [launch for launch in launches.values() if launch[1].get(TIME)]


def summed(launches):
    """Combines launches of the same kernel and grid; those that take longest come first."""
    kernels = {}
    for name, metrics in launches:
        kernels.setdefault(name, []).append(metrics)
    rows = [row_of(name, of_kernel) for name, of_kernel in kernels.items()]
    return sorted(rows, key=lambda row: -row["seconds"])[:KEPT]


def row_of(name, launches):
    seconds = sum(one[TIME] for one in launches) / 1e9

    def mean(metric):  # weighted by time
        return sum(one.get(metric, 0) * one[TIME] for one in launches) / 1e9 / seconds

    return {
        "kernel": name,
        "launches": len(launches),
        "seconds": seconds,
        "share_of_bandwidth": mean(BANDWIDTH) / 100,
        "bytes": sum(one.get(BYTES, 0) for one in launches),
        "registers": mean(REGISTERS),
        "active_warps": mean(WARPS) / 100,
    }


def ncu(setting):
    if setting.ncu_missing:
        yield {"problems": [], "not_run": setting.ncu_missing}
        return
    setting.say(f"ncu over our kernels, {DTYPE}")
    log = pathlib.Path(setting.scratch) / "ncu.csv"
    ended = run_program(command_of(setting, log), setting.left())
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    content = {"dtype": DTYPE, "kernels": summed(launches_in(text)), "problems": []}
    if not content["kernels"]:
        refused = ERROR.search(text + ended.out)
        words = refused.group(1) if refused else f"{ended.how()}: {ended.last_words()}"
        content["problems"].append(f"no metrics: {words}")
    yield content
