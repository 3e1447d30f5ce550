# A model's forward pass in onnxruntime, with the line protocol of `parbench-peers infer`.
#
# Prints one line of JSON when ready; then each line of standard input runs the model and prints the
# seconds of one execution.
import argparse
import json
import sys
import time

import numpy
import onnxruntime

WARM_UP_RUNS = 3


def session_of(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--executions", type=int, default=1)
    options = parser.parse_args()
    session = session_of(options.model, options.threads)
    tensor = session.get_inputs()[0]
    image = numpy.random.default_rng(1).standard_normal(tensor.shape, dtype=numpy.float32)

    def execute():
        return session.run(None, {tensor.name: image})

    for _ in range(WARM_UP_RUNS):
        outputs = execute()
    ready = {
        "name": f"onnxruntime {onnxruntime.__version__}",
        "threads": session.get_session_options().intra_op_num_threads,
        "outputs": outputs[0].size,
    }
    print(json.dumps(ready), flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        for _ in range(options.executions):
            execute()
        print((time.perf_counter() - begin) / options.executions, flush=True)


main()
