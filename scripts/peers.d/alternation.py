# Alternates programs that do the same work, step by step.
import contextlib
from dataclasses import dataclass

from processes import Failure, StepServer


@dataclass
class Program:
    """A program that runs steps on request, and the target for its time."""

    command: list
    environment: dict
    at_least: float | None = None  # target for its time relative to parbench's

    def start(self):
        return StepServer(self.command, self.environment)


def alternate(setting, programs, rounds):
    """Runs steps of all programs in turn. Returns what each printed when ready, and its seconds."""
    with contextlib.ExitStack() as stack:
        ready, servers, seconds = {}, {}, {}
        for label, program in programs.items():
            setting.say(f"starting {label}")
            servers[label] = stack.enter_context(program.start())
            ready[label] = servers[label].answer()
            seconds[label] = []
        for turn in range(rounds):
            labels = list(servers) if turn % 2 == 0 else list(reversed(servers))
            for label in labels:
                seconds[label].append(servers[label].step())
        return ready, seconds


def check_equal(ready, name, wanted):
    """Checks a fact that each program printed against the expected value."""
    for label, said in ready.items():
        if said[name] != wanted:
            raise Failure(f"{label} has {said[name]} {name}, not {wanted}")
