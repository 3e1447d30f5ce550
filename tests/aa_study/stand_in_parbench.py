#!/usr/bin/env python3
# A parbench whose cases take what $SECONDS says, for tests of scripts/aa-study: writes down how it is
# called and when it ends ($LOG), and writes reports, comparisons and the results of `ab`. It says that
# cases are slower exactly where they are. $FAILS: commands that fail. $HANGS: commands that never end.
import json
import os
import shlex
import sys
import time

NAMES = ["small", "large"]


def value_of(words, flag, other=""):
    return words[words.index(flag) + 1] if flag in words else other


def slowdown_of(words):
    return float(value_of(words, "--slowdown", "0"))


def rows(scenario, slowdown):
    """Google Benchmark's, of five repetitions that differ a little."""
    return [
        {
            "name": f"{scenario}/{name}",
            "run_name": f"{scenario}/{name}",
            "run_type": "iteration",
            "repetitions": 1,
            "repetition_index": 0,
            "threads": 1,
            "iterations": 1,
            "real_time": 1000 * (1 + slowdown / 100) + repetition,
            "cpu_time": 1.0 + repetition,
            "time_unit": "ms",
        }
        for name in NAMES
        for repetition in range(5)
    ]


def run(words):
    scenario, slowdown = value_of(words, "--scenario"), slowdown_of(words)
    machine = {
        "cpu_model": "A processor",
        "cores_allowed": [0, 1],
        "memory_bytes": 2**33,
        "operating_system": "A system",
        "kernel": "6.1",
        "compiler": "GCC",
    }
    report = {"machine": machine, "scenario": scenario, "slowdown": slowdown}
    return {"context": {}, "benchmarks": rows(scenario, slowdown), "parbench": report}


def comparison(scenario, slowdown, processes):
    verdict = "regressed" if slowdown > 0 else "same"
    change = {"value": slowdown / 100}
    cases = [{"name": f"{scenario}/{name}", "verdict": verdict, "change": change} for name in NAMES]
    cases.append({"name": f"{scenario}/gone", "state": "only_base"})
    return {"base": {"processes": processes}, "cases": cases}


def compare(words):
    sides = []
    for path in words[1:3]:
        with open(path, encoding="utf-8") as file:
            sides.append(json.load(file)["parbench"])
    return comparison(sides[0]["scenario"], sides[1]["slowdown"] - sides[0]["slowdown"], 5)


def ab(words):
    base, now = (shlex.split(value_of(words, flag)) for flag in ("--a", "--b"))
    return comparison(value_of(now, "--scenario"), slowdown_of(now) - slowdown_of(base), 7)


def answer(command, words):
    content = {"ab": ab, "compare": compare}.get(command, run)(words)
    with open(value_of(words, "-o" if command != "run" else "--report"), "w", encoding="utf-8") as file:
        json.dump(content, file)
    regressed = any(case.get("verdict") == "regressed" for case in content.get("cases", []))
    return 3 if regressed else 0


def note(text):
    with open(os.environ["LOG"], "a", encoding="utf-8") as log:
        print(text, file=log)


def main():
    words = sys.argv[1:]
    command = words[0] if words[0] in ("ab", "compare") else "run"
    note(f"begin {command} {shlex.join(words)}")
    if command in os.environ.get("HANGS", "").split(","):
        time.sleep(600)
    if command in os.environ.get("FAILS", "").split(","):
        print("a planted failure", file=sys.stderr)
        return 2
    code = answer(command, words)
    note(f"end {command}")
    return code


sys.exit(main())
