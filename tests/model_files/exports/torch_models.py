"""Small networks of PyTorch's own layers: a function each that returns the module and its sample inputs by
name."""
import torch
from torch import nn
from torch.nn import functional


class UNetBlock(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(2, inputs), nn.GroupNorm(2, outputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x):
        y = self.conv1(functional.silu(self.norm1(x)))
        return self.skip(x) + self.conv2(functional.silu(self.norm2(y)))


class UNet(nn.Module):
    """Group norms, an upsampling, and a skip connection."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.down1, self.down2 = UNetBlock(8, 8), UNetBlock(8, 16)
        self.pool = nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.up = UNetBlock(24, 8)
        self.last = nn.Conv2d(8, 3, 1)

    def forward(self, image):
        high = self.down1(self.first(image))
        low = self.down2(self.pool(high))
        up = functional.interpolate(low, scale_factor=2, mode="nearest")
        return self.last(self.up(torch.cat([high, up], 1)))


class Squeeze(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, 4, 1), nn.Conv2d(4, channels, 1)

    def forward(self, x):
        gate = functional.adaptive_avg_pool2d(x, 1)
        return x * functional.hardsigmoid(self.up(functional.relu(self.down(gate))))


class Inverted(nn.Module):
    """MobileNetV3's block."""

    def __init__(self, inputs, wide, outputs, stride):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(inputs, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.Hardswish(),
            nn.Conv2d(wide, wide, 5, stride, 2, groups=wide, bias=False), nn.BatchNorm2d(wide),
            nn.Hardswish(), Squeeze(wide), nn.Conv2d(wide, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.is_residual else self.layers(x)


class MobileNetV3(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish(),
            Inverted(8, 16, 8, 1), Inverted(8, 24, 16, 2))
        self.head = nn.Sequential(nn.Linear(16, 24), nn.Hardswish(), nn.Linear(24, 5))

    def forward(self, image):
        return self.head(functional.adaptive_avg_pool2d(self.features(image), 1).flatten(1))


class Tagger(nn.Module):
    """A bidirectional LSTM over words."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 12)
        self.cells = nn.LSTM(12, 8, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(16, 7)

    def forward(self, words):
        return self.tags(self.cells(self.words(words))[0])


class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.GRU(6, 8, batch_first=True)
        self.last = nn.Linear(8, 5)

    def forward(self, values):
        return self.last(self.cells(values)[0][:, -1])


class Detector(nn.Module):
    """A head as YOLO's: boxes and classes of two sizes of cells, one after the other."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.SiLU())
        self.deep = nn.Sequential(nn.Conv2d(8, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.SiLU())
        self.pool = nn.MaxPool2d(5, 1, 2)
        self.join = nn.Conv2d(24, 8, 1)
        self.heads = nn.ModuleList([nn.Conv2d(8, 21, 1), nn.Conv2d(16, 21, 1)])

    def forward(self, image):
        high = self.stem(image)
        low = self.pool(self.deep(high))
        high = self.join(torch.cat([high, functional.interpolate(low, scale_factor=2)], 1))
        cells = torch.cat([head(x).flatten(2) for head, x in zip(self.heads, (high, low))], 2)
        boxes, classes = cells.split((16, 5), 1)
        places = boxes.reshape(boxes.shape[0], 4, 4, -1).softmax(2) * torch.arange(4.0).view(1, 1, 4, 1)
        return torch.cat([places.sum(2), classes.sigmoid()], 1)


def unet():
    return UNet(), {"image": torch.randn(2, 3, 16, 16)}


def mobilenetv3():
    return MobileNetV3(), {"image": torch.randn(2, 3, 32, 32)}


def lstm_tagger():
    return Tagger(), {"words": torch.randint(0, 50, (2, 6))}


def gru():
    return Gru(), {"values": torch.randn(2, 5, 6)}


def detector():
    return Detector(), {"image": torch.randn(2, 3, 32, 32)}


MODELS = {function.__name__: function for function in (unet, mobilenetv3, lstm_tagger, gru, detector)}
