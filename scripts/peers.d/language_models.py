# parbench's gpt, llama and rnn-lm in PyTorch, with their default sizes, and their training steps: SGD
# without clipping on the mean cross-entropy of the next token.
#
# Initial values are distributed as in parbench, so that the first losses can be compared.
from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

IGNORED = -1  # target of padding


class Block(nn.Module):
    """Pre-normalised attention and a perceptron, each beside a residual connection."""

    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.c_attn, self.c_proj = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.mlp = nn.Sequential(
            nn.Linear(hidden, 4 * hidden),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * hidden, hidden),
        )

    def attention(self, x):
        parts = self.c_attn(x).split(x.shape[-1], dim=-1)
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return attended.transpose(1, 2).flatten(-2)

    def forward(self, x):
        x = x + self.c_proj(self.attention(self.ln_1(x)))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    """A decoder with learned positions and a separate head, without dropout."""

    sequence, vocabulary = 128, 8192

    def __init__(self, hidden=256, layers=4, heads=4):
        super().__init__()
        self.wte = nn.Embedding(self.vocabulary, hidden)
        self.wpe = nn.Parameter(torch.empty(self.sequence, hidden))
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe, std=0.02)
        self.blocks = nn.Sequential(*(Block(hidden, heads) for _ in range(layers)))
        self.ln_f = nn.LayerNorm(hidden)
        self.lm_head = nn.Linear(hidden, self.vocabulary)

    def forward(self, tokens):
        return self.lm_head(self.ln_f(self.blocks(self.wte(tokens) + self.wpe)))


def turned(x, cosines, sines):
    """Applies rotary positions to a tensor {batch, heads, sequence, size}."""
    first, second = x.chunk(2, dim=-1)
    return x * cosines + torch.cat([-second, first], dim=-1) * sines


class LlamaBlock(nn.Module):
    """Attention with shared heads of keys and values, and a gated perceptron."""

    def __init__(self, hidden, heads, kv_heads, expanded):
        super().__init__()
        self.size = hidden // heads
        self.parts = [heads * self.size, kv_heads * self.size, kv_heads * self.size]
        self.shared = heads // kv_heads
        self.norm_1, self.norm_2 = nn.RMSNorm(hidden, 1e-5), nn.RMSNorm(hidden, 1e-5)
        self.qkv = nn.Linear(hidden, sum(self.parts), bias=False)
        self.o = nn.Linear(hidden, hidden, bias=False)
        self.gate_up = nn.Linear(hidden, 2 * expanded, bias=False)
        self.down = nn.Linear(expanded, hidden, bias=False)

    def attention(self, x, cosines, sines):
        parts = self.qkv(x).split(self.parts, dim=-1)
        query, key, value = (part.unflatten(-1, (-1, self.size)).transpose(1, 2) for part in parts)
        key = turned(key, cosines, sines)
        key, value = (part.repeat_interleave(self.shared, dim=1) for part in (key, value))
        attended = functional.scaled_dot_product_attention(
            turned(query, cosines, sines), key, value, is_causal=True
        )
        return self.o(attended.transpose(1, 2).flatten(-2))

    def perceptron(self, x):
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(functional.silu(gate) * up)

    def forward(self, x, cosines, sines):
        x = x + self.attention(self.norm_1(x), cosines, sines)
        return x + self.perceptron(self.norm_2(x))


class Llama(nn.Module):
    """A decoder with RMS norms and rotary positions, without biases."""

    sequence, vocabulary = 128, 8192

    def __init__(self, hidden=256, layers=4, heads=4, kv_heads=2, expanded=704):
        super().__init__()
        self.embedding = nn.Embedding(self.vocabulary, hidden)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            LlamaBlock(hidden, heads, kv_heads, expanded) for _ in range(layers)
        )
        self.norm = nn.RMSNorm(hidden, 1e-5)
        self.head = nn.Linear(hidden, self.vocabulary, bias=False)
        half = hidden // heads // 2
        angles = torch.outer(torch.arange(self.sequence), 10000 ** (-torch.arange(half) / half))
        self.register_buffer("cosines", angles.cos().repeat(1, 2))
        self.register_buffer("sines", angles.sin().repeat(1, 2))

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.cosines, self.sines)
        return self.head(self.norm(x))


class RnnLm(nn.Module):
    """The medium model of Zaremba, Sutskever, Vinyals 2014."""

    sequence, vocabulary = 35, 10000

    def __init__(self, hidden=650, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(self.vocabulary, hidden)
        nn.init.normal_(self.embedding.weight, std=0.03)
        self.lstm = nn.LSTM(hidden, hidden, layers, batch_first=True, dropout=0.5)
        self.dropout = nn.Dropout(0.5)
        self.projection = nn.Linear(hidden, self.vocabulary)

    def forward(self, tokens):
        states, _ = self.lstm(self.dropout(self.embedding(tokens)))
        return self.projection(self.dropout(states))


MODELS = {"gpt": Gpt, "llama": Llama, "rnn-lm": RnnLm}


@dataclass
class Work:
    """The inputs and settings of a step."""

    lengths: list  # positions of each sample without padding
    bf16: bool
    compiled: bool


def parameter_count(model):
    """Returns the number of parameters without the second bias of LSTMs, which is only added to the first."""
    named = model.named_parameters()
    return sum(parameter.numel() for name, parameter in named if "bias_hh" not in name)


def drawn_tokens(vocabulary, sequence, lengths, padding):
    tokens = torch.randint(vocabulary, (len(lengths), sequence))
    positions = torch.arange(sequence)
    return torch.where(positions < torch.tensor(lengths)[:, None], tokens, padding)


def training_step(name, work):
    """Returns a step like that of parbench's pipeline/single, which returns its loss, and the model's
    number of parameters. bf16 is mixed precision as in parbench: f32 parameters are rounded in each
    step."""
    torch.manual_seed(1)
    model = MODELS[name]().train()
    forward = torch.compile(model) if work.compiled else model
    tokens = drawn_tokens(model.vocabulary, model.sequence, work.lengths, 0)
    targets = drawn_tokens(model.vocabulary, model.sequence, work.lengths, IGNORED).flatten()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16) if work.bf16 else nullcontext():
            logits = forward(tokens)
            loss = functional.cross_entropy(logits.flatten(0, 1), targets, ignore_index=IGNORED)
        loss.backward()
        optimizer.step()
        return loss

    return step, parameter_count(model)
