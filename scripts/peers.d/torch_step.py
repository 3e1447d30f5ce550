# A training step in PyTorch, with the line protocol of `parbench-peers train`.
#
# Runs with any interpreter that has PyTorch 1.13 or newer; language models need 2.0. Prints one
# line of JSON when ready; then each line of standard input runs one step and prints its seconds.
import argparse
import json
import sys
import time

import torch

import language_models
import resnet50
import unet
import vit

WARM_UP_STEPS = 2


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--image", type=int)
    parser.add_argument("--lengths", default="")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--compile", action="store_true")
    return parser.parse_args()


def training_step(options):
    """Returns a function that runs a step and returns its loss or None, and the number of parameters."""
    if options.model in language_models.MODELS:
        lengths = [int(length) for length in options.lengths.split(",")]
        work = language_models.Work(lengths, options.dtype == "bf16", options.compile)
        return language_models.training_step(options.model, work)
    module = {"resnet50": resnet50, "unet": unet, "vit": vit}[options.model]
    wrap = torch.compile if options.compile else None
    return module.training_step(options.batch, options.image, wrap, options.dtype == "bf16")


def main():
    options = parse_arguments()
    torch.set_num_threads(options.threads)
    step, parameters = training_step(options)
    loss = step()
    for _ in range(WARM_UP_STEPS):
        step()
    ready = {
        "name": f"PyTorch {torch.__version__}" + (" compiled" if options.compile else ""),
        "parameters": parameters,
        "threads": torch.get_num_threads(),
        "onednn": torch.backends.mkldnn.is_available(),
        "loss": None if loss is None else loss.item(),
    }
    print(json.dumps(ready), flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        step()
        print(time.perf_counter() - begin, flush=True)


main()
