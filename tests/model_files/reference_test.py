"""Models from ONNX files compute what onnx's ReferenceEvaluator computes of the same file.

A training step is run from the file's own weights; its prediction is compared with the outputs of
the evaluator for the same input, its loss with the definition on those outputs, and its gradients
with differences of such losses.
"""
import json
import sys

import numpy
import pytest

from support.process import ROOT, run

sys.path.append(str(ROOT / "build/onnx-wheels"))
try:
    import onnx
    from onnx import numpy_helper
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun

    from model_files import attribute_graphs as attributes
    from model_files import graphs
except ImportError as missing:
    pytest.skip(f"NOT CHECKED: values of models from ONNX files, as {missing.name} is missing; scripts/test fetches "
                "onnx into build/onnx-wheels where there are pip and a network", allow_module_level=True)

BATCH = 6
TOLERANCE = 2e-5  # of f32, by the largest value of a tensor
GRADIENT_TOLERANCE = 2e-2  # of a difference of losses in f32


class Step:
    """The first training step of a file, as parbench runs it."""

    def __init__(self, build, path, loss="", dimensions=""):
        words = [build.program("onnx-training-step"), path, BATCH, loss, dimensions]
        self.facts = json.loads(run(words).out)

    def array(self, name):
        fact = self.facts[name]
        return numpy.array(fact["values"], numpy.float32).reshape(fact["shape"])


def mean_squared_error(prediction, target):
    return ((prediction.astype(float) - target) ** 2).mean()


def cross_entropy(logits, target):
    logits = logits.astype(float).reshape(-1, logits.shape[-1])
    largest = logits.max(axis=1, keepdims=True)
    sums = numpy.log(numpy.exp(logits - largest).sum(axis=1)) + largest[:, 0]
    return (sums - logits[numpy.arange(len(logits)), target.astype(int).ravel()]).mean()


LOSSES = {"mse": mean_squared_error, "cross-entropy": cross_entropy}


def without_softmax(model):
    """The file's network up to the softmax at its end, which is a part of the loss."""
    while (last := model.graph.node[-1]).op_type in ("Identity", "LogSoftmax", "Softmax"):
        model.graph.node.remove(last)
        model.graph.output[0].name = last.input[0]
        if last.op_type != "Identity":
            break
    return model


class LRN(OpRun):
    """By the specification; onnx 1.16 takes the number of samples for that of the channels."""

    def _run(self, x, alpha=None, beta=None, bias=None, size=None):
        squares = numpy.zeros_like(x)
        for channel in range(x.shape[1]):
            near = x[:, max(0, channel - (size - 1) // 2):channel + size // 2 + 1]
            squares[:, channel] = (near ** 2).sum(axis=1)
        return (x / (bias + alpha / size * squares) ** beta,)


def evaluated(model, step):
    given = step.array("input")
    if model.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.INT64:
        given = given.astype(numpy.int64)
    return ReferenceEvaluator(model, new_ops=[LRN]).run(None, {model.graph.input[0].name: given})[0]


def loss_of(model, step):
    return LOSSES[step.facts["loss"]](evaluated(model, step), step.array("target"))


def closeness(got, want):
    return numpy.abs(got - want).max() / numpy.abs(want).max()


ALL = graphs.NETWORKS | graphs.JOINED_NETWORKS | attributes.NETWORKS


@pytest.fixture(name="path")
def written(request, tmp_path):
    graph, output = ALL[request.param]()
    return graph.save(tmp_path / f"{request.param}.onnx", output)


def known_to_evaluator(path):
    make = attributes.EQUIVALENTS.get(path.stem)
    if make is None:
        return onnx.load(path)
    graph, output = make()
    return onnx.load(graph.save(path.with_suffix(".equivalent"), output))


@pytest.mark.parametrize("path", ALL, indirect=True)
def test_prediction_and_loss(build, path):
    step = Step(build, path)
    model = without_softmax(known_to_evaluator(path))
    want = evaluated(model, step)
    got = step.array("prediction")
    assert got.shape == want.shape
    assert closeness(got, want) < TOLERANCE
    assert step.facts["value"] == pytest.approx(loss_of(model, step), rel=1e-5)


def tensor_of(model, parameter):
    """The tensor of the file that a parameter has its values from."""
    found = [one for one in model.graph.initializer if f".{parameter}".endswith(f".{one.name}")]
    assert found, f"{parameter} is named after no tensor of the file"
    return found[0]


def in_order_of(values, parameter):
    """The gradient of a parameter, where the file has it: a matrix may be the other way round there."""
    own = numpy.array(parameter["values"], numpy.float32).reshape(parameter["shape"])
    gradient = numpy.array(parameter["gradient"]).reshape(parameter["shape"])
    if not numpy.array_equal(own.ravel(), values.ravel()):
        own, gradient = own.T, gradient.T
    assert numpy.array_equal(own.ravel(), values.ravel()), "training begins with the file's values"
    return gradient.reshape(values.shape)


@pytest.mark.parametrize("path", graphs.NETWORKS, indirect=True)
def test_gradients(build, path):
    """Moves one value of each tensor of the file: the loss changes as the gradient says."""
    step = Step(build, path)
    model = without_softmax(onnx.load(path))
    trained = step.facts["parameters"]
    assert trained
    for name, parameter in trained.items():
        tensor = tensor_of(model, name)
        values = numpy_helper.to_array(tensor)
        gradient = in_order_of(values, parameter)
        where = numpy.unravel_index(numpy.abs(gradient).argmax(), gradient.shape)
        losses = []
        for change in (4e-3, -4e-3):
            moved = values.copy()
            moved[where] += change
            tensor.CopyFrom(numpy_helper.from_array(moved, tensor.name))
            losses.append(loss_of(model, step))
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
        slope = (losses[0] - losses[1]) / 8e-3
        assert gradient[where] == pytest.approx(slope, rel=GRADIENT_TOLERANCE), name


def joined(name, tensors):
    """The values of a parameter that is made of three tensors of the file; None for others."""
    layer, part = name.rsplit(".", 1)
    if part in ("weight", "bias") and layer.endswith(".q.qkv"):
        parts = [f"{layer[:-len('.q.qkv')]}.{letter}.{part}" for letter in "qkv"]
        rows = [tensors[one].T if part == "weight" else tensors[one] for one in parts]
        return numpy.concatenate(rows)
    return None


@pytest.mark.parametrize("path", ["separate", "separate_encoder"], indirect=True)
def test_joined_weights_are_those_of_the_file(build, path):
    step = Step(build, path)
    tensors = {one.name: numpy_helper.to_array(one) for one in onnx.load(path).graph.initializer}
    found = 0
    for name, parameter in step.facts["parameters"].items():
        want = joined(name, tensors)
        if want is None:
            continue
        found += 1
        assert numpy.array_equal(numpy.array(parameter["values"], numpy.float32), want.ravel())
    assert found == 2  # weights and biases of one layer


@pytest.mark.parametrize("path", ["sequence", "decoder"], indirect=True)
def test_loss_of_choice(build, path):
    step = Step(build, path, "cross-entropy")
    assert step.facts["loss"] == "cross-entropy"
    assert step.facts["value"] == pytest.approx(loss_of(onnx.load(path), step), rel=1e-5)
