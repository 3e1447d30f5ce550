# A training step or all-reduce over several PyTorch processes, with the line protocol of
# `parbench-peers train`: DistributedDataParallel with default settings, over gloo.
#
# Starts the other processes itself, each bound to one of its own cores. The first process prints a
# line of JSON when all are ready; then each line of its standard input makes all of them run a
# step. It prints the seconds until all processes have ended the step, divided by the number of
# consecutive all-reduces if it has several.
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import resnet50

WARM_UP_STEPS = 2


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, required=True)
    parser.add_argument("--batch", type=int, help="of all processes")
    parser.add_argument("--image", type=int)
    parser.add_argument("--bytes", type=int, help="of an all-reduce instead of a training step")
    parser.add_argument("--calls", type=int, default=1, help="all-reduces in a row in each step")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--meeting", help="the file by which they find each other")
    return parser.parse_args()


def step_of(options):
    """Returns a function that runs a step, and facts about it."""
    if options.bytes is not None:
        numbers = torch.zeros(options.bytes // 4)

        def all_reduces():
            for _ in range(options.calls):
                distributed.all_reduce(numbers)

        return all_reduces, {"bytes": options.bytes, "calls": options.calls}
    batch = options.batch // options.processes
    step, parameters = resnet50.training_step(
        batch, options.image, lambda model: DistributedDataParallel(model)
    )
    return step, {"parameters": parameters}


def serve(options):
    """Runs the first process; the others follow its broadcasts."""
    step, facts = step_of(options)
    for _ in range(WARM_UP_STEPS):
        run(step, True)
    facts |= {"name": f"PyTorch {torch.__version__} over gloo", "threads": torch.get_num_threads()}
    print(json.dumps(facts), flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        run(step, True)
        print((time.perf_counter() - begin) / options.calls, flush=True)
    run(step, False)


def follow(options):
    step, _ = step_of(options)
    while run(step, True):
        pass


def run(step, wanted):
    """Runs a step in all processes if the first one requests it. Returns whether a step ran."""
    request = torch.tensor([int(wanted)])
    distributed.broadcast(request, 0)
    if request.item():
        step()
        distributed.barrier()
    return bool(request.item())


def main():
    options = parse_arguments()
    cores = sorted(os.sched_getaffinity(0))
    others = []
    with tempfile.TemporaryDirectory() as folder:
        meeting = options.meeting or os.path.join(folder, "meeting")
        if options.rank == 0:
            for rank in range(1, options.processes):
                words = [*sys.argv, "--rank", str(rank), "--meeting", meeting]
                others.append(subprocess.Popen([sys.executable, "-B", *words], stdin=subprocess.DEVNULL))
        os.sched_setaffinity(0, {cores[options.rank % len(cores)]})
        torch.set_num_threads(1)
        distributed.init_process_group(
            "gloo",
            init_method=f"file://{meeting}",
            rank=options.rank,
            world_size=options.processes,
        )
        (serve if options.rank == 0 else follow)(options)
        distributed.destroy_process_group()
        for other in others:
            other.wait()


main()
