# Arguments of scripts/gpu-check. As a program it only checks them, so that help and usage errors
# come before anything is built.
import argparse
import math
import pathlib
import sys

from programs import run_program
from step import PARTS, STEPS

MIN_TIME_LIMIT = 20  # seconds: one step, and the work before and after it
MAX_TIME_LIMIT = 86400


def refuse(message, *hints, code=2):
    """Prints an error and its remedy, and ends."""
    print("\n  ".join([f"gpu-check: error: {message}", *hints]), file=sys.stderr)
    sys.exit(code)


class Parser(argparse.ArgumentParser):
    """An argparse parser whose errors have the script's style."""

    def error(self, message):
        refuse(message.removeprefix("argument "), "scripts/gpu-check --help shows the options")


def time_limit(text):
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if MIN_TIME_LIMIT <= seconds <= MAX_TIME_LIMIT:  # false for NaN
        return seconds
    allowed = f"a number of seconds from {MIN_TIME_LIMIT} to {MAX_TIME_LIMIT}"
    raise argparse.ArgumentTypeError(f"'{text}' is not {allowed}")


def steps(text):
    """Returns steps in the order in which they run; the name of a part stands for its steps."""
    names = text.split(",")
    for name in names:
        if name not in STEPS and name not in PARTS:
            allowed = ", ".join([*PARTS, *STEPS])
            raise argparse.ArgumentTypeError(f"'{name}' does not exist; allowed: {allowed}")
    return [name for name, plan in STEPS.items() if name in names or plan.part in names]


def interpreter(text):
    try:
        run_program([text, "-c", ""], 20)
    except OSError as error:
        reason = f"'{text}' cannot be run: {error.strerror}; name the interpreter that has PyTorch"
        raise argparse.ArgumentTypeError(reason) from None
    return text


def parse_arguments():
    parser = Parser(
        prog="scripts/gpu-check",
        description="Shows on this machine's GPU that parbench is right and fast: each subsystem once, the "
        "tests, PyTorch beside it, profiles, all scenarios, Nsight Compute and Compute Sanitizer, with the "
        "outcome in a few files that are written as it grows.",
        epilog="Exit codes: 0 everything ran and every target was reached; 1 something failed, was "
        "missed or did not run; 2 bad usage, or cuDNN or cuBLAS is missing; 3 no GPU; 130 interrupted.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--output", type=pathlib.Path, metavar="DIR", help="default: gpu-check-<UTC time>"
    )
    parser.add_argument(
        "--time-limit",
        type=time_limit,
        default=560,
        metavar="SECONDS",
        help=f"of all, at least {MIN_TIME_LIMIT}; default: 560",
    )
    parser.add_argument(
        "--devices",
        choices=["cuda", "cpu"],
        default="cuda",
        help="cpu tries the tool itself, on tiny sizes: its figures are not meaningful",
    )
    parser.add_argument(
        "--only",
        type=steps,
        default=list(STEPS),
        metavar="STEP[,STEP…]",
        help=f"{', '.join(PARTS)}: the steps for one command of ten minutes each; or some of "
        + ", ".join(STEPS),
    )
    parser.add_argument(
        "--python",
        type=interpreter,
        default=sys.executable,
        metavar="PATH",
        help="the interpreter that has PyTorch",
    )
    return parser.parse_args()


if __name__ == "__main__":
    parse_arguments()
