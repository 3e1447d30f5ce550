# Entry of scripts/peers after installing and building: runs the measurements, prints the table,
# writes the JSON.
import argparse
import datetime
import os
import pathlib
import sys
from dataclasses import dataclass, field

from files import write_json
from load import busy_share
from measurements import MEASUREMENTS, NEEDS_ONNXRUNTIME, NEEDS_TORCH, ON_REQUEST
from processes import Failure, finished, json_of
from rows import row_json, table
from peer_setting import Peer, Setting

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEM_PYTHON = "/usr/bin/python3"
# Measured libraries, with the measurements that need them. --check prints the names, and
# scripts/peers puts the pinned versions into folders of these names.
LIBRARIES = {"torch": NEEDS_TORCH, "onnxruntime": NEEDS_ONNXRUNTIME}
SCHEMA_VERSION = 1
TRY = "import sys\ntry: import {}\nexcept Exception as error: sys.exit(str(error))"
TOO_BUSY = 0.1  # maximum share of the cores that others may use before a measurement


def say(text):
    print(f"peers: {text}", file=sys.stderr, flush=True)


def refuse(message, *hints):
    """Prints an error about usage or a missing peer, and ends."""
    print("\n  ".join([f"peers: error: {message}", *hints]), file=sys.stderr)
    sys.exit(2)


def parse_arguments():
    names = ", ".join(MEASUREMENTS)
    parser = argparse.ArgumentParser(
        prog="scripts/peers",
        description="Measures parbench beside bare oneDNN, a plain loop, PyTorch and onnxruntime, "
        "pair by pair in one run, and its scenarios beside their targets.",
        epilog="Exit codes: 0 everything was measured; 1 something could not be measured, or "
        "--strict and a target was missed; 2 bad usage or a peer that is not installed.",
        allow_abbrev=False,
    )
    parser.add_argument("--only", metavar="NAME[,NAME…]", help=f"of {names}")
    parser.add_argument(
        "--seed", action="store_true", help="also the published setting (most of an hour)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes, to try the tool: its figures mean nothing"
    )
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="PATH",
        help="another interpreter whose PyTorch is measured too",
    )
    parser.add_argument("--strict", action="store_true", help="exit 1 when a target is missed")
    parser.add_argument(
        "-o", "--output", type=pathlib.Path, help="default: reports/runs/peers-<UTC time>.json"
    )
    parser.add_argument(
        "--binaries", type=pathlib.Path, default=ROOT / "build/release/bin", help=argparse.SUPPRESS
    )
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def chosen(options):
    """Returns the measurements' names in the order in which they run."""
    if options.only is None:
        return [n for n in MEASUREMENTS if n not in ON_REQUEST or (n == "seed" and options.seed)]
    wanted = options.only.split(",")
    if options.seed:
        wanted.append("seed")
    for name in wanted:
        if name not in MEASUREMENTS:
            refuse(f"--only: '{name}' does not exist", f"allowed: {', '.join(MEASUREMENTS)}")
    return [name for name in MEASUREMENTS if name in wanted]


def packages_of(library):
    return ROOT / "build" / library


def libraries_of(names):
    """Returns the libraries that these measurements need."""
    return [library for library, users in LIBRARIES.items() if users & set(names)]


def check_library(library, peer):
    """Refuses an interpreter without the library before anything is measured."""
    try:
        finished([peer.python, "-c", TRY.format(library)], environment=peer.environment())
    except Failure as failure:
        remedy = "scripts/peers fetches it" if peer.packages else "--python names it"
        refuse(f"{library} cannot be used with {peer.python}", failure.reason, remedy)


def output_path(options):
    """Returns the path of the JSON; refuses one that cannot be written before the run."""
    path = options.output
    if path is None:
        time = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        path = ROOT / "reports" / "runs" / f"peers-{time}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        refuse(f"-o: cannot write {path}", "name a file in an existing folder that you may write")
    return path


@dataclass
class Results:
    """Results so far; `failures` and `busy` by the measurement's name."""

    rows: list = field(default_factory=list)
    failures: dict = field(default_factory=dict)
    busy: dict = field(default_factory=dict)  # share of the cores that others used before

    def disturbed(self):
        return [name for name, share in self.busy.items() if share > TOO_BUSY]


def measure(name, setting, results):
    """Adds the rows of one measurement, or the reason for its failure."""
    results.busy[name] = busy = round(busy_share(setting.cores), 3)
    if busy > TOO_BUSY:
        say(f"other programs keep the cores {busy:.0%} busy; the figures will be wrong")
    try:
        for row in MEASUREMENTS[name](setting):
            results.rows.append(row)
    except Failure as failure:
        results.failures[name] = str(failure)
        say(f"{name} could not be measured: {failure}")


def content_of(results, machine, options, began):
    return {
        "schema_version": SCHEMA_VERSION,
        "started_utc": began.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "quick": options.quick,
        "commit": os.environ.get("PARBENCH_COMMIT"),
        "dirty": {"0": False, "1": True}.get(os.environ.get("PARBENCH_DIRTY")),
        "machine": machine,
        "busy_before": results.busy,
        "rows": [row_json(row) for row in results.rows],
        "failures": results.failures,
    }


def show(results, path):
    print(table(results.rows))
    for name, reason in results.failures.items():
        print(f"{name} could not be measured: {reason}")
    if results.disturbed():
        names = ", ".join(results.disturbed())
        print(f"measured on a busy machine, so not to be trusted: {names}")
    print(f"written: {path}")


def main():
    options = parse_arguments()
    names = chosen(options)
    path = output_path(options)
    if options.check:
        print("\n".join(libraries_of(names)))
        sys.exit(0)
    pinned = {library: Peer(SYSTEM_PYTHON, packages_of(library)) for library in LIBRARIES}
    torches = [pinned["torch"], *map(Peer, options.python)]
    for library in libraries_of(names):
        for peer in torches if library == "torch" else [pinned[library]]:
            check_library(library, peer)
    began = datetime.datetime.now(datetime.timezone.utc)
    try:
        machine = json_of([str(options.binaries / "parbench-peers"), "machine"])
    except Failure as failure:
        refuse("the programs cannot be run", str(failure))
    setting = Setting(
        options.binaries,
        machine["cores"],
        options.quick,
        torches,
        pinned["onnxruntime"],
        machine["has_bf16"],
        say,
    )
    results = Results()
    for name in names:
        measure(name, setting, results)
        # Saves the results so far, whatever happens later.
        write_json(path, content_of(results, machine["machine"], options, began))
    show(results, path)
    missed = any(row.reached() is False for row in results.rows)
    sys.exit(1 if results.failures or (options.strict and missed) else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
