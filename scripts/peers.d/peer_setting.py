# Settings of all measurements: the programs, the cores and the peers.
import os
import pathlib
from dataclasses import dataclass

LIB = pathlib.Path(__file__).resolve().parents[1] / "lib"


@dataclass(frozen=True)
class Peer:
    """A Python library that is measured: an interpreter, and the folder of its packages."""

    python: str
    packages: pathlib.Path | None = None

    def environment(self):
        """Returns the process's environment without OpenMP's variables, which could bind or limit one side."""
        own = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_"))}
        return own | ({"PYTHONPATH": f"{self.packages}:{LIB}"} if self.packages else {})


@dataclass
class Setting:
    """Settings of all measurements."""

    binaries: pathlib.Path
    cores: list
    quick: bool
    torches: list  # list of Peer; targets are for the first
    onnxruntime: Peer
    has_bf16: bool  # whether the processor supports products of bf16 numbers
    say: object  # a function that prints a progress message

    @property
    def peers(self):
        return str(self.binaries / "parbench-peers")

    def core_sets(self):
        """Returns sets of one and two cores, as far as available."""
        return [self.cores[:count] for count in (1, 2) if count <= len(self.cores)]


def cores_text(cores):
    return f"{len(cores)} core{'s' if len(cores) > 1 else ''}"
