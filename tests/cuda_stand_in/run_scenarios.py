#!/usr/bin/env python3
# Runs every scenario of parbench in a tiny size on the devices of the stand-in, and checks that all cases
# were measured and verified and that nothing was left behind.
#   run_scenarios.py PARBENCH [WORD…]: only runs whose names have these words
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "scripts" / "gpu-check.d"))
sys.path.append(str(Path(__file__).parents[2] / "scripts" / "lib"))
from scenarios import TAKES_ONE, TINY_FLAGS, problem_of  # noqa: E402

DEVICES = {
    "one": ["cuda:0"],
    "parts": ["cuda:0/0,cuda:0/1"],
    "two": ["cuda:0,cuda:1"],
    "mixed": ["cuda:0,cpu:0", "cpu:0,cuda:0"],
    "four": ["cuda:0/0,cuda:0/1,cuda:0/2,cuda:0/3"],
    "eight": [",".join(f"cuda:{device}" for device in range(8))],
}
FLAGS = {"tasks": [], "graphs": ["--graph"], "autotune": ["--autotune"]}
TAKE_MANY = ("data-parallel", "hybrid", "graph", "collectives")  # as small as they are
TAKE_ONE = ("branch", "launch", "matmul", "overlap", "inter-op", "selftest")  # device too
SECONDS = 0.02
BAD_WORDS = "CUDA stand-in: "


class Ended:
    """How parbench ended, as gpu-check's problem_of asks."""

    def __init__(self, process):
        self.code = process.returncode
        self.text = process.stderr.strip()[-600:]

    def how(self):
        return f"exit code {self.code}"

    def last_words(self):
        return self.text


def timeline_problem(report):
    """What is wrong with the timelines: a task without a call, or a call before one that it waits for."""
    for case in report["cases"]:
        if "statistics" not in case:
            continue
        timeline = case.get("profile", {}).get("timeline")
        if timeline is None:
            return f"{case['name']} has no timeline: {case.get('notes')}"
        tasks = timeline["graph"]["tasks"]
        ran = {(call["task"], call["lane"]): call["ran"] for call in timeline["calls"]}
        last_of_lane = {}
        for index, task in enumerate(tasks):
            for lane in task["lanes"]:
                if (index, lane) not in ran:
                    return f"{case['name']}: task {index} ({task['name']}) has no call on lane {lane}"
                after = [(other, one) for other in task.get("after", []) for one in tasks[other]["lanes"]]
                after += [(last_of_lane[lane], lane)] if lane in last_of_lane else []
                for other in after:
                    if ran[other]["end_ns"] > ran[index, lane]["begin_ns"]:
                        return f"{case['name']}: task {index} ({task['name']}) begins before task {other[0]} ends"
                last_of_lane[lane] = index
    return None


def run(parbench, scenario, devices, flags):
    """What is wrong with a run; None where nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [parbench, "--scenario", scenario, "--devices", devices, "--max-time", SECONDS]
        command += ["--min-samples", 2, "--quiet", "--report", report, *TINY_FLAGS[scenario], *flags]
        environment = {
            "PARBENCH_STAND_IN_JITTER": "50",
            **os.environ,
            "PARBENCH_STAND_IN_DEVICES": "8",
            "XDG_CACHE_HOME": folder,
        }
        for variable in "PARBENCH_CACHE", "PARBENCH_TUNING_CACHE":
            environment.pop(variable, None)
        process = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, env=environment, timeout=300
        )
        ended = Ended(process)
        if not report.exists() or BAD_WORDS in process.stderr:
            return f"{ended.how()}: {ended.last_words()}"
        content = json.loads(report.read_text())["parbench"]
        problem = problem_of(content, ended) or timeline_problem(content)
        if problem is None and "stand-in, no figures" not in process.stdout:
            problem = "the header does not say that it is a stand-in"
        return problem


def runs():
    """Names of runs, with their scenarios, devices and flags."""
    for set_name, sets in DEVICES.items():
        for flag_name, flags in FLAGS.items():
            if set_name == "mixed" and flag_name == "graphs":
                continue  # a graph holds work of one backend
            if flag_name == "autotune" and set_name not in ("one", "two", "mixed"):
                continue  # kernels are chosen by GPU, whatever its parts and number
            for devices, scenario in itertools.product(sets, TINY_FLAGS):
                count = devices.count(",") + 1
                takes_part = {
                    1: scenario in TAKE_ONE,
                    2: scenario != TAKES_ONE,
                }.get(count, scenario in TAKE_MANY)
                if takes_part:
                    yield f"{scenario} {flag_name} {set_name} ({devices})", scenario, devices, flags


def main():
    parbench, *wanted = sys.argv[1:]
    failed = 0
    for name, scenario, devices, flags in runs():
        if not all(word in name for word in wanted):
            continue
        problem = run(parbench, scenario, devices, flags)
        print(f"{'FAILED' if problem else 'ok    '} {name}", *([problem] if problem else []), flush=True)
        failed += problem is not None
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
