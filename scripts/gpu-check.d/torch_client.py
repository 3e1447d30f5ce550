# The client of PyTorch's process. check.py starts one when the run begins, because the first import of
# PyTorch can take minutes; all steps use it, one after the other. If it has ended or does not answer, a
# step starts its own.
import contextlib
import json
import multiprocessing.connection
import os
import pathlib
import signal
import subprocess
import time

from processes import Failure, last_words

HERE = pathlib.Path(__file__).resolve().parent
LONGEST_START = 150  # seconds: the first import of PyTorch on a cold machine
MAX_STARTS = 3  # max number of processes that a step starts
POLL_SECONDS = 0.1
LONGEST_END = 5  # seconds between a closed connection and the end of the process


def environment_of(plain):
    """Returns the environment of PyTorch's process. `plain`: without the bundle's library path, because PyTorch
    includes its libraries. TEARDOWN_CUPTI=1: otherwise PyTorch's profiler leaves CUPTI active, which slows down
    later work (pull request 146604)."""
    return {**os.environ, **plain, "TEARDOWN_CUPTI": "1"}


class Server:
    """A process of torch_server.py, which ends with the process that started it. Its address is a
    file, next to which the process writes its versions and errors."""

    def __init__(self, python, device, address, environment):
        self.address, self.began = address, time.monotonic()
        command = [python, "-B", str(HERE / "torch_server.py"), device, address]
        with open(f"{address}.errors", "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=errors, stderr=errors, env=environment
            )

    def why_ended(self):
        """Returns its last output; None while it runs."""
        return errors_of(self.address) if self.process.poll() is not None else None

    def end(self):
        self.process.kill()
        self.process.wait()


def is_running(process):
    """Returns whether another process's child is still running. It may be a zombie."""
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def errors_of(address):
    return last_words(pathlib.Path(f"{address}.errors").read_text(encoding="utf-8", errors="replace"))


def versions_of(address):
    """Returns the versions that the process has reported; empty before it has."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads(pathlib.Path(f"{address}.about").read_text(encoding="utf-8"))
    return {}


class Torch:
    """A connection to PyTorch's process, made at the first request. `ends_late`: kill a process that
    does not answer in the step's time; otherwise let it finish."""

    def __init__(self, setting, ends_late=True):
        self.setting, self.ends_late = setting, ends_late
        self.connection = self.own = None
        self.starts = 0
        self.address, self.began = setting.torch_address, setting.torch_began
        self.process = setting.torch_process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.disconnect()
        if self.own:
            self.own.end()

    def disconnect(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def median(self, request, seconds):
        """Returns the median of samples taken for `seconds`."""
        taken = sorted(self.ask({**request, "seconds": seconds})["seconds"])
        return (taken[(len(taken) - 1) // 2] + taken[len(taken) // 2]) / 2

    def ask(self, request):
        """Returns the answer within the step's time. Raises Failure with the text of an error."""
        if not self.connection:
            self.connect()
        try:
            self.connection.send_bytes(json.dumps(request).encode())
            if not self.connection.poll(max(self.setting.left(), 0)):
                self.give_up()
                raise Failure("PyTorch", f"no answer to {request['work']} in the time of the step")
            answer = json.loads(self.connection.recv_bytes())
        except (OSError, EOFError) as error:
            self.disconnect()
            self.await_end()
            raise Failure("PyTorch's process ended", errors_of(self.address)) from error
        if "error" in answer:
            raise Failure("PyTorch", answer["error"])
        return answer

    def await_end(self):
        """Waits for a failing process, which closes its connection before it writes the reason."""
        limit = time.monotonic() + min(LONGEST_END, max(self.setting.left(), 0))
        while is_running(self.process) and time.monotonic() < limit:
            time.sleep(POLL_SECONDS)

    def give_up(self):
        """Disconnects from a process whose answer is late."""
        self.disconnect()
        if not self.ends_late:
            return
        with contextlib.suppress(OSError):
            os.kill(self.process, signal.SIGKILL)

    def connect(self):
        while not self.try_to_connect():
            if time.monotonic() > self.began + LONGEST_START or self.setting.left() <= 0:
                waited = time.monotonic() - self.began
                raise Failure("PyTorch", f"not imported {waited:.0f} s after its start")
            time.sleep(POLL_SECONDS)

    def try_to_connect(self):
        """Returns whether the process accepts a connection. Replaces an ended one, up to MAX_STARTS times."""
        with contextlib.suppress(OSError):
            self.connection = multiprocessing.connection.Client(self.address, "AF_UNIX")
            return True
        if not is_running(self.process):
            if self.starts == MAX_STARTS:
                raise Failure("PyTorch's process ended", errors_of(self.address))
            self.start_own()
        return False

    def start_own(self):
        self.setting.say("starting PyTorch again")
        self.starts += 1
        if self.own:
            self.own.end()
        self.began = time.monotonic()
        self.address = f"{self.setting.torch_address}.{os.getpid()}.{self.starts}"
        python, device = self.setting.torch_python, self.setting.torch_device
        self.own = Server(python, device, self.address, environment_of(self.setting.plain_environment))
        self.process = self.own.process.pid
