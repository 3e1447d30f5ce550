"""Models that ship are trained as PyTorch trains the same: prediction, loss and every gradient of
the first step, from the same parameters, batch and dropouts."""
import json
import sys

import pytest

from support.process import ROOT, run

sys.path.append(str(ROOT / "build/torch"))
torch = pytest.importorskip("torch", reason="scripts/peers fetches PyTorch into build/torch")

from torch.nn import functional  # noqa: E402

BATCH = 4
TOLERANCE = 1e-4  # of f32, by the largest value of a tensor; products are added in another order
IGNORED = -1  # the target after a sample's last token
MIXTRAL = "layers=2+hidden=32+heads=4+kv-heads=2+experts=4+sequence=12+vocabulary=50"


class Numbers:
    """What a step was computed from: parameters by name, with gradients; dropouts by layer."""

    def __init__(self, step):
        def of(fact):
            return torch.tensor(fact["values"], dtype=torch.float32).reshape(fact["shape"])

        self.parameters = {name: of(fact).requires_grad_()
                           for name, fact in step["parameters"].items()}
        self.routes = step["routes"]
        self.dropouts = {name: of(fact) for name, fact in step["dropouts"].items()}
        self.input, self.target = of(step["input"]), of(step["target"])

    def __getitem__(self, name):
        return self.parameters[name]

    def linear(self, x, layer):
        return functional.linear(x, self[layer + ".weight"], self[layer + ".bias"])

    def layer_norm(self, x, layer, eps=1e-5):
        return functional.layer_norm(x, x.shape[-1:], self[layer + ".weight"], self[layer + ".bias"],
                                     eps)

    def count(self, suffix):
        return sum(name.endswith(suffix) for name in self.parameters)


