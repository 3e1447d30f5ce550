# One training step of ResNet-50 in PyTorch, behind the line protocol of `parbench-peers train`.
#
# Runs under any interpreter that has PyTorch 1.13 or newer. Prints one line of JSON when it is
# ready; then every line on standard input runs one step and prints its seconds.
import argparse
import json
import sys
import time

import torch

from resnet50 import training_step

WARM_UP_STEPS = 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--image", type=int, required=True)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    step, parameters = training_step(options.batch, options.image, options.compile)
    for _ in range(WARM_UP_STEPS):
        step()
    ready = {
        "name": f"PyTorch {torch.__version__}" + (" compiled" if options.compile else ""),
        "parameters": parameters,
        "threads": torch.get_num_threads(),
        "onednn": torch.backends.mkldnn.is_available(),
    }
    print(json.dumps(ready), flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        step()
        print(time.perf_counter() - begin, flush=True)


main()
