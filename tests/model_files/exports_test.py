"""Small networks of PyTorch and of transformers, exported by both exporters as users export them (in evaluation,
with the number of samples open or fixed): their prediction, loss and gradients are PyTorch's."""
import json
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from support.process import ROOT, run

sys.path += [str(ROOT / "build/torch"), str(ROOT / "build/exporters")]
torch = pytest.importorskip("torch", reason="NOT CHECKED: scripts/peers fetches PyTorch into build/torch")
EXPORTERS = pytest.importorskip("onnxscript", reason="NOT CHECKED: scripts/model-files fetches exporters into build")

HERE = Path(__file__).parent / "exports"
sys.path.append(str(HERE))
import make  # noqa: E402

BATCH = 2
TOLERANCE = 2e-5  # by the largest value of a tensor
GRADIENT_TOLERANCE = 1e-3

MODELS = make.models()
# Exporters fold normalisations of batches into convolutions, or parbench takes the statistics of the batch
# for those that are left: PyTorch's own parameters are others.
NORMALISED = ("detector", "efficientnet", "mobilenetv3")
# What parbench refuses, and why.
REFUSED = {}


@pytest.fixture(scope="session", name="files")
def exported(tmp_path_factory):
    """All files, written by one process: to import transformers takes seconds."""
    folder = tmp_path_factory.mktemp("exports")
    subprocess.run([sys.executable, HERE / "make.py", folder], check=True, capture_output=True,
                   env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin", "HOME": str(folder)})
    return folder


def array(fact):
    return numpy.array(fact["values"], numpy.float32).reshape(fact["shape"])


def closeness(got, want):
    return numpy.abs(got - want).max() / max(numpy.abs(want).max(), 1e-3)


def loss_of(prediction, step):
    target = torch.tensor(array(step["target"])).reshape(prediction.shape)
    return torch.nn.functional.mse_loss(prediction, target)


def in_order(values, gradient):
    """Gradients in the order of the values, which are distinct: exporters transpose and divide weights."""
    return gradient.ravel()[numpy.argsort(values.ravel(), kind="stable")]


def trained(module, sample, step):
    given = torch.tensor(array(step["input"]))
    name = next(iter(sample))
    inputs = {one: torch.ones_like(value) for one, value in sample.items()}
    inputs[name] = given.to(sample[name].dtype)
    prediction = module(*inputs.values())
    loss = loss_of(prediction, step)
    loss.backward()
    return prediction.detach().numpy(), loss.item()


@pytest.mark.parametrize("exporter", ["old", "new", "fixed"])
@pytest.mark.parametrize("name", MODELS)
def test_a_step_is_pytorchs(build, files, name, exporter):
    path = files / f"{name}.{exporter}.onnx"
    assert path.exists(), "the exporter failed"
    done = run([build.program("onnx-training-step"), path, BATCH, "mse"], code=None)
    if f"{name}.{exporter}" in REFUSED:
        assert done.returncode != 0 and REFUSED[f"{name}.{exporter}"] in done.err
        return
    assert done.returncode == 0, done.err
    step = json.loads(done.out)
    torch.manual_seed(1)
    module, sample = MODELS[name]()
    make.with_distinct_values(module.eval())
    if name == "efficientnet":  # its normalisations are left in the file
        module.train()
    prediction, value = trained(module, sample, step)
    assert closeness(array(step["prediction"]).ravel(), prediction.ravel()) < TOLERANCE
    assert step["value"] == pytest.approx(value, rel=1e-4)
    if name in NORMALISED:
        return
    wanted = {tuple(numpy.sort(one.detach().numpy().ravel())): (one.detach().numpy(), one.grad.numpy())
              for one in module.parameters() if one.grad is not None}
    found = 0
    for parameter in step["parameters"].values():
        values = numpy.array(parameter["values"], numpy.float32)
        own = wanted.pop(tuple(numpy.sort(values)), None)
        if own is None:
            continue  # made of several parameters, or of none
        found += 1
        got = in_order(values, numpy.array(parameter["gradient"]))
        assert closeness(got, in_order(*own)) < GRADIENT_TOLERANCE
    assert found >= 0.8 * (found + len(wanted)), [one.shape for one, _ in wanted.values()]
