# One step in a process of its own, which check.py ends at the step's limit: what is known is written
# after every part.
#   step.py NAME SETTING SECONDS RESULT
import importlib
import json
import os
import pathlib
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "peers.d"))

from programs import GRACE, Terminated, end_when_asked  # noqa: E402
from rows import write_json  # noqa: E402
from setting import from_json  # noqa: E402

# In the order in which they run, the most important first: the module and its function, and the step's
# weight in sharing the time. What a step leaves is for those behind it.
STEPS = {
    "facts": ("facts", "facts", 15),
    "tests": ("googletest", "tests", 65),
    "matmul": ("against_torch", "matmul", 40),
    "convolution": ("against_torch", "convolution", 60),
    "training": ("against_torch", "training", 160),  # three rounds of three types, tuned for 10 s each
    "schedules": ("scenarios", "schedules", 25),
    "copy": ("against_torch", "copy", 15),
    "scenarios": ("scenarios", "every_scenario", 50),
    "sanitizer": ("sanitizer", "sanitizer", 50),
    "training-compiled": ("against_torch", "training_compiled", 60),
}
CLOSING_SECONDS = GRACE + 1  # of a step, to end a program that hangs and write what is known
AHEAD = "compile-ahead"  # beside the sanitizer


def main():
    name, setting, seconds, result = sys.argv[1:]
    setting = from_json(setting)
    setting.deadline = time.monotonic() + float(seconds) - CLOSING_SECONDS
    os.environ["LD_LIBRARY_PATH"] = setting.library_path
    module, function, _ = {**STEPS, AHEAD: ("against_torch", "compile_ahead", 0)}[name]
    end_when_asked()
    content = {}
    try:
        for content in getattr(importlib.import_module(module), function)(setting):
            write_json(pathlib.Path(result), content)
    except Exception as error:
        write_json(pathlib.Path(result), {**content, "crashed": f"{type(error).__name__}: {error}"})
        raise


if __name__ == "__main__":
    try:
        main()
    except Terminated:
        sys.exit(143)
