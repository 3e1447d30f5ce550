# Programs that a step runs to their end or to a limit of time. None outlives the step.
import contextlib
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

GRACE = 3  # seconds between asking a program to end and ending it


class Terminated(BaseException):
    """This process was asked to end."""


def end_when_asked():
    """SIGTERM leaves through the handlers that end what was started."""

    def stop(*_):
        raise Terminated

    signal.signal(signal.SIGTERM, stop)


def end_group(process, grace=GRACE):
    """Ends a program with all that it has started in its process group."""
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, None)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # those who ignored the first


@dataclass
class Ended:
    """How a program ended. `code` is negative for the signal that ended it."""

    code: int
    out: str  # standard output and standard error in their order
    seconds: float
    at_limit: bool = False

    def how(self):
        if self.at_limit:
            return f"ended at its limit after {self.seconds:.0f} s"
        if self.code < 0:
            return f"ended by {signal.Signals(-self.code).name}"
        return f"exited {self.code}"

    def last_words(self):
        lines = [line.strip() for line in self.out.splitlines() if line.strip()]
        return " | ".join(lines[-3:])[-400:] or "it said nothing"


def run_program(command, limit, extra=None):
    """Runs a program for `limit` seconds at most. Raises OSError where it cannot be started."""
    began = time.monotonic()
    at_limit = False
    with tempfile.TemporaryFile(mode="w+", errors="replace") as output:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(extra or {})},
            start_new_session=True,
        )
        try:
            process.wait(max(limit, 0.1))
        except subprocess.TimeoutExpired:
            at_limit = True
        finally:
            end_group(process)
        output.seek(0)
        said = output.read()
    return Ended(process.returncode, said, time.monotonic() - began, at_limit)
