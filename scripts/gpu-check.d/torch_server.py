# PyTorch's side: the same work as parbench, for any client that connects.
#   torch_server.py DEVICE ADDRESS
# One client at a time connects to the socket ADDRESS and sends JSON objects with a piece of work and its
# sampling time. The answer is {"seconds": [...]}, one number per sample, {"kernels": [...]} if a profile
# was requested, or {"error": text}. Work is prepared and warmed up once. The GPU is not used before the
# first request. Run it with the interpreter that has PyTorch.
import contextlib
import gc
import json
import multiprocessing.connection
import os
import pathlib
import sys
import threading
import time

import torch

import resnet50

MIN_SAMPLE_SECONDS = 0.02  # the same as parbench's
WARM_UP_RUNS = 3
DTYPES = {"f32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16}


def choose_arithmetic(dtype):
    """Sets how products and convolutions of the element type are computed."""
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    torch.backends.cudnn.allow_tf32 = dtype == "tf32"
    torch.backends.cudnn.benchmark = True


def uniform(device, dtype, *shape):
    return (torch.rand(*shape, device=device) * 2 - 1).to(DTYPES[dtype])


def matmul(device, dtype, n, count):
    """Returns a function that computes `count` products of n×n matrices with separate results."""
    a, b = uniform(device, dtype, n, n), uniform(device, dtype, n, n)
    results = [torch.empty_like(a) for _ in range(count)]

    def run():
        for result in results:
            torch.mm(a, b, out=result)

    return run


def convolutions(device, dtype, batch, image, branches, channels=16):
    """Returns a function that computes `branches` 3×3 convolutions with bias of one input."""
    lay_out = torch.channels_last
    x = uniform(device, dtype, batch, channels, image, image).to(memory_format=lay_out)
    weights = [
        uniform(device, dtype, channels, channels, 3, 3).to(memory_format=lay_out)
        for _ in range(branches)
    ]
    biases = [uniform(device, dtype, channels) for _ in range(branches)]

    @torch.inference_mode()
    def run():
        return [
            torch.nn.functional.conv2d(x, weight, bias, padding=1)
            for weight, bias in zip(weights, biases)
        ]

    return run


def training_step(device, dtype, batch, image, compiled):
    """Returns a training step. bf16 includes the weights."""
    step, _ = resnet50.training_step(
        batch, image, torch.compile if compiled else None, device=device, dtype=DTYPES[dtype]
    )
    return step


def copy_to_host(device, dtype, size):
    """Returns a function that copies to page-locked memory once, for the rate of the link."""
    source = uniform(device, dtype, size * 8 // torch.finfo(DTYPES[dtype]).bits)
    destination = torch.empty_like(source, device="cpu", pin_memory=device != "cpu")
    return lambda: destination.copy_(source, non_blocking=True)


WORK = {
    "matmul": matmul,
    "convolutions": convolutions,
    "training_step": training_step,
    "copy_to_host": copy_to_host,
}


class Gpu:
    """Measures time between two events on the stream."""

    def __init__(self):
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def seconds(self, run, times):
        self.begin.record()
        for _ in range(times):
            run()
        self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end) / 1e3 / times


class Cpu:
    """Measures time by the clock."""

    def seconds(self, run, times):
        begin = time.perf_counter()
        for _ in range(times):
            run()
        return (time.perf_counter() - begin) / times


class Subject:
    """Prepared work with the number of runs for a long enough sample."""

    def __init__(self, device, request):
        make, arguments = WORK[request["work"]], dict(request["arguments"])
        self.on_gpu, self.dtype = device != "cpu", arguments["dtype"]
        self.is_compiled = arguments.get("compiled", False)
        self.clock = Gpu() if self.on_gpu else Cpu()
        choose_arithmetic(self.dtype)
        self.run = make(device, **arguments)
        for _ in range(WARM_UP_RUNS):
            self.run()
        once = self.clock.seconds(self.run, 1)
        self.times = max(1, round(MIN_SAMPLE_SECONDS / max(once, 1e-7)))

    def samples(self, seconds):
        """Returns at least three samples, and as many as fit."""
        choose_arithmetic(self.dtype)
        self.clock.seconds(self.run, self.times)  # warms up after the other program's use
        taken, end = [], time.monotonic() + seconds
        while len(taken) < 3 or time.monotonic() < end:
            taken.append(self.clock.seconds(self.run, self.times))
        return taken

    def profile(self, max_kernels):
        """Returns the kernels (on a CPU: operations) that take longest in one run, from the profiler."""
        choose_arithmetic(self.dtype)
        activity = torch.profiler.ProfilerActivity
        kind = activity.CUDA if self.on_gpu else activity.CPU
        with torch.profiler.profile(activities=[kind]) as profiler:
            self.clock.seconds(self.run, 1)
        events = profiler.key_averages()
        if self.on_gpu:  # calls that launch kernels include their time
            events = [event for event in events if event.device_type.name == "CUDA"]
        found = [kernel_of(event, self.on_gpu) for event in events]
        found = [kernel for kernel in found if kernel["seconds"] > 0]
        return sorted(found, key=lambda kernel: -kernel["seconds"])[:max_kernels]


def kernel_of(event, on_gpu):
    """Returns a kernel's entry. Newer versions of PyTorch name fields device instead of cuda."""
    device = event.self_device_time_total if hasattr(event, "self_device_time_total") else None
    if device is None:
        device = event.self_cuda_time_total
    microseconds = device if on_gpu else event.self_cpu_time_total
    return {"name": event.key[:160], "count": event.count, "seconds": microseconds / 1e6}


class Desk:
    """Answers requests, and keeps the prepared work."""

    def __init__(self, device):
        self.device, self.subjects = device, {}

    def answer(self, request):
        try:
            subject = self.subject(request)
            if "profile" in request:
                return {"kernels": subject.profile(request["profile"])}
            return {"seconds": subject.samples(request["seconds"])}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {str(error)[:400]}"}

    def subject(self, request):
        key = json.dumps([request["work"], request["arguments"]], sort_keys=True)
        if key not in self.subjects:
            self.subjects[key] = Subject(self.device, request)
        return self.subjects[key]

    def clear(self):
        """Frees memory for the next measurement, but keeps compiled work, which took long."""
        self.subjects = {key: one for key, one in self.subjects.items() if one.is_compiled}
        gc.collect()
        if self.device != "cpu":
            torch.cuda.empty_cache()


def is_usable(device):
    """Returns whether the GPU is usable: after some errors this process cannot use it again."""
    try:
        if device != "cpu":
            torch.cuda.synchronize()
    except RuntimeError:
        return False
    return True


def serve(device, connection, desk):
    """Answers requests until the client disconnects. Returns whether the next client can be served."""
    while True:
        try:
            request = json.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return True
        answer = desk.answer(request)
        with contextlib.suppress(OSError):  # the client may disconnect early
            connection.send_bytes(json.dumps(answer).encode())
        if "error" in answer and not is_usable(device):
            return False


def end_with_starter():
    """Ends this process when its starter, which holds the other end of standard input, has ended."""
    sys.stdin.read()
    os._exit(0)


def introduce(address):
    versions = {"torch": torch.__version__, "cuda": torch.version.cuda}
    versions["cudnn"] = torch.backends.cudnn.version()
    pathlib.Path(f"{address}.about").write_text(json.dumps(versions), encoding="utf-8")


def main():
    device, address = sys.argv[1:]
    threading.Thread(target=end_with_starter, daemon=True).start()
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit("it sees no GPU")
    introduce(address)
    desk, usable = Desk(device), True
    with multiprocessing.connection.Listener(address, "AF_UNIX", backlog=8) as listener:
        while usable:
            with listener.accept() as connection:
                usable = serve(device, connection, desk)
            desk.clear()


main()
