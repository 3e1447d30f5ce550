# ResNet-50 in PyTorch and its training step, implemented here because torchvision may be missing.
#
# This is torchvision's variant: the stride of a bottleneck is in its 3x3 convolution.
from contextlib import nullcontext

import torch
from torch import flatten, nn

CLASSES = 1000


def conv_and_norm(inputs, outputs, kernel, stride=1):
    return [
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
    ]


class Bottleneck(nn.Module):
    """1x1 to `width` channels, 3x3, 1x1 to four times as many, and the shortcut."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.residual = nn.Sequential(
            *conv_and_norm(inputs, width, 1),
            nn.ReLU(inplace=True),
            *conv_and_norm(width, width, 3, stride),
            nn.ReLU(inplace=True),
            *conv_and_norm(width, outputs, 1),
        )
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(*conv_and_norm(inputs, outputs, 1, stride))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.residual(x) + self.shortcut(x))


def layer(inputs, width, blocks, stride):
    first = Bottleneck(inputs, width, stride)
    return nn.Sequential(first, *(Bottleneck(4 * width, width, 1) for _ in range(blocks - 1)))


class ResNet50(nn.Module):
    def __init__(self, classes=CLASSES):
        super().__init__()
        self.stem = nn.Sequential(
            *conv_and_norm(3, 64, 7, 2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
        )
        self.layers = nn.Sequential(
            layer(64, 64, 3, 1),
            layer(256, 128, 4, 2),
            layer(512, 256, 6, 2),
            layer(1024, 512, 3, 2),
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(2048, classes)

    def forward(self, x):
        return self.fc(flatten(self.pool(self.layers(self.stem(x))), 1))


def image_step(model, images, target, wrap=None, mixed=False):
    """Returns a step like that of parbench's pipeline/single, and the model's number of parameters. The
    step returns no loss, because initial values differ. `wrap`: replaces the model's module, such as
    torch.compile. `mixed`: products in bf16 by autocast, with f32 parameters."""
    parameters = sum(parameter.numel() for parameter in model.parameters())
    forward = wrap(model) if wrap else model
    mean_squared_error = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16) if mixed else nullcontext():
            loss = mean_squared_error(forward(images), target)
        loss.backward()
        optimizer.step()

    return step, parameters


def training_step(batch, image, wrap=None, device="cpu", dtype=torch.float32, mixed=False):
    """Returns `image_step` of ResNet-50 with inputs drawn in advance."""
    torch.manual_seed(1)
    to = {"device": device, "dtype": dtype}
    model = ResNet50().to(**to, memory_format=torch.channels_last).train()
    images = torch.randn(batch, 3, image, image).to(**to, memory_format=torch.channels_last)
    labels = torch.randint(CLASSES, (batch,))
    target = nn.functional.one_hot(labels, CLASSES).to(**to)
    return image_step(model, images, target, wrap, mixed)
