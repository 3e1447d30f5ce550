# Runs one step in its own process, which check.py ends at the step's limit. Results are written
# after every part.
#   step.py NAME SETTING SECONDS RESULT
import importlib
import os
import pathlib
import sys
import time
from dataclasses import dataclass

from files import write_json
from programs import GRACE, Terminated, end_when_asked
from setting import from_json

ABSENT_WEIGHT = 1  # weight of a step that only reports what is missing


@dataclass(frozen=True)
class Plan:
    """The function of a step, its part, and its share of the time."""

    module: str
    function: str
    weight: int  # weight in sharing the time
    part: str  # one of PARTS, each for a command of ten minutes
    needs: str = "parbench"  # or "torch", "sanitizer", "ncu"; without it, nothing is measured

    def is_for_gpus(self):
        """Returns whether the step is pointless without a GPU."""
        return self.needs in ("sanitizer", "ncu")

    def weight_in(self, setting):
        """Returns the weight. Missing tools reduce it, so that other steps get the time."""
        absent = {
            "torch": setting.torch_missing,
            "sanitizer": setting.sanitizer_missing,
            "ncu": setting.ncu_missing,
        }
        return ABSENT_WEIGHT if absent.get(self.needs) else self.weight


# Steps in their order, the most important first. Later steps inherit unused time. A weight is about
# the seconds that a step may take if its part has ten minutes.
STEPS = {
    "smoke": Plan("smoke", "smoke", 50, "truth"),
    "facts": Plan("facts", "facts", 10, "truth"),
    "tests": Plan("googletest", "gpu_tests", 110, "truth"),
    "partition": Plan("googletest", "partition_tests", 30, "truth"),
    "pair": Plan("scenarios", "on_pair", 70, "truth"),
    "training": Plan("against_torch", "training", 150, "truth", "torch"),
    "matmul": Plan("against_torch", "matmul", 25, "truth", "torch"),
    "profiles": Plan("profiles", "profiles", 50, "truth"),
    "convolution": Plan("against_torch", "convolution", 30, "truth", "torch"),
    "schedules": Plan("scenarios", "schedules", 25, "rest"),
    "copy": Plan("against_torch", "copy", 10, "rest", "torch"),
    "peaks": Plan("peaks", "peaks", 20, "rest"),
    "scenarios": Plan("scenarios", "every_scenario", 60, "rest"),
    "ranks": Plan("ranks", "ranks", 25, "rest"),
    "other-tests": Plan("googletest", "other_tests", 35, "rest"),
    "ncu": Plan("ncu", "ncu", 35, "tools", "ncu"),
    "sanitizer": Plan("sanitizer", "sanitizer", 85, "tools", "sanitizer"),
    "training-compiled": Plan("against_torch", "training_compiled", 50, "tools", "torch"),
}
PARTS = list(dict.fromkeys(plan.part for plan in STEPS.values()))
CLOSING_SECONDS = GRACE + 1  # for a step to end a program that hangs and write its results
AHEAD = "compile-ahead"  # runs during step sanitizer
AHEAD_PLAN = Plan("against_torch", "compile_ahead", 0, "tools", "torch")


# parbench's defaults if neither is set (kernels/cpu/runtime/waiting.cpp). Set here because parbench would
# restart itself to set them, which takes time, and a profiler would see two processes.
WAITING = {"OMP_WAIT_POLICY": "active", "GOMP_SPINCOUNT": "1000"}


def set_environment(setting):
    """Sets the environment of all programs that the step runs."""
    os.environ["LD_LIBRARY_PATH"] = setting.library_path
    # Caches that only the steps of this run share.
    os.environ["PARBENCH_CACHE"] = setting.cache
    os.environ["PARBENCH_TUNING_CACHE"] = f"{setting.cache}/tuning"
    if not any(os.environ.get(name) for name in WAITING):
        os.environ.update(WAITING)


def main():
    name, setting, seconds, result = sys.argv[1:]
    setting = from_json(setting)
    setting.deadline = time.monotonic() + float(seconds) - CLOSING_SECONDS
    set_environment(setting)
    plan = {**STEPS, AHEAD: AHEAD_PLAN}[name]
    end_when_asked()
    content = {}
    try:
        steps = getattr(importlib.import_module(plan.module), plan.function)
        for content in steps(setting):
            write_json(pathlib.Path(result), content)
    except Exception as error:
        write_json(pathlib.Path(result), {**content, "crashed": f"{type(error).__name__}: {error}"})
        raise


if __name__ == "__main__":
    try:
        main()
    except Terminated:
        sys.exit(143)
