#!/usr/bin/env python3
# An interpreter with PyTorch, for tests of scripts/gpu-check: writes down what it is asked ($LOG.torch)
# and answers that its work takes a second, or what $TORCH_SECONDS says of it. Where that is nothing, the
# work fails; where it is "never", it does not answer; where it is "ends", the process ends. It listens
# after $TORCH_IMPORTS_FOR seconds.
import contextlib
import json
import multiprocessing.connection
import os
import sys
import threading
import time


def answer(line):
    request = json.loads(line)
    with open(os.environ["LOG"] + ".torch", "a", encoding="utf-8") as log:
        log.write(json.dumps(request) + "\n")
    seconds = json.loads(os.environ.get("TORCH_SECONDS", "{}")).get(request["work"], 1.0)
    if seconds == "ends":
        sys.exit("RuntimeError: an illegal memory access was encountered")
    while seconds == "never":
        time.sleep(1)
    if seconds is None:
        return {"error": f"RuntimeError: {request['work']} does not work"}
    if "profile" in request:
        return {"kernels": [{"name": "gemm", "count": 1, "seconds": seconds}]}
    return {"seconds": [seconds] * 3}


def serve_client(connection):
    while True:
        try:
            line = connection.recv_bytes()
        except (EOFError, OSError):
            return
        said = json.dumps(answer(line)).encode()
        with contextlib.suppress(OSError):  # as torch_server.py
            connection.send_bytes(said)


def serve(address):
    time.sleep(float(os.environ.get("TORCH_IMPORTS_FOR", "0")))
    with open(os.environ["LOG"] + ".servers", "a", encoding="utf-8") as log:
        log.write(f"{os.getpid()}\n")
    with open(f"{address}.about", "w", encoding="utf-8") as about:
        json.dump({"torch": "2"}, about)
    with multiprocessing.connection.Listener(address, "AF_UNIX") as listener:
        while True:
            with listener.accept() as connection:
                serve_client(connection)


def end_with_starter():
    sys.stdin.read()
    os._exit(0)


if sys.argv[1] != "-c":
    threading.Thread(target=end_with_starter, daemon=True).start()
    serve(sys.argv[-1])
