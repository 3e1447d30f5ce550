"""Code shared by the scripts of this folder: messages, other programs, the parbench to use."""
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

BAD_USAGE = 2


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text, code=BAD_USAGE):
    say(f"error: {text}")
    sys.exit(code)


def split_at_dashes(words):
    """Returns the words before `--` and those after it, which are arguments of parbench."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1:]


def parbench(*words, **options):
    """Runs the launcher, or the program in PARBENCH. Returns its exit code."""
    command = [os.environ.get("PARBENCH", str(ROOT / "parbench")), *map(str, words)]
    say("+ parbench " + " ".join(command[1:]))
    try:
        return subprocess.run(command, check=False, **options).returncode
    except OSError as error:
        fail(f"{command[0]} does not start: {error.strerror}; PARBENCH names another parbench")


def output_of(*command, text=None):
    """Returns standard output of a program whose input is `text`. Ends the script if the program fails."""
    try:
        process = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    except OSError as error:
        fail(f"{command[0]} does not start: {error.strerror}")
    if process.returncode != 0:
        fail(f"{' '.join(command)}: {process.stderr.strip()}", 1)
    return process.stdout.strip()


def existing_file(path, what):
    if not Path(path).is_file():
        fail(f"{what} '{path}': no such file")
    return Path(path)
