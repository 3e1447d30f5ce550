# PyTorch's side: work that parbench does as well, behind a line protocol like that of peers.d.
#
# Every line of standard input is a JSON object that names a piece of work and how long to sample it;
# the answer is {"seconds": [...]}, one number a sample. Work is prepared and warmed up once. Run by
# the interpreter that has PyTorch.
import json
import sys
import time

import torch

import resnet50

LEAST_SAMPLE_SECONDS = 0.02  # parbench's own
WARM_UP_RUNS = 3
DTYPES = {"f32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16}


def choose_arithmetic(dtype):
    """What the element type leaves open, for products and convolutions alike."""
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    torch.backends.cudnn.allow_tf32 = dtype == "tf32"
    torch.backends.cudnn.benchmark = True


def uniform(device, dtype, *shape):
    return (torch.rand(*shape, device=device) * 2 - 1).to(DTYPES[dtype])


def matmul(device, dtype, n, count):
    """`count` products of matrices n×n, each with a result of its own."""
    a, b = uniform(device, dtype, n, n), uniform(device, dtype, n, n)
    results = [torch.empty_like(a) for _ in range(count)]

    def run():
        for result in results:
            torch.mm(a, b, out=result)

    return run


def convolutions(device, dtype, batch, image, branches, channels=16):
    """`branches` convolutions 3×3 with bias over one input; all results are kept."""
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
    """bf16: weights as well."""
    step, _ = resnet50.training_step(batch, image, compiled, device=device, dtype=DTYPES[dtype])
    return step


def copy_to_host(device, dtype, size):
    """One copy into page-locked memory: the rate of the link."""
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
    """Time between two events on the stream."""

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
    """Time by the clock."""

    def seconds(self, run, times):
        begin = time.perf_counter()
        for _ in range(times):
            run()
        return (time.perf_counter() - begin) / times


class Subject:
    """Prepared work with the number of runs that makes a sample long enough."""

    def __init__(self, device, request):
        make, arguments = WORK[request["work"]], dict(request["arguments"])
        self.dtype = arguments["dtype"]
        self.clock = Gpu() if device != "cpu" else Cpu()
        choose_arithmetic(self.dtype)
        self.run = make(device, **arguments)
        for _ in range(WARM_UP_RUNS):
            self.run()
        once = self.clock.seconds(self.run, 1)
        self.times = max(1, round(LEAST_SAMPLE_SECONDS / max(once, 1e-7)))

    def samples(self, seconds):
        """At least three, and as many as fit."""
        choose_arithmetic(self.dtype)
        self.clock.seconds(self.run, self.times)  # after the other program had the device
        taken, end = [], time.monotonic() + seconds
        while len(taken) < 3 or time.monotonic() < end:
            taken.append(self.clock.seconds(self.run, self.times))
        return taken


def main():
    device = sys.argv[1]
    subjects = {}
    print(json.dumps({"name": f"PyTorch {torch.__version__}"}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        key = json.dumps([request["work"], request["arguments"]], sort_keys=True)
        if key not in subjects:
            subjects[key] = Subject(device, request)
        print(json.dumps({"seconds": subjects[key].samples(request["seconds"])}), flush=True)


main()
