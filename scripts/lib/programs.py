# Runs programs to their end or a time limit. None outlives the process that started it.
import contextlib
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

from processes import last_words

GRACE = 3  # seconds between SIGTERM and SIGKILL


class Terminated(BaseException):
    """Raised when this process receives SIGTERM."""


class EndRequest:
    """Handler of SIGTERM: raises Terminated, so that started programs are ended. Delays this between
    the start of a program and the code that ends it."""

    def __init__(self):
        self.waits = self.came = False

    def __call__(self, *_):
        if not self.waits:
            raise Terminated
        self.came = True

    def hold(self):
        self.waits = True

    def release(self):
        self.waits = False
        if self.came:
            raise Terminated


END_REQUEST = EndRequest()


def end_when_asked():
    signal.signal(signal.SIGTERM, END_REQUEST)


def end_group(process, grace=GRACE):
    """Ends a program with all processes of its process group."""
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, None)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # processes that ignored SIGTERM


@dataclass
class Ended:
    """How a program ended. `code`: negative for the signal that ended it."""

    code: int
    out: str  # standard output and standard error, interleaved
    seconds: float
    at_limit: bool = False
    stopped: bool = False  # whether it was ended because of its output

    def how(self):
        if self.at_limit:
            return f"ended at its limit after {self.seconds:.0f} s"
        if self.code < 0:
            return f"ended by {signal.Signals(-self.code).name}"
        return f"exited {self.code}"

    def last_words(self):
        return last_words(self.out)


class Running:
    """A running program with a time limit, used by `with`. Raises OSError if it cannot be started."""

    def __init__(self, command, limit, extra=None):
        self.began, self.limit = time.monotonic(), max(limit, 0.1)
        self.at_limit = self.stopped = False
        self.output = tempfile.TemporaryFile(mode="w+", errors="replace")
        END_REQUEST.hold()
        try:
            self.process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=self.output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(extra or {})},
                start_new_session=True,
            )
        except OSError:
            END_REQUEST.release()
            raise

    def __enter__(self):
        try:
            END_REQUEST.release()
        except Terminated:
            end_group(self.process)
            raise
        return self

    def __exit__(self, *_):
        end_group(self.process)

    def ended_within(self, seconds):
        """Waits at most `seconds`. Ends the program at its limit. Returns whether it has ended."""
        left = self.began + self.limit - time.monotonic()
        try:
            self.process.wait(max(min(seconds, left), 0))
        except subprocess.TimeoutExpired:
            if left > seconds:
                return False
            self.at_limit = True
        end_group(self.process)
        return True

    def stop(self):
        """Ends the program because its output shows that the rest is useless."""
        end_group(self.process)
        self.stopped = True

    def said(self):
        """Returns its output so far."""
        size = os.fstat(self.output.fileno()).st_size  # the program shares the file position
        return os.pread(self.output.fileno(), size, 0).decode(errors="replace")

    def ended(self):
        seconds = time.monotonic() - self.began
        return Ended(self.process.returncode, self.said(), seconds, self.at_limit, self.stopped)


def run_program(command, limit, extra=None):
    """Runs a program for at most `limit` seconds. Raises OSError if it cannot be started."""
    with Running(command, limit, extra) as program:
        while not program.ended_within(limit):
            pass
        return program.ended()
