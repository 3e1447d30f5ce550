# Runs other programs: to their end for a JSON answer, or as servers that alternate.
import contextlib
import json
import subprocess
import tempfile
import threading


LONGEST_RUN = 2 * 3600  # seconds; the published preset takes almost an hour
LONGEST_STEP = 600


class Failure(Exception):
    """A measurement that failed. The text describes it; `reason` is its last part."""

    def __init__(self, text, reason=None):
        super().__init__(f"{text}: {reason}" if reason else text)
        self.reason = reason or text


def last_words(text):
    """Returns the last lines that a program wrote to standard error."""
    # Drops the marks that Python prints below source lines.
    lines = [line.strip() for line in text.splitlines() if line.strip(" ^~")]
    return " | ".join(lines[-3:])[-400:] or "it had no output"


def on_cores(cores, command):
    """Returns the command bound to these cores."""
    return ["taskset", "-c", ",".join(map(str, cores)), *map(str, command)]


def finished(command, text=None, environment=None):
    """Runs a command to its end and returns its output. Raises Failure with its last words if it fails."""
    try:
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST_RUN,
            env=environment,
        )
    except OSError as error:
        raise Failure(command[0], error.strerror) from error
    except subprocess.TimeoutExpired as error:
        raise Failure(" ".join(command), f"not done after {LONGEST_RUN} s") from error
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)} exited {done.returncode}", last_words(done.stderr))
    return done.stdout


def json_of(command, text=None):
    """Returns standard output of a command as JSON."""
    return parsed(finished(command, text), command)


def parsed(text, command):
    try:
        return json.loads(text)
    except ValueError as error:
        raise Failure(f"{' '.join(map(str, command))} did not answer in JSON", text[:80]) from error


class StepServer:
    """A process that prints a line of JSON when ready, and runs one step for each line of input."""

    def __init__(self, command, environment=None):
        self.command = command
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=environment,
        )

    def __enter__(self):
        return self

    def __exit__(self, failure, *_):
        if failure is not None:  # it may be in a step whose answer is not needed
            self.process.kill()
        with contextlib.suppress(OSError):  # it may have ended without reading its input
            self.process.stdin.close()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()

    def answer(self, limit=LONGEST_STEP):
        """Returns the next line that it prints, as JSON. Kills a process that prints nothing for
        `limit` seconds, and raises Failure."""
        late = threading.Event()
        timer = threading.Timer(limit, self.end_late, [late])
        timer.daemon = True  # does not keep the program from ending
        timer.start()
        try:
            line = self.process.stdout.readline()
        finally:
            timer.cancel()
        if line:
            return parsed(line, self.command)
        code = self.process.wait()
        if late.is_set():
            raise Failure(" ".join(self.command), f"no answer after {limit:.0f} s")
        self.errors.seek(0)
        words = last_words(self.errors.read())
        raise Failure(f"{' '.join(self.command)} exited {code}", words)

    def end_late(self, late):
        late.set()
        self.process.kill()

    def step(self):
        """Returns the seconds of one step."""
        return self.ask()

    def ask(self, request=None, limit=LONGEST_STEP):
        """Sends a request as one line of JSON and returns the answer within `limit` seconds."""
        self.send(request)
        return self.answer(limit)

    def send(self, request=None):
        """Sends a request whose answer is read later."""
        try:
            self.process.stdin.write(("" if request is None else json.dumps(request)) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer gives the reason
