# cuDNN's error logs: one file per program, gathered into one that is kept.
#
# https://docs.nvidia.com/deeplearning/cudnn/backend/latest/reference/troubleshooting.html: level 1
# logs only errors. These are many, because each engine that a configuration lacks is one.
import itertools
import os
import pathlib

LARGEST_PART = 8 * 1024  # bytes of a file that are kept at its beginning and its end
LARGEST_WHOLE = 190 * 1024
NAME = "cudnn.log"
NUMBERS = itertools.count(1)  # unique, because cuDNN may truncate an existing file


def environment(setting, program):
    """Returns the environment with which a program's cuDNN logs its errors."""
    if not setting.on_gpu:
        return {}
    path = pathlib.Path(setting.scratch) / f"cudnn-{program}-{os.getpid()}-{next(NUMBERS)}.log"
    return {"CUDNN_LOGLEVEL_DBG": "1", "CUDNN_LOGDEST_DBG": str(path)}


def shortened(path):
    """Returns the text of a file (of a large file, its beginning and end) and its size. Reads no more than
    that, because files grow while steps run, and are gathered repeatedly."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if size <= 2 * LARGEST_PART:
            return file.read().decode(errors="replace"), size
        begin = file.read(LARGEST_PART).decode(errors="replace")
        file.seek(size - LARGEST_PART)
        end = file.read(LARGEST_PART).decode(errors="replace")
    return f"{begin}\n[… {size - 2 * LARGEST_PART} bytes …]\n{end}", size


def gather(scratch, folder):
    """Writes the beginnings and ends of all files into one, the oldest first."""
    files = sorted(pathlib.Path(scratch).glob("cudnn-*.log"), key=lambda path: path.stat().st_mtime)
    parts = []
    for path in files:
        text, size = shortened(path)
        if text:
            name = path.stem.removeprefix("cudnn-")
            parts.append(f"=== {name}, {size} bytes\n{text}\n")
    if parts:
        (folder / NAME).write_text("".join(parts)[:LARGEST_WHOLE], encoding="utf-8")
