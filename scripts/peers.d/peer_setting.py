# What all measurements share: the programs, the cores, the peers, and ratios of pairs.
import json
import os
import pathlib
from dataclasses import dataclass

from processes import Failure, json_of


@dataclass(frozen=True)
class Peer:
    """A Python library that is measured: an interpreter, and the folder it takes its packages from."""

    python: str
    packages: pathlib.Path | None = None

    def environment(self):
        """What its process gets. OpenMP's variables would bind or limit the sides differently."""
        own = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_"))}
        return own | ({"PYTHONPATH": str(self.packages)} if self.packages else {})


@dataclass
class Setting:
    """What all measurements share."""

    binaries: pathlib.Path
    cores: list
    quick: bool
    torches: list  # of Peer; the first has the targets
    onnxruntime: Peer
    has_bf16: bool  # whether the processor has products of such numbers
    say: object  # a function that prints a message on progress

    @property
    def peers(self):
        return str(self.binaries / "parbench-peers")

    def core_sets(self):
        """One core and two, as far as there are so many."""
        return [self.cores[:count] for count in (1, 2) if count <= len(self.cores)]


def cores_text(cores):
    return f"{len(cores)} core{'s' if len(cores) > 1 else ''}"


def ratio_fields(ratio):
    if ratio is None:
        raise Failure("there are no pairs to compare, or a side took no time")
    interval = ratio.get("interval") or {"low": None, "high": None, "confidence": None}
    return {"value": ratio["value"], **interval}


def paired_ratio(setting, peer, ours):
    """Median of peer/ours over pairs with its interval, as reports/statistics/statistics.h defines it."""
    pairs = json.dumps({"peer": peer, "ours": ours})
    return ratio_fields(json_of([setting.peers, "ratio"], pairs))
