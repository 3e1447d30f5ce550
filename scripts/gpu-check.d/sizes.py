# Sizes of the work that parbench and PyTorch both do: those of the targets on a GPU, and minimal ones
# for a trial on a CPU.
from dataclasses import dataclass


@dataclass(frozen=True)
class Convolutions:
    """Convolutions over square images of these sizes, each by the number in its target's name."""

    batch: int
    images: dict


@dataclass(frozen=True)
class Sizes:
    """Sizes of all comparisons."""

    n: int  # matrices of products are n×n
    products: int  # number of products
    copied_n: int  # n of copied matrices; their number is `copies`
    copies: int
    branches: int  # convolutions per execution
    convolutions: dict  # convolutions by preset
    batch: int  # of the training step
    image: int  # height and width of the step's images

    @property
    def copied_bytes(self):
        return 4 * self.copied_n**2 * self.copies


LARGE = Sizes(
    n=8192,
    products=4,
    copied_n=8192,
    copies=4,
    branches=20,
    convolutions={
        "seed": Convolutions(128, {128: 128}),
        "quick": Convolutions(4, {8: 8, 32: 32, 128: 128}),
    },
    batch=120,
    image=128,
)
TINY = Sizes(
    n=128,
    products=2,
    copied_n=64,
    copies=2,
    branches=2,
    convolutions={
        "seed": Convolutions(1, {128: 16}),
        "quick": Convolutions(1, {8: 4, 32: 8, 128: 16}),
    },
    batch=2,
    image=32,
)


def sizes_for(setting):
    return TINY if setting.is_trial else LARGE


def square(side):
    return f"{side}×{side}"


def images_text(count, side):
    """Returns a text for users: "4 images of 32×32"."""
    return f"{count} image{'s' if count > 1 else ''} of {square(side)}"


def bytes_text(count):
    """Returns a text for users, without fractions: "1 GiB"."""
    units = ["B", "KiB", "MiB", "GiB"]
    while count >= 1024 and len(units) > 1:
        count //= 1024
        units.pop(0)
    return f"{count} {units[0]}"
