"""Models that PyTorch exports are trained as PyTorch trains them: prediction, loss and every
gradient of the first step."""
import json
import math
import sys
import warnings

import numpy
import pytest

from support.process import ROOT, run

sys.path += [str(ROOT / "build/torch"), str(ROOT / "build/onnx-wheels")]
torch = pytest.importorskip("torch", reason="scripts/peers fetches PyTorch into build/torch")
pytest.importorskip("onnx", reason="scripts/test fetches onnx into build/onnx-wheels")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

BATCH = 6
TOLERANCE = 1e-4  # of f32, by the largest value of a tensor; products are added in another order


class Block(nn.Module):
    """A block of a decoder with its own attention, as in GPT-2."""

    def __init__(self, width, heads, sequence):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        lower = torch.tril(torch.ones(sequence, sequence))
        self.register_buffer("mask", lower.view(1, 1, sequence, sequence) == 0)

    def attended(self, x):
        batch, sequence, width = x.shape
        parts = (part.view(batch, sequence, self.heads, width // self.heads).transpose(1, 2)
                 for part in self.c_attn(x).split(width, dim=2))
        queries, keys, values = parts
        scores = (queries @ keys.transpose(-2, -1)) * (1 / math.sqrt(width // self.heads))
        shares = functional.softmax(scores.masked_fill(self.mask, float("-inf")), dim=-1)
        return self.c_proj((shares @ values).transpose(1, 2).reshape(batch, sequence, width))

    def forward(self, x):
        x = x + self.attended(self.ln_1(x))
        return x + self.proj(functional.gelu(self.c_fc(self.ln_2(x))))


class Decoder(nn.Module):
    FOLDED = True  # the shapes of its Reshape nodes
    SAMPLE = torch.zeros(2, 5, dtype=torch.long)

    def __init__(self, vocabulary=11, width=16, heads=2, sequence=5):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(sequence, width)
        self.blocks = nn.Sequential(*(Block(width, heads, sequence) for _ in range(2)))
        self.ln_f, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        positions = self.wpe(torch.arange(tokens.shape[1]))
        return self.head(self.ln_f(self.blocks(self.wte(tokens) + positions)))


class Attention(nn.Module):
    """scaled_dot_product_attention after three layers, or one whose rows are divided."""

    FOLDED = True
    SAMPLE = torch.zeros(2, 5, dtype=torch.long)

    def __init__(self, divided, width=16, heads=2, vocabulary=11):
        super().__init__()
        self.divided, self.heads = divided, heads
        self.wte, self.ln = nn.Embedding(vocabulary, width), nn.LayerNorm(width)
        if divided:
            self.qkv = nn.Linear(width, 3 * width)
        else:
            self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
            self.ROWS = [[f"{name}.{part}" for name in "qkv"] for part in ("weight", "bias")]
        self.out, self.head = nn.Linear(width, width), nn.Linear(width, vocabulary)

    def projections(self, x):
        batch, sequence, width = x.shape
        size = width // self.heads
        if self.divided:
            return self.qkv(x).view(batch, sequence, 3, self.heads, size).permute(2, 0, 3, 1, 4)
        return [layer(x).view(batch, sequence, self.heads, size).transpose(1, 2)
                for layer in (self.q, self.k, self.v)]

    def forward(self, tokens):
        x = self.wte(tokens)
        queries, keys, values = self.projections(self.ln(x))
        y = functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        return self.head(x + self.out(y.transpose(1, 2).reshape(x.shape)))


class Recurrent(nn.Module):
    """A stack of LSTMs; PyTorch has two biases, which parbench adds."""

    SAMPLE = torch.zeros(2, 5, dtype=torch.long)
    SUMS = [[f"lstm.bias_ih_l{layer}", f"lstm.bias_hh_l{layer}"] for layer in range(2)]

    def __init__(self, folded, vocabulary=11, bias=True):
        super().__init__()
        self.FOLDED = folded
        if not bias:
            self.SUMS = []
        self.wte = nn.Embedding(vocabulary, 6)
        self.lstm = nn.LSTM(6, 8, 2, batch_first=True, bias=bias)
        self.head = nn.Linear(8, vocabulary)

    def forward(self, tokens):
        return self.head(self.lstm(self.wte(tokens))[0])


class Skips(nn.Module):
    """A small U-Net."""

    FOLDED = False
    SAMPLE = torch.zeros(2, 3, 16, 16)

    def __init__(self):
        super().__init__()
        self.down, self.bottom = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2, bias=False)
        self.last = nn.Conv2d(16, 4, 3, padding=1)

    def forward(self, x):
        x = functional.relu(self.down(x))
        y = functional.relu(self.bottom(functional.max_pool2d(x, 2)))
        return self.last(torch.cat([self.up(y), x], 1))


class Channels(nn.Module):
    """Numbers, constants of channels, zeros around images and parts of them."""

    FOLDED = False
    SAMPLE = torch.zeros(2, 3, 12, 12)

    def __init__(self, folded):
        super().__init__()
        self.FOLDED = folded
        self.edges = nn.ZeroPad2d((1, 0, 2, 1))  # left, right, top, bottom
        self.conv = nn.Conv2d(3, 8, 3, stride=2)
        self.gain, self.shift = (nn.Parameter(torch.zeros(8, 1, 1)) for _ in range(2))
        self.up = nn.ConvTranspose2d(8, 6, 3, stride=2, padding=1, output_padding=1)
        self.last = nn.Conv2d(6, 4, 3)

    def forward(self, x):
        x = functional.pad(self.conv(self.edges(x * 2 - 0.5)), (1, 1, 1, 1))
        first, second = (x * self.gain + self.shift).chunk(2, dim=1)
        x = torch.cat([torch.tanh(second), first / 3], 1)
        x = 0.5 - torch.tanh(self.up(x[:, :, 1:, :-1]))
        return self.last(functional.pad(x, (1, 1, 1, 1)))


class Images(nn.Module):
    FOLDED = False  # it would make normalisations part of convolutions
    SAMPLE = torch.zeros(2, 3, 12, 12)

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 8, 3, padding=1, groups=2), nn.BatchNorm2d(8)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.bn1(self.conv1(x))), 2)
        x = functional.relu(self.bn2(self.conv2(x)) + x)
        return self.fc(functional.adaptive_avg_pool2d(x, 1).flatten(1))


