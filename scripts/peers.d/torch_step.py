# One training step of ResNet-50 in PyTorch, behind the line protocol of `parbench-peers train`.
#
# Runs under any interpreter that has PyTorch 1.13 or newer. Prints one line of JSON when it is
# ready; then every line on standard input runs one step and prints its seconds.
import argparse
import json
import sys
import time

import torch

from resnet50 import ResNet50

WARM_UP_STEPS = 2
CLASSES = 1000


def make_step(batch, image, compiled):
    """The step as a function, and the model's number of parameters. Inputs are drawn beforehand."""
    torch.manual_seed(1)
    model = ResNet50(CLASSES).to(memory_format=torch.channels_last).train()
    parameters = sum(parameter.numel() for parameter in model.parameters())
    if compiled:
        model = torch.compile(model)
    images = torch.randn(batch, 3, image, image).to(memory_format=torch.channels_last)
    labels = torch.randint(CLASSES, (batch,))
    target = torch.nn.functional.one_hot(labels, CLASSES).float()
    mean_squared_error = torch.nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)

    def step():
        optimizer.zero_grad(set_to_none=True)
        mean_squared_error(model(images), target).backward()
        optimizer.step()

    return step, parameters


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--image", type=int, required=True)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    step, parameters = make_step(options.batch, options.image, options.compile)
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
