# Runs one comparison and returns each method's verdict on every case.
import json
import sys
import time

from experiments import ab_words, report_words
from programs import run_program

COMPARE_PY = "/usr/share/benchmark/compare.py"
ALPHA = 0.05  # compare.py's default
VERDICTS_GIVEN = (0, 3)  # exit codes of a comparison: nothing regressed, a case did


class Failed(Exception):
    """The failure of a program, as text."""


def run_or_fail(words, limit, accepted=(0,)):
    ended = run_program(words, limit)
    if ended.at_limit or ended.code not in accepted:
        raise Failed(f"{' '.join(map(str, words[:2]))} {ended.how()}: {ended.last_words()}")
    return ended


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def verdicts_in(comparison):
    """Returns [[name, verdict, change in time], …] from a comparison's JSON."""
    return [
        [case["name"], case["verdict"], case.get("change", {}).get("value")]
        for case in comparison["cases"]
        if "verdict" in case
    ]


def median_time(row, side):
    times = sorted(measurement[side] for measurement in row["measurements"])
    middle = len(times) // 2
    return times[middle] if len(times) % 2 else (times[middle - 1] + times[middle]) / 2


def compare_py_verdict(row):
    """Returns the verdict as users read it: changed if the U test says so, in the direction of the medians."""
    change = median_time(row, "real_time_other") / median_time(row, "real_time") - 1
    # The U test is missing if its p-value is 0.
    changed = (row["utest"] or {"time_pvalue": 0})["time_pvalue"] < ALPHA
    verdict = ("regressed" if change > 0 else "improved") if changed else "same"
    return [row["name"], verdict, change]


def compare_py(base, now, folder, limit):
    dump = folder / "compare-py.json"
    words = [sys.executable, "-B", COMPARE_PY, "--no-color", "-d", dump, "benchmarks", base, now]
    run_or_fail(words, limit)
    rows = [row for row in read(dump) if row["run_type"] == "iteration"]
    return [compare_py_verdict(row) for row in rows]


def by_reports(parbench, experiment, quick, folder, deadline):
    def left():
        return deadline - time.monotonic()

    base, now, verdicts = (folder / name for name in ("base.json", "new.json", "verdicts.json"))
    began = time.monotonic()
    for path, slowdown in ((base, 0), (now, experiment.slowdown)):
        run_or_fail(report_words(parbench, experiment, quick, slowdown, path), left())
    words = [parbench, "compare", base, now, "--format", "json", "-o", verdicts]
    run_or_fail(words, left(), VERDICTS_GIVEN)
    seconds = time.monotonic() - began
    return {
        "seconds": seconds,
        "verdicts": verdicts_in(read(verdicts)),
        "compare_py": compare_py(base, now, folder, left()),
        "machine": read(base)["parbench"]["machine"],
    }


def by_ab(parbench, experiment, quick, folder, deadline):
    output = folder / "verdicts.json"
    began = time.monotonic()
    words = ab_words(parbench, experiment, quick, output)
    run_or_fail(words, deadline - began, VERDICTS_GIVEN)
    seconds = time.monotonic() - began
    comparison = read(output)
    return {
        "seconds": seconds,
        "verdicts": verdicts_in(comparison),
        "pairs": comparison["base"]["processes"],
    }


METHODS = {"ab": by_ab, "reports": by_reports}


def compared(parbench, experiment, quick, folder, deadline):
    """Makes one comparison, whose files remain in `folder`. Raises Failed."""
    folder.mkdir(parents=True, exist_ok=True)
    return METHODS[experiment.method](parbench, experiment, quick, folder, deadline)
