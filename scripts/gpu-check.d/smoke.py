# The first seconds on a GPU: checks each subsystem once, in its own process, so that a crash or hang
# affects no other. The first check opens the device; the others run concurrently.
import concurrent.futures
import time

import cudnn_log
from programs import Running

TOGETHER_SECONDS = 45
FIRST_SECONDS = 30  # for the check that all others need; PyTorch's import may use the disk meanwhile
SIDE_BY_SIDE = 4
FIRST = "context"
ON_PAIR = "pair"  # uses two devices at once
POLL_SECONDS = 0.2


def checks(setting):
    """Returns the program's names of the checks, for the element types of this device."""
    found = [FIRST, "kernel", "graph", "activities", "graph-activities", "condition", "partition", ON_PAIR]
    for dtype in setting.dtypes:
        found += [f"product-{dtype}", f"convolution-{dtype}"]
    return found


class Check:
    """A check that has not begun, runs, or has ended."""

    def __init__(self, setting, name):
        self.setting, self.name, self.lines, self.status = setting, name, [], "not begun"

    def run(self, end):
        """Runs the check, at most until `end` on the clock of time.monotonic()."""
        devices = self.setting.pair if self.name == ON_PAIR else self.setting.device
        command = [f"{self.setting.root}/libexec/parbench-smoke", self.name, devices]
        limit = end - time.monotonic()
        if limit <= 0:
            self.status = "not run: time"
            return
        self.status = "running"
        with Running(command, limit, cudnn_log.environment(self.setting, f"smoke-{self.name}")) as child:
            while not child.ended_within(POLL_SECONDS):
                self.note(child.said())
            ended = child.ended()
        self.note(ended.out)
        self.status = "passed" if ended.code == 0 and not ended.at_limit else ended.how()

    def note(self, said):
        """Prints each new line of the check's output."""
        lines = said.splitlines()
        for line in lines[len(self.lines) :]:
            self.setting.say(f"smoke: {self.name}: {line}")
        self.lines = lines

    def to_json(self):
        return {"check": self.name, "status": self.status, "lines": self.lines}


def content_of(known):
    bad = [check for check in known if check.status not in ("passed", "running", "not begun")]
    problems = [f"{check.name}: {check.status}: {' | '.join(check.lines[-3:])}" for check in bad]
    return {"checks": [check.to_json() for check in known], "problems": problems}


def smoke(setting):
    end = time.monotonic() + min(TOGETHER_SECONDS, setting.left())
    known = [Check(setting, name) for name in checks(setting)]
    known[0].run(min(end, time.monotonic() + FIRST_SECONDS))
    yield content_of(known)
    if known[0].status != "passed":
        return
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        runs = [pool.submit(check.run, end) for check in known[1:]]
        while any(not run.done() for run in runs):
            concurrent.futures.wait(runs, 1)
            yield content_of(known)
    for run in runs:
        run.result()
    yield content_of(known)
