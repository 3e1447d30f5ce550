# One step in a process of its own, which check.py ends at the step's limit: what is known is written
# after every part.
#   step.py NAME SETTING SECONDS RESULT
import importlib
import json
import os
import pathlib
import sys
import time
from dataclasses import dataclass

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "peers.d"))

from programs import GRACE, Terminated, end_when_asked  # noqa: E402
from rows import write_json  # noqa: E402
from setting import from_json  # noqa: E402

ABSENT_WEIGHT = 1  # of a step that has nothing to do but say what is missing


@dataclass(frozen=True)
class Plan:
    """Of a step: where its function is, and how much of the time it is to have."""

    module: str
    function: str
    weight: int  # in sharing the time
    needs: str = "parbench"  # or "torch" or "sanitizer", without which it measures nothing

    def weight_in(self, setting):
        """Time for what is not there would be time that the other steps do not get."""
        absent = {"torch": setting.torch_missing, "sanitizer": setting.sanitizer_missing}
        return ABSENT_WEIGHT if absent.get(self.needs) else self.weight


# In the order in which they run, the most important first. What a step leaves is for those behind it.
STEPS = {
    "facts": Plan("facts", "facts", 15),
    "tests": Plan("googletest", "tests", 100),
    "matmul": Plan("against_torch", "matmul", 40, "torch"),
    "convolution": Plan("against_torch", "convolution", 60, "torch"),
    # Three rounds of three types, tuned for 10 s each.
    "training": Plan("against_torch", "training", 160, "torch"),
    "schedules": Plan("scenarios", "schedules", 25),
    "copy": Plan("against_torch", "copy", 15, "torch"),
    "scenarios": Plan("scenarios", "every_scenario", 50),
    "sanitizer": Plan("sanitizer", "sanitizer", 50, "sanitizer"),
    "training-compiled": Plan("against_torch", "training_compiled", 60, "torch"),
}
CLOSING_SECONDS = GRACE + 1  # of a step, to end a program that hangs and write what is known
AHEAD = "compile-ahead"  # beside the sanitizer
AHEAD_PLAN = Plan("against_torch", "compile_ahead", 0, "torch")


def main():
    name, setting, seconds, result = sys.argv[1:]
    setting = from_json(setting)
    setting.deadline = time.monotonic() + float(seconds) - CLOSING_SECONDS
    os.environ["LD_LIBRARY_PATH"] = setting.library_path
    plan = {**STEPS, AHEAD: AHEAD_PLAN}[name]
    end_when_asked()
    content = {}
    try:
        for content in getattr(importlib.import_module(plan.module), plan.function)(setting):
            write_json(pathlib.Path(result), content)
    except Exception as error:
        write_json(pathlib.Path(result), {**content, "crashed": f"{type(error).__name__}: {error}"})
        raise


if __name__ == "__main__":
    try:
        main()
    except Terminated:
        sys.exit(143)