def exported(module, path, opset):
    """Operator set 20: by the newer exporter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if opset == 20:
            pytest.importorskip("onnxscript", reason="PyTorch's newer exporter needs onnxscript")
            torch.onnx.export(module, (module.SAMPLE,), path, dynamo=True, verbose=False,
                              input_names=["x"])
            return path
        torch.onnx.export(module.train(), module.SAMPLE, path, opset_version=opset, dynamo=False,
                          training=torch.onnx.TrainingMode.TRAINING,
                          do_constant_folding=module.FOLDED,
                          input_names=["x"])
    return path


def inspected(build, path):
    return json.loads(run([build.program("parbench"), "inspect", path, "--format", "json"]).out)


def with_distinct_parameters(module):
    """None like another, so that values identify them, and exporters merge none."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, 0.1, 0.3)
    return module


@pytest.mark.parametrize("opset", [13, 17, 20])
def test_a_decoder_can_be_cut_in_front_of_attention_and_of_the_perceptron(build, tmp_path, opset):
    path = exported(with_distinct_parameters(Decoder()), str(tmp_path / "model.onnx"), opset)
    units = inspected(build, path)["units"]
    assert [unit["layers"] for unit in units] == [2, 5, 5, 5, 6, 1]
    assert [unit["crossing_tensors"] for unit in units] == [0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("opset", [13, 20])
def test_inspect_says_that_the_newer_exporter_folds_batch_normalisations(build, tmp_path, opset):
    path = exported(with_distinct_parameters(Images()).train(), str(tmp_path / "model.onnx"), opset)
    found = inspected(build, path)
    is_folded = all(layer["kind"] != "batch_norm" for layer in found["layers"])
    assert is_folded == (opset == 20)
    assert [note.startswith("2 convolutions and no normalisation") for note in found["notes"]] == \
        [True] * is_folded


def trained(module, step):
    """The prediction and the loss of a step with these numbers; gradients are in the module."""
    def of(name):
        fact = step[name]
        return torch.tensor(fact["values"]).reshape(fact["shape"])

    given = of("input")
    prediction = module(given.long() if module.SAMPLE.dtype == torch.long else given)
    if step["loss"] == "cross-entropy":
        classes = prediction.shape[-1]
        loss = functional.cross_entropy(prediction.reshape(-1, classes), of("target").long().ravel())
    else:
        loss = functional.mse_loss(prediction, of("target"))
    loss.backward()
    return prediction.detach().numpy(), loss.item()


def wanted_parameters(module):
    """Values and gradients by names: of the module's parameters, of those that parbench has as one
    (ROWS), and of those that it adds (SUMS), whose gradients are the same."""
    found = {name: (one.detach().numpy(), one.grad.numpy())
             for name, one in module.named_parameters()}
    for names in getattr(module, "ROWS", []):
        parts = [found.pop(name) for name in names]
        found["+".join(names)] = tuple(numpy.concatenate(part) for part in zip(*parts))
    for names in getattr(module, "SUMS", []):
        (first, gradient), (second, _) = (found.pop(name) for name in names)
        found["+".join(names)] = (first + second, gradient)
    return {name: (values.ravel(), gradient.ravel())
            for name, (values, gradient) in found.items()}


def closeness(got, want):
    """A bias in front of a normalisation has no gradient but for rounding."""
    rounding = 1e-3
    return numpy.abs(got - want).max() / max(numpy.abs(want).max(), rounding)


@pytest.mark.parametrize(
    "kind, loss, opset",
    [(Images, "", 13), (Decoder, "cross-entropy", 13), (Decoder, "cross-entropy", 17),
     (Skips, "", 13), (Skips, "", 20),
     (lambda: Attention(True), "cross-entropy", 17), (lambda: Attention(False), "cross-entropy", 17),
     (lambda: Attention(True), "cross-entropy", 20), (lambda: Attention(False), "cross-entropy", 20),
     (lambda: Recurrent(True), "cross-entropy", 17), (lambda: Recurrent(False), "cross-entropy", 13),
     (lambda: Recurrent(True), "cross-entropy", 20),
     (lambda: Recurrent(True, bias=False), "cross-entropy", 17),
     (lambda: Recurrent(True, bias=False), "cross-entropy", 20),
     (lambda: Channels(True), "", 17), (lambda: Channels(False), "", 13),
     (lambda: Channels(True), "", 20)],
    ids=["images", "decoder-13", "decoder-17", "skips-13", "skips-20",
         "divided-17", "separate-17", "divided-20", "separate-20",
         "lstm-folded-17", "lstm-13", "lstm-20", "lstm-without-biases-17", "lstm-without-biases-20",
         "channels-folded-17", "channels-13", "channels-20"],
)
def test_a_step_is_pytorchs(build, tmp_path, kind, loss, opset):
    torch.manual_seed(1)
    module = with_distinct_parameters(kind())
    path = exported(module, str(tmp_path / "model.onnx"), opset)
    step = json.loads(run([build.program("onnx-training-step"), path, BATCH, loss]).out)
    prediction, value = trained(module, step)
    got = numpy.array(step["prediction"]["values"]).reshape(step["prediction"]["shape"])
    assert closeness(got, prediction) < TOLERANCE
    assert step["value"] == pytest.approx(value, rel=TOLERANCE)

    wanted = wanted_parameters(module)
    assert len(step["parameters"]) == len(wanted)
    for name, fact in step["parameters"].items():
        values = numpy.array(fact["values"], numpy.float32)
        found = [one for one, (own, _) in wanted.items() if numpy.array_equal(own, values)]
        assert found, f"{name} has no parameter's values"
        assert closeness(numpy.array(fact["gradient"]), wanted.pop(found[0])[1]) < TOLERANCE, name
    assert not wanted
