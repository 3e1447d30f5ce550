"""Runs other programs as a user does: their output, their exit codes, signals to them."""
import contextlib
import functools
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3"  # the system's, which has Debian's packages
SYSTEM_PATH = "/usr/bin:/bin"
SCRIPTS_LIB = ROOT / "scripts/lib"  # the PYTHONPATH of scripts' Python programs
TIME_LIMIT = 200  # seconds; a program that takes longer fails its test
POLL_SECONDS = 0.02


class Process(subprocess.Popen):
    """A program that runs beside the test, in a process group of its own.

    Its output goes to files: a pipe would stay open until every program that it started has ended.
    """

    def __init__(self, words, *, cwd=None, env=None, stdin=subprocess.DEVNULL):
        self.out_file, self.err_file = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.folder, self.begin = pathlib.Path(cwd or "."), time.time()
        super().__init__(
            [str(word) for word in words],
            cwd=cwd,
            env={**os.environ, **{name: str(value) for name, value in (env or {}).items()}},
            stdin=stdin,
            stdout=self.out_file,
            stderr=self.err_file,
            start_new_session=True,
        )

    @property
    def out(self):
        return content_of(self.out_file)

    @property
    def err(self):
        return content_of(self.err_file)

    def finish(self, code=0, seconds=TIME_LIMIT):
        """Waits for the end. Fails the test if the exit code is another one; any will do for None."""
        try:
            self.wait(seconds)
        except subprocess.TimeoutExpired:
            pytest.fail(f"{self.args} still runs after {seconds} s\n{self.out}{self.err}")
        if code is not None and self.returncode != code:
            pytest.fail(f"{self.args} exited {self.returncode}, not {code}\n{self.out}{self.err}")
        self.expect_valid_reports()
        return self

    def expect_valid_reports(self):
        """Fails the test for a report that the program, or one that it started, has written where
        --report says and that does not pass the JSON Schema."""
        names = [after for word, after in zip(self.args, self.args[1:]) if word == "--report"]
        names += [word.removeprefix("--report=") for word in self.args if word.startswith("--report=")]
        for path in {self.folder / name for name in names}:
            if path.is_file() and path.stat().st_mtime >= self.begin:
                error = next(report_validator().iter_errors(json.loads(text_of(path))), None)
                if error is not None:
                    pytest.fail(f"{path}: {error.json_path}: {error.message[:200]}")

    def wait_until(self, condition, seconds=TIME_LIMIT):
        """Waits for what the program does. Fails the test if it ends before, or takes too long."""
        limit = time.monotonic() + seconds
        while not condition():
            if self.poll() is not None or time.monotonic() > limit:
                pytest.fail(f"{self.args} (exit code {self.poll()}) did not get there\n{self.err}")
            time.sleep(POLL_SECONDS)


@functools.cache
def report_validator():
    schema = json.loads(text_of(ROOT / "reports/schema/report-v2.schema.json"))
    return jsonschema.Draft202012Validator(schema)


def content_of(file):
    """Returns all of a file that another process may still write, without moving its position."""
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace")


@contextlib.contextmanager
def start(words, **options):
    """Starts a program. At the end its process group is killed."""
    process = Process(words, **options)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run(words, *, code=0, seconds=TIME_LIMIT, text="", **options):
    """Runs a program to its end, with this text as its standard input. Fails the test if its exit code
    is not `code`; any will do for None."""
    with tempfile.TemporaryFile() as stdin:
        stdin.write(text.encode())
        stdin.seek(0)
        with start(words, stdin=stdin, **options) as process:
            return process.finish(code, seconds)


def write_program(path, script):
    """Writes a bash script that can be executed, and the folders that it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{script}", encoding="utf-8")
    path.chmod(0o755)
    return path


def missing(text, *parts):
    """Returns the parts that a text does not contain."""
    return [part for part in parts if part not in text]


def text_of(path):
    """Returns all of a file, and an empty text if there is none."""
    return path.read_text(encoding="utf-8") if path.exists() else ""
