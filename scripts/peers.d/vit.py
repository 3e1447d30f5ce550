# parbench's ViT in PyTorch, with its default sizes, and its training step.
import torch
from torch import nn
from torch.nn import functional

from resnet50 import CLASSES, image_step

PATCH = 16


class Block(nn.Module):
    """Pre-normalised attention and a perceptron, each beside a residual connection."""

    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(hidden, 1e-6), nn.LayerNorm(hidden, 1e-6)
        self.qkv, self.proj = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.mlp = nn.Sequential(
            nn.Linear(hidden, 4 * hidden), nn.GELU(), nn.Linear(4 * hidden, hidden)
        )

    def attention(self, x):
        parts = self.qkv(x).chunk(3, dim=-1)
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        attended = functional.scaled_dot_product_attention(query, key, value)
        return self.proj(attended.transpose(1, 2).flatten(-2))

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class VisionTransformer(nn.Module):
    def __init__(self, image, hidden=192, layers=12, heads=3, classes=CLASSES):
        super().__init__()
        self.patches = nn.Conv2d(3, hidden, PATCH, PATCH)
        self.token = nn.Parameter(torch.zeros(1, 1, hidden))
        self.positions = nn.Parameter(0.02 * torch.randn(1 + (image // PATCH) ** 2, hidden))
        self.blocks = nn.Sequential(*(Block(hidden, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(hidden, 1e-6), nn.Linear(hidden, classes)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], dim=1) + self.positions
        return self.head(self.norm(self.blocks(x)[:, 0]))


def training_step(batch, image, wrap=None, mixed=False):
    torch.manual_seed(1)
    model = VisionTransformer(image).train()
    images = torch.randn(batch, 3, image, image)
    target = functional.one_hot(torch.randint(CLASSES, (batch,)), CLASSES).float()
    return image_step(model, images, target, wrap, mixed)