def attended(mixed, heads, causal=True):
    """Attention of {batch, sequence, 3 x width}."""
    batch, sequence, width = mixed.shape[0], mixed.shape[1], mixed.shape[2] // 3
    parts = (part.view(batch, sequence, heads, width // heads).transpose(1, 2)
             for part in mixed.split(width, dim=2))
    result = functional.scaled_dot_product_attention(*parts, is_causal=causal)
    return result.transpose(1, 2).reshape(batch, sequence, width)


def transformer(of, heads=4):
    table = of["wte.weight"]
    x = table[of.input.long()] + of["wpe.weight"].view(-1, table.shape[1])
    for number in range(of.count(".ln_1.weight")):
        block = f"h.{number}"
        mixed = of.linear(of.layer_norm(x, block + ".ln_1"), block + ".attn.c_attn")
        x = x + of.linear(attended(mixed, heads), block + ".attn.c_proj")
        wide = of.linear(of.layer_norm(x, block + ".ln_2"), block + ".mlp.c_fc")
        x = x + of.linear(functional.gelu(wide, approximate="tanh"), block + ".mlp.c_proj")
    x = of.layer_norm(x, "ln_f")
    if "lm_head.weight" not in of.parameters:
        return functional.linear(x, table)
    return of.linear(x, "lm_head")


def encoder_parts(of, block, heads):
    """Attention and perceptron of a block that reads all positions."""
    def attention(x):
        mixed = attended(of.linear(x, block + ".attn.c_attn"), heads, causal=False)
        return of.linear(mixed, block + ".attn.c_proj")

    def perceptron(x):
        return of.linear(functional.gelu(of.linear(x, block + ".mlp.c_fc")), block + ".mlp.c_proj")

    return attention, perceptron


def bert(of, heads=2):
    x = of["word_embeddings.weight"][of.input.long()]
    x = x + of["embeddings.positions"] + of["embeddings.segments"][0]
    x = of.layer_norm(x, "embeddings.norm", 1e-12)
    for number in range(of.count(".ln_1.weight")):
        block = f"layer.{number}"
        attention, perceptron = encoder_parts(of, block, heads)
        x = of.layer_norm(x + attention(x), block + ".ln_1", 1e-12)
        x = of.layer_norm(x + perceptron(x), block + ".ln_2", 1e-12)
    x = of.layer_norm(functional.gelu(of.linear(x, "transform")), "transform.norm", 1e-12)
    return of.linear(x, "decoder")


def vit(of, heads=2):
    x = functional.conv2d(of.input, of["conv_proj.weight"], of["conv_proj.bias"], stride=16)
    x = x.flatten(2).transpose(1, 2)
    x = torch.cat([of["tokens.class_token"].expand(len(x), 1, -1), x], 1) + of["tokens.positions"]
    for number in range(of.count(".ln_1.weight")):
        block = f"layers.{number}"
        attention, perceptron = encoder_parts(of, block, heads)
        x = x + attention(of.layer_norm(x, block + ".ln_1", 1e-6))
        x = x + perceptron(of.layer_norm(x, block + ".ln_2", 1e-6))
    return of.linear(of.layer_norm(x, "ln", 1e-6)[:, 0], "head")


def rms_norm(x, of, layer):
    return functional.rms_norm(x, x.shape[-1:], of[layer + ".weight"], eps=1e-5)


def turned(x, base=10000):
    """Rotary positions of {batch, heads, sequence, size}, as transformers' Llama has them."""
    half = x.shape[-1] // 2
    frequencies = base ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = torch.outer(torch.arange(x.shape[-2], dtype=torch.float64), frequencies).repeat(1, 2)
    exchanged = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
    return x * angles.cos().float() + exchanged * angles.sin().float()


def llama(of, heads=4, kv_heads=2):
    def attention(x, name):
        batch, sequence, _ = x.shape
        weights = of[f"{name}.qkv_proj.weight"]
        size = weights.shape[0] // (heads + 2 * kv_heads)
        queries, keys, values = (
            part.view(batch, sequence, -1, size).transpose(1, 2)
            for part in (x @ weights.T).split([heads * size, kv_heads * size, kv_heads * size], 2))
        result = functional.scaled_dot_product_attention(
            turned(queries), turned(keys), values, is_causal=True, enable_gqa=True)
        return result.transpose(1, 2).reshape(x.shape) @ of[f"{name}.o_proj.weight"].T

    def gated(x, wide, narrow):
        gate, up = (x @ wide).chunk(2, dim=-1)
        return (functional.silu(gate) * up) @ narrow

    def perceptron(x, name):
        if name + ".experts" not in of.routes:
            return gated(x, of[f"{name}.gate_up_proj.weight"].T, of[f"{name}.down_proj.weight"].T)
        routes = torch.tensor(of.routes[name + ".experts"]).expand(len(x), -1, -1)
        shares = (x @ of[f"{name}.gate.weight"].T).gather(2, routes).softmax(-1)
        results = torch.stack([gated(x, *weights) for weights in zip(
            of[f"{name}.experts.gate_up_proj"], of[f"{name}.experts.down_proj"])], dim=2)
        chosen = results.gather(2, routes[..., None].expand(-1, -1, -1, x.shape[-1]))
        return (chosen * shares[..., None]).sum(2)

    x = of["embed_tokens.weight"][of.input.long()]
    for number in range(of.count(".self_attn.o_proj.weight")):
        block = f"layers.{number}"
        x = x + attention(rms_norm(x, of, block + ".input_layernorm"), block + ".self_attn")
        x = x + perceptron(rms_norm(x, of, block + ".post_attention_layernorm"), block + ".mlp")
    return rms_norm(x, of, "norm") @ of["lm_head.weight"].T


def convnext(of):
    def convolution(x, name, **options):
        return functional.conv2d(x, of[name + ".weight"].flatten(0, -4), of[name + ".bias"], **options)

    def norm(x, name):
        return of.layer_norm(x.permute(0, 2, 3, 1), name, 1e-6).permute(0, 3, 1, 2)

    def block(x, name):
        y = norm(convolution(x, name + ".dwconv", padding=3, groups=x.shape[1]), name + ".norm")
        y = functional.gelu(of.linear(y.permute(0, 2, 3, 1), name + ".pwconv1"))
        y = of.linear(y, name + ".pwconv2") * of[name + ".layer_scale"]
        return x + y.permute(0, 3, 1, 2)

    x = norm(convolution(of.input, "stem.conv", stride=4), "stem.norm")
    for stage in range(4):
        for number in range(sum(name.startswith(f"stages.{stage}.") and name.endswith(".layer_scale")
                                for name in of.parameters)):
            name = f"stages.{stage}.{number}"
            if name + ".downsample.conv.weight" in of.parameters:
                x = norm(x, name + ".downsample.norm")
                x = convolution(x, name + ".downsample.conv", stride=2)
            x = block(x, name)
    return of.linear(of.layer_norm(x.mean((2, 3)), "norm", 1e-6), "head")


def mobilenetv3(of):
    """The small one; strides and functions are those of the paper's table."""
    strided = [1, 2, 4, 9]
    hard_swish = [4, 5, 6, 7, 8, 9, 10, 11]

    def convolution(x, name, stride, function):
        weight = of[name + ".conv.weight"]
        groups = len(weight) if weight.dim() == 5 else 1
        weight = weight.flatten(0, -4)
        x = functional.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2, groups=groups)
        x = functional.batch_norm(x, None, None, of[name + ".bn.weight"], of[name + ".bn.bias"],
                                  training=True, eps=1e-3)
        return function(x)

    x = convolution(of.input, "features.0", 2, functional.hardswish)
    for number in range(1, 12):
        name = f"features.{number}"
        function = functional.hardswish if number in hard_swish else functional.relu
        y = x
        if name + ".expand.conv.weight" in of.parameters:
            y = convolution(y, name + ".expand", 1, function)
        y = convolution(y, name + ".depthwise", 2 if number in strided else 1, function)
        if name + ".squeeze.fc1.weight" in of.parameters:
            gate = functional.relu(of.linear(y.mean((2, 3)), name + ".squeeze.fc1"))
            gate = functional.hardsigmoid(of.linear(gate, name + ".squeeze.fc2"))
            y = y * gate[:, :, None, None]
        y = convolution(y, name + ".project", 1, lambda z: z)
        x = x + y if x.shape == y.shape else y
    x = convolution(x, "last", 1, functional.hardswish).mean((2, 3))
    return of.linear(functional.hardswish(of.linear(x, "classifier.0")), "classifier.3")


