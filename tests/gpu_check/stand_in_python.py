#!/usr/bin/env python3
# An interpreter with PyTorch, for tests of scripts/gpu-check: its work takes a second, or what
# $TORCH_SECONDS says of it, and ends the program where that is nothing.
import json
import os
import sys


def serve():
    print(json.dumps({"name": "PyTorch"}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        work = request["work"]
        seconds = json.loads(os.environ.get("TORCH_SECONDS", "{}")).get(work, 1.0)
        if seconds is None:
            sys.exit(f"RuntimeError: {work} does not work")
        print(json.dumps({"seconds": [seconds] * 3}), flush=True)


if sys.argv[1] == "-c":
    print("{}" if "print(json" in sys.argv[2] else "")
else:
    serve()
