# What cuDNN says of its errors, in a file for each program, and all of them in one that is kept.
#
# https://docs.nvidia.com/deeplearning/cudnn/backend/latest/reference/troubleshooting.html: level 1 has
# errors only. An engine that a configuration has not is one of them, so they are many.
import itertools
import os
import pathlib

LARGEST_PART = 8 * 1024  # characters of a file that are kept, at its beginning and at its end
LARGEST_WHOLE = 190 * 1024
NAME = "cudnn.log"
NUMBERS = itertools.count(1)  # cuDNN may begin a file anew, so none is used twice


def environment(setting, program):
    """For a program whose cuDNN is to write its errors down."""
    if not setting.on_gpu:
        return {}
    path = pathlib.Path(setting.scratch) / f"cudnn-{program}-{os.getpid()}-{next(NUMBERS)}.log"
    return {"CUDNN_LOGLEVEL_DBG": "1", "CUDNN_LOGDEST_DBG": str(path)}


def shortened(text):
    if len(text) <= 2 * LARGEST_PART:
        return text
    left_out = len(text) - 2 * LARGEST_PART
    return f"{text[:LARGEST_PART]}\n[… {left_out} characters …]\n{text[-LARGEST_PART:]}"


def gather(scratch, folder):
    """Writes the beginnings and ends of all files into one, the oldest first."""
    files = sorted(pathlib.Path(scratch).glob("cudnn-*.log"), key=lambda path: path.stat().st_mtime)
    parts = []
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace")
        if text:
            name = path.stem.removeprefix("cudnn-")
            parts.append(f"=== {name}, {len(text)} characters\n{shortened(text)}\n")
    if parts:
        (folder / NAME).write_text("".join(parts)[:LARGEST_WHOLE], encoding="utf-8")
