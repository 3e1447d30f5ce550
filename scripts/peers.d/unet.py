# parbench's U-Net in PyTorch, with its default sizes, and its training step.
import torch
from torch import nn

from resnet50 import image_step

CLASSES = 2


def double_convolution(inputs, outputs):
    layers = []
    for channels in (inputs, outputs):
        layers += [
            nn.Conv2d(channels, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
        ]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """An encoder, and a decoder that reads the encoder's images of the same size."""

    def __init__(self, channels=64, levels=4, classes=CLASSES):
        super().__init__()
        widths = [channels << level for level in range(levels + 1)]
        self.down = nn.ModuleList(map(double_convolution, [3, *widths], widths))
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(2 * width, width, 2, stride=2, bias=False)
            for width in widths[-2::-1]
        )
        self.join = nn.ModuleList(double_convolution(2 * width, width) for width in widths[-2::-1])
        self.head = nn.Conv2d(channels, classes, 1)

    def forward(self, x):
        passed = []
        for level, down in enumerate(self.down):
            x = down(self.pool(x) if level else x)
            passed.append(x)
        for up, join, skipped in zip(self.up, self.join, passed[-2::-1]):
            x = join(torch.cat([skipped, up(x)], dim=1))
        return self.head(x)


def training_step(batch, image, wrap=None, mixed=False):
    torch.manual_seed(1)
    model = UNet().to(memory_format=torch.channels_last).train()
    images = torch.randn(batch, 3, image, image).to(memory_format=torch.channels_last)
    target = torch.randn(batch, CLASSES, image, image).to(memory_format=torch.channels_last)
    return image_step(model, images, target, wrap, mixed)