def lstm(x, of, layer):
    """Position by position; gates lie as in torch.nn.LSTM."""
    weights, recurrent, bias = (of[f"{layer}.{name}"] for name in ("weight_ih", "weight_hh", "bias"))
    hidden = cell = torch.zeros(x.shape[0], recurrent.shape[1])
    outputs = []
    for position in range(x.shape[1]):
        gates = x[:, position] @ weights.T + hidden @ recurrent.T + bias
        enters, forgets, candidate, leaves = gates.chunk(4, dim=1)
        cell = forgets.sigmoid() * cell + enters.sigmoid() * candidate.tanh()
        hidden = leaves.sigmoid() * cell.tanh()
        outputs.append(hidden)
    return torch.stack(outputs, dim=1)


def recurrent_model(of):
    x = of["embedding.weight"][of.input.long()] * of.dropouts["dropout"]
    for number in range(of.count(".weight_ih")):
        x = lstm(x, of, f"lstm.{number}") * of.dropouts[f"lstm.{number}.dropout"]
    return of.linear(x, "projection")


def unet(of):
    def double_convolution(x, name):
        for number in (1, 2):
            x = functional.conv2d(x, of[f"{name}.conv{number}.weight"], padding=1)
            x = functional.relu(functional.batch_norm(
                x, None, None, of[f"{name}.bn{number}.weight"], of[f"{name}.bn{number}.bias"],
                training=True))
        return x

    levels = []
    x = of.input
    depth = of.count(".up.weight")
    for level in range(depth):
        x = double_convolution(functional.max_pool2d(x, 2) if levels else x, f"down.{level}")
        levels.append(x)
    x = double_convolution(functional.max_pool2d(x, 2), "bottom")
    for level in reversed(range(depth)):
        x = functional.conv_transpose2d(x, of[f"up.{level}.up.weight"], stride=2)
        x = double_convolution(torch.cat([levels[level], x], dim=1), f"up.{level}")
    return functional.conv2d(x, of["head.weight"], of["head.bias"])


def loss_of(prediction, of, kind):
    if kind == "mse":
        return functional.mse_loss(prediction, of.target)
    return functional.cross_entropy(prediction.reshape(-1, prediction.shape[-1]),
                                    of.target.long().ravel(), ignore_index=IGNORED)


def closeness(got, want, rounding=1e-3):
    """A bias in front of a normalisation has no gradient but for rounding."""
    got = torch.tensor(got, dtype=torch.float32).reshape(want.shape)
    return ((got - want).abs().max() / max(want.abs().max(), rounding)).item()


@pytest.mark.parametrize(
    "arguments, network, ignores",
    [(["gpt-tiny"], transformer, False), (["gpt-tiny", "tied"], transformer, False),
     (["llama-tiny"], llama, False), (["mixtral", "untied", MIXTRAL], llama, False),
     (["bert", "untied", "layers=2+hidden=32+heads=2+sequence=12+vocabulary=50"], bert, False),
     (["vit", "untied", "layers=2+hidden=32+heads=2+image=48"], vit, False),
     (["convnext", "untied", "layers=1+hidden=16+image=32"], convnext, False),
     (["mobilenetv3-small", "untied", "image=64"], mobilenetv3, False),
     (["rnn-lm-tiny"], recurrent_model, True), (["unet-tiny"], unet, False)],
    ids=["gpt", "gpt-tied", "llama", "mixtral", "bert", "vit", "convnext", "mobilenetv3", "rnn-lm", "unet"],
)
def test_a_step_is_pytorchs(build, arguments, network, ignores):
    model, *head = arguments
    step = json.loads(run([build.program("onnx-training-step"), model, BATCH, *head]).out)
    of = Numbers(step)
    assert (of.target == IGNORED).any().item() == ignores
    prediction = network(of)
    loss = loss_of(prediction, of, step["loss"])
    loss.backward()
    assert closeness(step["prediction"]["values"], prediction.detach()) < TOLERANCE
    assert step["value"] == pytest.approx(loss.item(), rel=TOLERANCE)
    for name, fact in step["parameters"].items():
        # Behind a layer scale of 1e-6 gradients are as small.
        rounding = 1e-12 if model == "convnext" else 1e-3
        assert closeness(fact["gradient"], of[name].grad, rounding) < TOLERANCE, name
