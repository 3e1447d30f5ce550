"""Small networks of PyTorch and of transformers, exported by both exporters as users export them (in evaluation,
with the number of samples open or fixed): their prediction, loss and gradients are PyTorch's."""
import json
import sys
from pathlib import Path

import pytest

from support.process import ROOT, run

sys.path[:0] = [str(ROOT / "build/exporters"), str(ROOT / "build/torch")]  # whose numpy is newer than the system's
import numpy  # noqa: E402

from model_files.by_value import Gradients  # noqa: E402

torch = pytest.importorskip("torch", reason="NOT CHECKED: scripts/peers fetches PyTorch into build/torch")
EXPORTERS = pytest.importorskip("onnxscript", reason="NOT CHECKED: scripts/model-files fetches exporters into build")

HERE = Path(__file__).parent / "exports"
sys.path.append(str(HERE))
import make  # noqa: E402

BATCH = 2
# Errors of f32, in those of PyTorch's own f32, of a tensor's largest value, and of the largest gradient.
OWN, RELATIVE, ABSOLUTE = 10, 1e-5, 1e-7

MODELS = make.models()
# Exporters fold normalisations of batches into convolutions: the weights of both are others.
FOLDED = ("detector", "efficientnet", "mobilenetv3")
# as_strided chooses among a fixed number of samples.
NOT_YET = (("swin", "fixed"),)
FIXED = ("bert", "detector", "gru", "llama", "segformer", "swin", "t5", "vit")  # the newer exporter, unless an argument says more

CASES = [(name, exporter) for name in MODELS for exporter in ("old", "new", "fixed")
         if exporter != "fixed" or name in FIXED]
CASES = [pytest.param(*case, marks=pytest.mark.xfail(strict=True)) if case in NOT_YET else case for case in CASES]


def array(fact):
    return numpy.array(fact["values"]).reshape(fact["shape"])


def inputs_of(sample, given, dtype):
    """Parts of parbench's only input in the order of the file's; masks are ones."""
    rows, begin, made = given.reshape(len(given), -1), 0, []
    for name, value in sample.items():
        if "mask" in name:
            made.append(torch.ones_like(value))
            continue
        part = rows[:, begin:begin + value[0].numel()].reshape(len(given), *value.shape[1:])
        begin += value[0].numel()
        made.append(part.to(dtype if value.is_floating_point() else value.dtype))
    return made


class Trained:
    """A step of PyTorch's in a number format: prediction, loss and gradients by the values in f32."""

    def __init__(self, name, step, dtype):
        torch.manual_seed(1)
        module, sample = MODELS[name]()
        make.with_distinct_values(module.eval())
        self.values = [one.detach().numpy().copy() for one in module.parameters()]
        module.to(dtype)
        prediction = module(*inputs_of(sample, torch.tensor(array(step["input"])), dtype))
        target = torch.tensor(array(step["target"]), dtype=dtype).reshape(prediction.shape)
        loss = torch.nn.functional.mse_loss(prediction, target)
        loss.backward()
        self.prediction, self.loss = prediction.detach().double().numpy(), loss.item()
        known = [(values, one.grad) for values, one in zip(self.values, module.parameters()) if one.grad is not None]
        self.values = [values for values, _ in known]
        known += sums_of_biases(module)
        self.gradients = Gradients([(values, gradient.double().numpy()) for values, gradient in known])
        self.sums = [values for values, _ in known[len(self.values):]]


def sums_of_biases(module):
    """Recurrent cells add two biases, which have the same gradient; files have both, parbench their sum."""
    return [((getattr(cells, name) + getattr(cells, name.replace("_ih_", "_hh_"))).detach().float().numpy(), one.grad)
            for cells in module.modules() if isinstance(cells, torch.nn.RNNBase)
            for name, one in cells.named_parameters() if name.startswith("bias_ih_")]


def error(got, want):
    return numpy.abs(got - want).max(initial=0)


@pytest.mark.parametrize("name, exporter", CASES)
def test_a_step_is_pytorchs(build, tmp_path, name, exporter):
    path = tmp_path / "model.onnx"
    make.write(name, exporter, path)
    done = run([build.program("onnx-training-step"), path, BATCH, "mse"], code=None)
    assert done.returncode == 0, done.err
    step = json.loads(done.out)
    exact, own = (Trained(name, step, dtype) for dtype in (torch.float64, torch.float32))
    prediction = exact.prediction.ravel()
    limit = OWN * error(own.prediction.ravel(), prediction) + RELATIVE * numpy.abs(prediction).max()
    assert error(array(step["prediction"]).ravel(), prediction) < limit
    assert step["value"] == pytest.approx(exact.loss, rel=1e-5)

    got = Gradients([(array(one), numpy.array(one["gradient"])) for one in step["parameters"].values()])
    missing = 0
    for values in exact.values + exact.sums:
        found = got.of(values)
        if found is None:  # it was multiplied with another one, or added to it
            missing += 1
            continue
        single = got.is_single(values) & exact.gradients.is_single(values)
        want, theirs = (one.gradients.of(values)[single] for one in (exact, own))
        limit = (OWN * error(theirs, want) + RELATIVE * numpy.abs(want).max(initial=0)
                 + ABSOLUTE * exact.gradients.largest)
        assert error(found[single], want) < limit, values.shape
    if name not in FOLDED:
        assert missing <= len(exact.values) / 5 + 2 * len(exact.sums)
