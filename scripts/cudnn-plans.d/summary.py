"""Prints a Markdown summary of the table that scripts/cudnn-plans writes: summary.py PLANS.CSV"""

import csv
import sys

HEAD = """# cuDNN's engines for ResNet-50

Written by `scripts/cudnn-plans`: the first engine that can be built for each of the 53 convolutions
(batch 120, 128×128), planned without a GPU for a Tesla T4 (sm_75), an A100 (sm_80), an H200 (sm_90)
and a B200 (sm_100) described by their properties. `plans.csv` has every distinct convolution with
its shape, the engine's settings and its place in the order of cuDNN's heuristics; places before it
are of engines that are barred or cannot be built. Nothing was run, so nothing here is a time.

What it cannot show: engines that are compiled at run time need a driver to be planned, and are
refused here (`RUNTIME_PREREQUISITE_MISSING`). On a GPU one of them may come first.
[The CUDA backend](../../../docs/decisions/cuda.md#what-computes) has the conclusions.

| GPU | type | pass | kernel | layers | most workspace | last place | notes |
|---|---|---|---|---|---|---|---|"""


def megabytes(count):
    return f"{count / 2**20:.1f} MiB" if count >= 2**20 else f"{count} B"


def kernel_of(row):
    name = row["kernel"]
    return f"cuDNN {name.split('_')[0]}" if name.startswith("eng") else f"**{name}**"


def main(path):
    groups = {}
    faults = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = (f"sm_{row['sm']}", row["type"], row["pass"], kernel_of(row), row["notes"])
            layers, workspace, place = groups.get(key, (0, 0, -1))
            groups[key] = (
                layers + int(row["count"]),
                max(workspace, int(row["workspace_bytes"])),
                max(place, int(row["place"])),
            )
            if row["fault"]:
                case = faults.setdefault(row["fault"], {})
                name = f"sm_{row['sm']} {row['type']} {row['pass']}"
                case[name] = case.get(name, 0) + int(row["count"])
    print(HEAD)
    for (gpu, number_type, name, kernel, notes), (layers, workspace, place) in groups.items():
        where = place if place >= 0 else "–"
        print(f"| {gpu} | {number_type} | {name} | {kernel} | {layers} | {megabytes(workspace)} | "
              f"{where} | {notes or 'none'} |")
    print("\n## Engines that failed without a GPU\n")
    for fault, cases in faults.items():
        where = ", ".join(f"{name} ({layers} layers)" for name, layers in cases.items())
        print(f"- `{fault}`: {where}")


if __name__ == "__main__":
    main(sys.argv[1])
