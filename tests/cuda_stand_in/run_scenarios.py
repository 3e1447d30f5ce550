#!/usr/bin/env python3
# Runs every scenario of parbench in a tiny size on the devices of the stand-in, and checks that all cases
# were measured and verified and that nothing was left behind.
#   run_scenarios.py PARBENCH [NAME…]
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "scripts" / "gpu-check.d"))
sys.path.append(str(Path(__file__).parents[2] / "scripts" / "peers.d"))
from scenarios import TAKES_ONE, TINY_FLAGS, is_measured  # noqa: E402

DEVICES = {
    "one": ["cuda:0"],
    "parts": ["cuda:0/0,cuda:0/1"],
    "two": ["cuda:0,cuda:1"],
    "mixed": ["cuda:0,cpu:0", "cpu:0,cuda:0"],
}
FLAGS = {"tasks": [], "graphs": ["--graph"], "autotune": ["--autotune"]}
SECONDS = 0.02
BAD_WORDS = "CUDA stand-in: "


def problem_of(report):
    """What kept a run from measuring all of its cases; empty where nothing has."""
    bad = [case for case in report["cases"] if not is_measured(case)]
    words = [f"{case['name']} {case['status']}: {case.get('error', '')}" for case in bad[:3]]
    return "; ".join(words) if words or report["cases"] else "no case"


def run(parbench, scenario, devices, flags):
    """What is wrong with a run; None where nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [parbench, "--scenario", scenario, "--devices", devices, "--max-time", SECONDS]
        command += ["--min-samples", 2, "--quiet", "--report", report, *TINY_FLAGS[scenario], *flags]
        environment = {
            "PARBENCH_STAND_IN_JITTER": "50",
            "XDG_CACHE_HOME": folder,
            **os.environ,
        }
        process = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, env=environment, timeout=300
        )
        if not report.exists():
            return f"exit code {process.returncode}: {process.stderr.strip()[-600:]}"
        problem = problem_of(json.loads(report.read_text())["parbench"]) or None
        if problem is None and (process.returncode != 0 or BAD_WORDS in process.stderr):
            problem = f"exit code {process.returncode}: {process.stderr.strip()[-600:]}"
        if problem is None and "stand-in, no figures" not in process.stdout:
            problem = "the header does not say that it is a stand-in"
        return problem


def main():
    parbench, *wanted = sys.argv[1:]
    failed = 0
    for set_name, sets in DEVICES.items():
        for flag_name, flags in FLAGS.items():
            for devices in sets:
                for scenario in TINY_FLAGS:
                    name = f"{scenario} {flag_name} {set_name}"
                    if wanted and not all(word in name for word in wanted):
                        continue
                    if scenario == TAKES_ONE and "," in devices:
                        continue
                    problem = run(parbench, scenario, devices, flags)
                    failed += problem is not None
                    print(f"{'ok    ' if problem is None else 'FAILED'} {name} ({devices})", flush=True)
                    if problem:
                        print(f"       {problem}", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
