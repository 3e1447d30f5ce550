#!/usr/bin/env python3
# A parbench with a GPU, for tests of scripts/gpu-check: writes down how it is called ($LOG) and reports
# that every case takes a second, or what $SECONDS_OF says of its strategy, with these $KERNELS and this
# $PROFILE. It takes $WORKS_FOR seconds for that.
import itertools
import json
import os
import pathlib
import sys
import time

STRATEGIES = {
    "overlap": ["compute", "copy", "overlapped"],
    "matmul": ["alone", "concurrent"],
    "branch": ["one-stream"],
    "pipeline": ["single"],
    "selftest": ["spin"],
}
TOGGLES = ("--quiet", "--autotune", "--no-timeline", "--graph")
HELP = "  --dtype f32|tf32|bf16       Element type\n  --autotune                  Engines by measuring\n"


def case(flags, strategy, numbers):
    seconds = json.loads(os.environ.get("SECONDS_OF", "{}")).get(strategy, 1.0)
    return {
        "name": f"{flags['scenario']}/{strategy}",
        "scenario": flags["scenario"],
        "strategy": strategy,
        "parameters": numbers,
        "dtype": flags.get("dtype", "f32"),
        "status": "measured",
        "statistics": {"median": seconds},
        "kernels": json.loads(os.environ.get("KERNELS", "[]")),
        "profile": json.loads(os.environ.get("PROFILE", "null")),
        "samples": [{"seconds": seconds, "round": number} for number in range(7)],
    }


def report(flags):
    sweeps = {
        key: [int(one) for one in flags[key].split(",")] for key in ("n", "batch", "image") if key in flags
    }
    points = [dict(zip(sweeps, point)) for point in itertools.product(*sweeps.values())]
    known = STRATEGIES.get(flags["scenario"], ["direct"])
    strategies = flags.get("strategy", ",".join(known)).split(",")
    cases = [case(flags, strategy, point) for strategy in strategies for point in points]
    return {"parbench": {"version": "0", "machine": {}, "devices": [], "cases": cases}}


def main():
    words = sys.argv[1:]
    if words == ["devices"]:
        print("cuda: 1 GPU: stand-in")
    elif words == ["--help"]:
        print(HELP)
    else:
        with open(os.environ["LOG"], "a", encoding="utf-8") as log:
            print(" ".join(words), file=log)
        time.sleep(float(os.environ.get("WORKS_FOR", "0")))
        words = [word for word in words if word not in TOGGLES]
        flags = {key.removeprefix("--"): value for key, value in zip(words[::2], words[1::2])}
        pathlib.Path(flags["report"]).write_text(json.dumps(report(flags)), encoding="utf-8")


main()
