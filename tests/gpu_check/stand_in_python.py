#!/usr/bin/env python3
# An interpreter with PyTorch, for tests of scripts/gpu-check: writes down what it is asked ($LOG.torch)
# and answers that its work takes a second, or what $TORCH_SECONDS says of it; where that is nothing,
# it ends, and where it is "never", it does not answer.
import json
import os
import sys
import time


def serve():
    print(json.dumps({"name": "PyTorch"}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        work = request["work"]
        with open(os.environ["LOG"] + ".torch", "a", encoding="utf-8") as log:
            log.write(line)
        seconds = json.loads(os.environ.get("TORCH_SECONDS", "{}")).get(work, 1.0)
        if seconds is None:
            sys.exit(f"RuntimeError: {work} does not work")
        while seconds == "never":
            time.sleep(1)
        print(json.dumps({"seconds": [seconds] * 3}), flush=True)


if sys.argv[1] == "-c":
    print("{}" if "print(json" in sys.argv[2] else "")
else:
    serve()
