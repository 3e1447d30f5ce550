"""What onnx's evaluator computes of a file in double precision, where parbench computes in f32, and how losses
change with the file's weights."""
import sys

import numpy
import pytest

from support.process import ROOT

sys.path.append(str(ROOT / "build/onnx-wheels"))
onnx = pytest.importorskip("onnx", reason="NOT CHECKED: values of models from ONNX files; scripts/test fetches onnx "
                           "into build/onnx-wheels where there are pip and a network")
from onnx import TensorProto, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from onnx.reference.op_run import OpRun  # noqa: E402

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16)


def widen(tensor):
    if tensor.data_type in FLOATS:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(float), tensor.name))


def widen_graph(graph):
    for tensor in graph.initializer:
        widen(tensor)
    for node in graph.node:
        for one in node.attribute:
            widen(one.t)
            if one.type == one.GRAPH:
                widen_graph(one.g)
            if node.op_type == "Cast" and one.name == "to" and one.i in FLOATS:
                one.i = TensorProto.DOUBLE


def in_double(model):
    """A copy with weights, constants and casts in f64, and with the first output alone: that in front of a softmax,
    which is a part of the loss."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    output = copy.graph.output[0]
    del copy.graph.output[1:]
    for node in reversed(copy.graph.node):
        if output.name in node.output and node.op_type in ("Identity", "LogSoftmax", "Softmax"):
            output.name = node.input[0]
            if node.op_type != "Identity":
                break
    widen_graph(copy.graph)
    return copy


class BatchNormalization(OpRun):
    """By the statistics of the batch, as parbench trains; dimension 1 has the channels."""

    def _run(self, x, scale, bias, mean, var, epsilon=None, momentum=None, spatial=None, training_mode=None):
        axes = tuple(d for d in range(x.ndim) if d != 1)
        shape = [-1 if d == 1 else 1 for d in range(x.ndim)]
        centred = x - x.mean(axes, keepdims=True)
        normal = centred / numpy.sqrt((centred ** 2).mean(axes, keepdims=True) + (epsilon or 1e-5))
        made = normal * scale.reshape(shape) + bias.reshape(shape)
        return (made, mean, var)[:len(self.onnx_node.output)]


class LRN(OpRun):
    """By the specification; onnx 1.16 takes the number of samples for that of the channels."""

    def _run(self, x, alpha=None, beta=None, bias=None, size=None):
        squares = numpy.zeros_like(x)
        for channel in range(x.shape[1]):
            near = x[:, max(0, channel - (size - 1) // 2):channel + size // 2 + 1]
            squares[:, channel] = (near ** 2).sum(axis=1)
        return (x / (bias + alpha / size * squares) ** beta,)


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


class LSTM(OpRun):
    """All directions and outputs; onnx 1.16 has one direction, and two outputs."""

    def _run(self, x, weights, recurrent, biases=None, lengths=None, hidden=None, cells=None, peepholes=None,
             direction=None, **others):
        made, ends = [], []
        for d in range(len(weights)):
            zeros = numpy.zeros((x.shape[1], recurrent.shape[2]))
            h, c = (zeros if first is None else first[d] for first in (hidden, cells))
            bias = 0 if biases is None else sum(numpy.split(biases[d], 2))
            is_backwards = direction == "reverse" or d == 1
            outputs = []
            for values in x[::-1] if is_backwards else x:
                i, o, f, g = numpy.split(values @ weights[d].T + h @ recurrent[d].T + bias, 4, axis=1)
                c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(g)
                h = sigmoid(o) * numpy.tanh(c)
                outputs.append(h)
            made.append(outputs[::-1] if is_backwards else outputs)
            ends.append((h, c))
        last = [numpy.array(one) for one in zip(*ends)]
        return (numpy.array(made).swapaxes(0, 1), *last)[:len(self.onnx_node.output)]


def dropout_by(factors):
    """Multiplies with what parbench has drawn."""

    class Dropout(OpRun):
        def _run(self, x, ratio=None, training_mode=None, seed=None):
            return (x * factors.reshape(x.shape), factors != 0)[:len(self.onnx_node.output)]

    return Dropout


def mean_squared_error(prediction, target):
    return ((prediction.astype(float) - target) ** 2).mean()


def cross_entropy(logits, target):
    logits = logits.astype(float).reshape(-1, logits.shape[-1])
    largest = logits.max(axis=1, keepdims=True)
    sums = numpy.log(numpy.exp(logits - largest).sum(axis=1)) + largest[:, 0]
    return (sums - logits[numpy.arange(len(logits)), target.astype(int).ravel()]).mean()


LOSSES = {"mse": mean_squared_error, "cross-entropy": cross_entropy}


def array(fact):
    return numpy.array(fact["values"], float).reshape(fact["shape"])


def inputs_of(graph, given, dimensions):
    """The file's inputs for each part of the samples that it is evaluated for: parts of the network's only input in
    their order, with the samples where the first input has them; numbers by --dim. A file of one sample sees them
    one by one, unless it normalises batches."""
    initial = {one.name for one in graph.initializer}
    shapes = {one.name: list(one.type.tensor_type.shape.dim) for one in graph.input if one.name not in initial}
    samples = next(iter(shapes.values()))[0]
    by_one = samples.dim_value == 1 and all(node.op_type != "BatchNormalization" for node in graph.node)
    is_only = len([name for name, shape in shapes.items() if shape]) == 1
    rows, begin, made = given.reshape(len(given), -1), 0, [{} for _ in range(len(given) if by_one else 1)]
    for name, shape in shapes.items():
        if not shape:
            for one in made:
                one[name] = numpy.int64(dimensions[name])
            continue
        place = next((d for d, one in enumerate(shape) if one == samples), 0)
        sizes = given.shape[1:] if is_only else [
            one.dim_value or dimensions.get(one.dim_param) or dimensions[f"{name}.{d}"]
            for d, one in enumerate(shape) if d != place]
        part = rows[:, begin:begin + int(numpy.prod(sizes))].reshape(len(given), *sizes)
        begin += int(numpy.prod(sizes))
        for one, values in zip(made, numpy.split(part, len(made))):
            one[name] = numpy.moveaxis(values, 0, place)
    return made


class Evaluated:
    """A file in f64 with the input of a step of parbench's, and its loss."""

    def __init__(self, model, step, dimensions=()):
        self.step, self.model = step, in_double(model)
        self.graph = self.model.graph
        given = array(step["input"])
        is_of_tokens = self.graph.input[0].type.tensor_type.elem_type == TensorProto.INT64
        self.inputs = inputs_of(self.graph, given.astype(int) if is_of_tokens else given, dict(dimensions))
        self.target = array(step["target"])
        own = [BatchNormalization, LRN, LSTM]
        if step["dropouts"]:
            own.append(dropout_by(array(next(iter(step["dropouts"].values())))))
        self.operators = own

    def prediction(self):
        evaluator = ReferenceEvaluator(self.model, new_ops=self.operators)
        return numpy.concatenate([evaluator.run(None, one)[0] for one in self.inputs])

    def loss(self):
        return LOSSES[self.step["loss"]](self.prediction().reshape(self.step["prediction"]["shape"]), self.target)

    def tensors(self):
        """Initializers of several numbers, and what Constant nodes hold, also those of branches."""
        found, graphs = [], [self.graph]
        while graphs:
            graph = graphs.pop()
            found += graph.initializer
            for node in graph.node:
                graphs += [one.g for one in node.attribute if one.type == one.GRAPH]
                found += [one.t for one in node.attribute if node.op_type == "Constant" and one.name == "value"]
        return [one for one in found if one.data_type == TensorProto.DOUBLE and numpy.prod(one.dims) > 1]

    def slope(self, tensor, direction):
        """The difference of losses to both sides, divided by their distance: a millionth of the values."""
        values = numpy_helper.to_array(tensor)
        size, found = 1e-6 * numpy.abs(values).mean(), []
        for change in (size, -size):
            tensor.CopyFrom(numpy_helper.from_array(values + change * direction.reshape(values.shape), tensor.name))
            found.append(self.loss())
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
        return (found[0] - found[1]) / (2 * size)
