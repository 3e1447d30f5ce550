# Repeatedly compares unchanged programs, and programs with a known slowdown, and counts how often the
# verdicts are right. Only one comparison runs at a time.
import argparse
import json
import os
import pathlib
import sys
import time

from experiments import EXPERIMENTS
from files import write_whole
from page import page
from programs import Terminated, end_when_asked
from summary import results_of, text_of
from verdicts import Failed, compared

MAX_FAILURES = 3  # consecutive failures after which the study stops


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/aa-study",
        description="Counts how often parbench's verdicts on two programs are right.",
        epilog="Run it on a machine that does nothing else. A study that was interrupted, or ended at "
        "its time limit, goes on when it is started again with the same --raw; comparisons that are "
        "there are not made again. Exit codes: 0 all comparisons made; 1 some are missing or failed; 2 bad usage.",
    )
    parser.add_argument("--root", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="one small comparison of each kind")
    parser.add_argument(
        "--comparisons", type=int, help="of each kind, of ten cases or so (10, which take 50 minutes on two cores; with --quick 1)"
    )
    parser.add_argument(
        "--time-limit", type=float, default=4 * 3600, help="in seconds (14400); results up to then are kept"
    )
    parser.add_argument("--raw", type=pathlib.Path, help="folder of all reports (build/aa-study/full)")
    parser.add_argument(
        "--output", type=pathlib.Path, help="folder of the results (reports/reference/aa-study)"
    )
    parser.add_argument("--parbench", help="the program to study (the release build's)")
    known = parser.parse_args()
    if known.comparisons is not None and known.comparisons < 1:
        parser.error(f"--comparisons {known.comparisons}: it takes at least 1")
    if known.time_limit <= 0:
        parser.error(f"--time-limit {known.time_limit:g}: more than 0 seconds")
    return with_defaults(known)


def with_defaults(known):
    size = "quick" if known.quick else "full"
    known.comparisons = known.comparisons or (1 if known.quick else 10)
    known.raw = known.raw or known.root / "build" / "aa-study" / size
    quick_output = known.root / "build" / "aa-study" / "quick-results"
    known.output = known.output or (
        quick_output if known.quick else known.root / "reports" / "reference" / "aa-study"
    )
    known.parbench = known.parbench or str(known.root / "build" / "release" / "bin" / "parbench")
    return known


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)


def place_of(known, experiment, index):
    return known.raw / experiment.name / f"{index:03}"


def check_raw(known):
    """Refuses to count comparisons of different programs together."""
    path = known.raw / "study.json"
    own = {"commit": os.environ.get("PARBENCH_COMMIT"), "quick": known.quick}
    try:
        other = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        write(path, json.dumps(own))
        return
    if other != own:
        print(
            f"aa-study: error: {known.raw} holds comparisons of another study: {other}, not {own}\n"
            f"  remove it, or choose another folder with --raw",
            file=sys.stderr,
        )
        sys.exit(2)


def result_in(place):
    """Returns the result of a comparison; None if it was not made or not completed."""
    try:
        return json.loads((place / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def plan(known):
    """Returns all comparisons, alternating between kinds, so that a study that ends early has some of each."""
    return [(experiment, index) for index in range(known.comparisons) for experiment in EXPERIMENTS]


def make(known, experiment, index, deadline):
    place = place_of(known, experiment, index)
    result = compared(known.parbench, experiment, known.quick, place, deadline)
    write(place / "result.json", json.dumps(result))
    seconds = result["seconds"]
    print(f"{experiment.name} {index + 1} of {known.comparisons}: {seconds:.0f} s", flush=True)


def make_all(known, deadline):
    """Makes the missing comparisons. Returns failures as texts."""
    failures = []
    in_a_row = 0
    for experiment, index in plan(known):
        if time.monotonic() >= deadline or in_a_row == MAX_FAILURES:
            break
        if result_in(place_of(known, experiment, index)) is not None:
            continue
        try:
            make(known, experiment, index, deadline)
            in_a_row = 0
        except Failed as failure:
            in_a_row += 1
            if time.monotonic() < deadline:
                failures.append(f"{experiment.name} {index + 1}: {failure}")
                print(failures[-1], file=sys.stderr, flush=True)
    return failures


def all_results(known):
    made = {}
    for experiment in EXPERIMENTS:
        places = [place_of(known, experiment, index) for index in range(known.comparisons)]
        made[experiment] = [result for result in map(result_in, places) if result is not None]
    return made


def main():
    known = arguments()
    check_raw(known)
    end_when_asked()
    failures = []
    try:
        failures = make_all(known, time.monotonic() + known.time_limit)
    except (Terminated, KeyboardInterrupt):
        failures = ["interrupted"]
    made = all_results(known)
    results = results_of(made, known, failures)
    write(known.output / "results.json", text_of(results) + "\n")
    text = page(results)
    write(known.output / "README.md", text)
    print(text)
    complete = all(len(comparisons) == known.comparisons for comparisons in made.values())
    return 0 if complete and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
