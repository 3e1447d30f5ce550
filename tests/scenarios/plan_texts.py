#!/usr/bin/env python3
"""Shows what a change of the code changes in the plans of training steps.

  plan_texts.py cases                 prints cases of all scenarios that train, for plan-texts
  plan_texts.py compare BEFORE AFTER  compares two outputs of plan-texts: what tasks execute, on which lanes
                                      and after which others, and the memory; no names and no phases

    tests/scenarios/plan_texts.py cases | build/release/tests/scenarios/plan-texts > after.txt
"""
import re
import sys

SMALL = {"toy": {}, "resnet18": {"image": 64}, "gpt-tiny": {"heads": 4}, "rnn-lm-tiny": {},
         "unet-tiny": {"image": 16}, "llama-tiny": {}}
LAYOUTS = {2: ["dp2", "pp2", "tp2"], 4: ["dp4", "dp2xpp2", "pp4", "dp2xtp2", "pp2xtp2", "tp4"],
           8: ["dp2xpp2xtp2", "dp4xpp2"]}
EXCHANGES = ["all-reduce", "all-reduce-buckets", "tower", "replicate", "parameter-server"]


def line(devices, scenario, strategy, dtype="f32", **values):
    return " ".join([str(devices), dtype, scenario, strategy, *(f"{k}={v}" for k, v in values.items())])


def pipelines():
    for model, sizes in SMALL.items():
        common = {"model": model, "batch": 8, **sizes}
        for dtype in ("f32", "bf16"):
            yield line(2, "pipeline", "single", dtype, **common)
            yield line(2, "pipeline", "model-parallel", dtype, **common)
            yield line(2, "pipeline", "pipeline", dtype, **common, split=3)
        yield line(2, "pipeline", "pipeline", **common, split=4, recompute="block")
        if model != "toy":  # which has two units
            yield line(3, "pipeline", "pipeline", **common, split="3+3+2", schedule="1f1b", clip=0.5)
    yield line(3, "pipeline", "pipeline", model="gpt-tiny", head="tied", batch=4, clip=0.5, split=2)


def replicas():
    for model, sizes in {"linear": {"batch": 12}, "resnet18": {"batch": 9, "image": 64},
                         "gpt-tiny": {"batch": 6}}.items():
        yield line(2, "data-parallel", "single", model=model, **sizes)
        for devices, more in {2: {}, 3: {"accumulate": 2}, 4: {"optimizer": "adam", "clip": 0.5}}.items():
            for strategy in EXCHANGES:
                own = {k: v for k, v in more.items() if (strategy, k) != ("replicate", "accumulate")}
                bucket = {"bucket": 1} if strategy == "all-reduce-buckets" else {}
                yield line(devices, "data-parallel", strategy, model=model, **sizes, **own, **bucket)
            for level in (1, 2, 3):
                yield line(devices, "data-parallel", "sharded", model=model, zero=level, bucket=1,
                           **sizes, **more)


def grids():
    for devices, layouts in LAYOUTS.items():
        for layout in layouts:
            models = ["gpt-tiny"] if "tp" in layout else ["gpt-tiny", "resnet18"]
            for model in models:
                common = {"model": model, "layout": layout, "batch": 16, **SMALL[model]}
                yield line(devices, "hybrid", "divided", **common)
                if layout in ("dp2", "tp2"):
                    yield line(devices, "hybrid", "divided", **common, split=4)
                if "dp" in layout:
                    yield line(devices, "hybrid", "divided", **common, bucket=1, clip=0.5)
                if "pp" in layout:
                    yield line(devices, "hybrid", "divided", **common, schedule="1f1b")
    for strategy in ("data-parallel", "tensor-parallel", "sequence-parallel"):
        for devices in (2, 4):
            yield line(devices, "tensor-parallel", strategy, model="transformer-block", batch=4, hidden=32,
                       heads=4, sequence=8, optimizer="adam")


def cases_in(path):
    cases = {}
    with open(path, encoding="utf-8") as file:
        for text in file.read().split("\n== ")[0:]:
            name, _, body = text.removeprefix("== ").partition("\n")
            cases[name] = [re.sub(r"^(\d+) \| .*? \| (\w+ \| \S+ \| after \S* ).*\| (\S+ \| \S+ \| \d+ \w+)$",
                                  r"\1 \2 \3", line) for line in body.splitlines()
                           if not line.startswith(("output", "checked", "note"))]
    return cases


def compare(before, after):
    one, other = cases_in(before), cases_in(after)
    for name in sorted(one.keys() | other.keys()):
        if one.get(name) == other.get(name):
            continue
        rows = zip(one.get(name, ["no case"]), other.get(name, ["no case"]))
        print(name, *next(((a, b) for a, b in rows if a != b), ["other lines"]), sep="\n  ")
    equal = sum(one[name] == other.get(name) for name in one)
    print(f"{equal} of {len(one)} plans equal")
    return 0 if one == other else 1


def main():
    if sys.argv[1:] == ["cases"]:
        print(*pipelines(), *replicas(), *grids(), sep="\n")
        return 0
    if sys.argv[1:2] == ["compare"] and len(sys.argv) == 4:
        return compare(*sys.argv[2:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
