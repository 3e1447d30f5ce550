"""Models from ONNX files compute what onnx's ReferenceEvaluator computes of the same file in double precision.

A training step is run from the file's own weights; its prediction is compared with the outputs of
the evaluator for the same input, its loss with the definition on those outputs, and its gradients
with differences of such losses.
"""
import json

import numpy
import pytest

from model_files.by_value import Gradients
from model_files.evaluation import Evaluated, array, numpy_helper, onnx
from model_files import attribute_graphs as attributes
from model_files import exporter_graphs as exporters
from model_files import graphs
from support.process import run

BATCH = 6
TOLERANCE = 2e-5  # of f32, by the largest value of a tensor
GRADIENT_TOLERANCE = 1e-4
NOISE = 1e-6  # of an element of a gradient, by the largest of all


def step_of(build, path, loss="", prediction=""):
    """The first training step of a file, as parbench runs it."""
    return json.loads(run([build.program("onnx-training-step"), path, BATCH, loss, "", "", prediction]).out)


def closeness(got, want):
    return numpy.abs(got - want).max() / numpy.abs(want).max()


EQUIVALENTS = attributes.EQUIVALENTS | exporters.EQUIVALENTS
ALL = graphs.NETWORKS | graphs.JOINED_NETWORKS | attributes.NETWORKS | exporters.NETWORKS
# Their weights are sums or products of several tensors of the file.
COMBINED = {*graphs.JOINED_NETWORKS, "gemm_factors", "lstm_layout", "lstm_default_layout", "tagger_lstm",
            "tagger_bidirectional", "tagger_reverse"}


@pytest.fixture(name="path")
def written(request, tmp_path):
    graph, output = ALL[request.param]()
    return graph.save(tmp_path / f"{request.param}.onnx", output)


def known_to_evaluator(path):
    make = EQUIVALENTS.get(path.stem)
    if make is None:
        return onnx.load(path)
    graph, output = make()
    return onnx.load(graph.save(path.with_suffix(".equivalent"), output))


@pytest.mark.parametrize("path", ALL, indirect=True)
def test_a_step_is_the_evaluators(build, path):
    step = step_of(build, path)
    evaluated = Evaluated(known_to_evaluator(path), step)
    want = evaluated.prediction()
    got = array(step["prediction"])
    assert got.shape == (want.shape if want.ndim <= 4 else (BATCH, want[0].size))
    want = want.reshape(got.shape)
    assert closeness(got, want) < TOLERANCE
    assert step["value"] == pytest.approx(evaluated.loss(), rel=1e-5)

    gradients = Gradients([(array(one), array({**one, "values": one["gradient"]}))
                           for one in step["parameters"].values()])
    known = 0
    for tensor in evaluated.tensors():
        gradient = gradients.of_single(numpy_helper.to_array(tensor))
        if gradient is None:
            continue
        known += 1
        expected = numpy.abs(gradient).sum()
        noise = NOISE * gradient.size * gradients.largest
        slope = evaluated.slope(tensor, numpy.sign(gradient))
        assert slope == pytest.approx(expected, rel=GRADIENT_TOLERANCE, abs=noise), tensor.name
    assert known
    assert known >= len(step["parameters"]) or path.stem in COMBINED


def test_the_loss_of_another_output(build, tmp_path):
    """The second output of two has its own end of the network, with its own loss."""
    graph, output = graphs.classifier()
    path = graph.save(tmp_path / "model.onnx", output)
    model = onnx.load(path)
    both = onnx.ModelProto.FromString(model.SerializeToString())
    both.graph.output.insert(0, onnx.helper.make_tensor_value_info("Relu_1", 1, ["N", 9]))
    onnx.save(both, path)
    step = step_of(build, path, prediction=output)
    assert step["loss"] == "cross-entropy"
    assert step["value"] == pytest.approx(Evaluated(model, step).loss(), rel=1e-5)
    first = step_of(build, path)
    assert first["loss"] == "mse"
    assert first["prediction"]["shape"] == [BATCH, 9]
    assert first["value"] == pytest.approx(Evaluated(both, first).loss(), rel=1e-5)
    unknown = run([build.program("onnx-training-step"), path, BATCH, "", "", "", "logits"], code=1)
    assert f"has no output 'logits'; allowed with --prediction: Relu_1, {output}" in unknown.err


def test_a_normalisation_without_statistics_breaks_a_rule(build, tmp_path):
    graph, output = exporters.without_statistics()
    done = run([build.program("onnx-training-step"), graph.save(tmp_path / "model.onnx", output), BATCH], code=1)
    assert "breaks a rule of ONNX: Node (norm)'s input 3 is marked single but has an empty string" in done.err


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
    step = step_of(build, path)
    tensors = {one.name: numpy_helper.to_array(one) for one in onnx.load(path).graph.initializer}
    found = 0
    for name, parameter in step["parameters"].items():
        want = joined(name, tensors)
        if want is None:
            continue
        found += 1
        assert numpy.array_equal(numpy.array(parameter["values"], numpy.float32), want.ravel())
    assert found == 2  # weights and biases of one layer


@pytest.mark.parametrize("path", ["sequence", "decoder"], indirect=True)
def test_loss_of_choice(build, path):
    step = step_of(build, path, "cross-entropy")
    assert step["loss"] == "cross-entropy"
    assert step["value"] == pytest.approx(Evaluated(onnx.load(path), step).loss(), rel=1e-5)
