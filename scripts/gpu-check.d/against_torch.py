# Compares parbench with PyTorch on the same device, one element type after the other, in rounds:
# parbench, PyTorch, PyTorch, parbench, …
#
# parbench's times come from its report, one process per round; PyTorch's process persists. A round
# gives each side's median; the rounds give the ratio with its interval.
import tempfile
import time
from dataclasses import dataclass, field

from cases import cases_of, fastest
from figures import figure, missing
from kernels_used import doubts, products
from processes import Failure
from ratios import paired_ratio
from rows import duration, median
from setting import DTYPE_WEIGHTS, portions
from sizes import sizes_for
from torch_client import Torch

MAX_ROUNDS = 7
# The first process of a type measures its kernels, which takes longer than sampling a whole model; later ones
# read the choices from the tuning cache. Each process still prepares the model, so rounds of training steps are
# long. Therefore there are fewer of them, with more samples each.
TRAINING_SECONDS = 2
TRAINING_SAMPLES = 30
AUTOTUNE = "--autotune"
# Keeps profilers out of timed processes (loading CUPTI takes seconds).
UNDISTURBED = ["--no-timeline"]


@dataclass
class Peer:
    """Work of PyTorch that a case of parbench is compared with."""

    name: str  # name of the figure
    strategy: str
    parameters: dict  # parameters of the case
    request: dict  # request for torch_server.py
    own: list = field(default_factory=list)  # medians, one per round
    theirs: list = field(default_factory=list)
    failure: str = None
    # doubts about the case's kernels in the latest round
    doubts: list = field(default_factory=list)
    products: list = field(default_factory=list)  # weight gradients by cuBLASLt in the latest round


@dataclass
class Comparison:
    """One run of parbench and the work that its cases are compared with."""

    dtype: str
    flags: list
    peers: list
    seconds: float = 0.6  # time for each case, and for PyTorch's samples, in a round
    cost: float = 0  # seconds of the latest round without preparing PyTorch's side

    def failed(self):
        return any(peer.failure for peer in self.peers)

    def give_up(self, reason):
        for peer in self.peers:
            peer.failure = peer.failure or reason


def request_of(work, **arguments):
    return {"work": work, "arguments": arguments}


def run_parbench(setting, comparison):
    """Returns the report of one run."""
    with tempfile.TemporaryDirectory() as folder:
        flags = [*comparison.flags, *UNDISTURBED, "--devices", setting.device]
        flags += ["--max-time", comparison.seconds]
        report, ended = setting.parbench(flags, f"{folder}/report.json")
    if report is None:
        raise Failure("parbench", f"{ended.how()}: {ended.last_words()}")
    return report


def own_median(setting, report, peer):
    found = cases_of(report, peer.strategy, **peer.parameters)
    if found:
        case = fastest(found)
        peer.doubts = doubts(case, setting.autotune) if setting.on_gpu else []
        peer.products = products(case)
        return case["statistics"]["median"]
    errors = [case.get("error", case["status"]) for case in report["cases"]]
    raise Failure("parbench measured no such case", errors[0] if errors else "it has none")


def own_side(setting, comparison):
    report = run_parbench(setting, comparison)
    return {peer.name: own_median(setting, report, peer) for peer in comparison.peers}


def their_side(torch, comparison):
    return {peer.name: torch.median(peer.request, comparison.seconds) for peer in comparison.peers}


def run_round(setting, torch, comparison, number):
    """Runs both sides once, in an order that alternates between rounds."""
    sides = [lambda: own_side(setting, comparison), lambda: their_side(torch, comparison)]
    order = [0, 1] if number % 2 == 0 else [1, 0]
    medians = {}
    for side in order:
        began = time.monotonic()
        medians[side] = sides[side]()
        if side == 0:
            sampling = comparison.seconds * len(comparison.peers)
            comparison.cost = time.monotonic() - began + sampling
    for peer in comparison.peers:
        peer.own.append(medians[0][peer.name])
        peer.theirs.append(medians[1][peer.name])


def figure_of(setting, peer, flags):
    """Returns the figure of a comparison so far."""
    if not peer.own:
        return missing(peer.name, peer.failure or "time")
    details = {"parbench": list(map(str, flags)), "torch": peer.request}
    details |= {"ours_seconds": peer.own, "peer_seconds": peer.theirs}
    if peer.products:
        details["kernels"] = peer.products
    if peer.failure:
        details["ended_early"] = peer.failure
    ratio = paired_ratio(setting, peer.theirs, peer.own)
    return figure(peer.name, duration(median(peer.own)), duration(median(peer.theirs)), ratio, details)


def by_dtype(setting, comparisons):
    """Yields the comparisons of each element type, with its share of the remaining time."""
    weights = {dtype: DTYPE_WEIGHTS[dtype] for dtype in setting.dtypes}
    for dtype, portion in portions(weights):
        yield [one for one in comparisons if one.dtype == dtype], portion


def compare(setting, comparisons):
    """Runs rounds of one element type after the other while there is time; yields each comparison that has
    a further round, or has failed. A round that would not fit is not started. The first round of each may
    use the time of later types, because preparing a model takes equally long whatever its share."""
    with Torch(setting) as torch:
        for of_dtype, portion in by_dtype(setting, comparisons):
            part = setting.with_portion(portion)
            for number in range(MAX_ROUNDS):
                for comparison in of_dtype:
                    expected = comparison.cost or max(one.cost for one in comparisons)
                    left = (part if number else setting).left()
                    if comparison.failed() or left < 1.2 * expected + 1:
                        continue
                    setting.say(f"round {number + 1}: {comparison.peers[0].name}")
                    try:
                        run_round(setting, torch, comparison, number)
                    except Failure as failure:
                        comparison.give_up(str(failure))
                    yield comparison


def compared(setting, comparisons):
    """Yields a step's content, with the figures so far."""
    why = setting.torch_missing or "time"
    figures = {peer.name: missing(peer.name, why) for one in comparisons for peer in one.peers}
    yield {"figures": list(figures.values()), "problems": []}
    if setting.torch_missing:
        return
    for comparison in compare(setting, comparisons):
        for peer in comparison.peers:
            figures[peer.name] = figure_of(setting, peer, comparison.flags)
        found = [f"{peer.name}: {text}" for one in comparisons for peer in one.peers for text in peer.doubts]
        yield {"figures": list(figures.values()), "problems": found}


def with_autotune(setting):
    return [AUTOTUNE] if setting.autotune else []


def matmul(setting):
    """Compares products of large matrices with torch.mm."""
    n, count = sizes_for(setting).n, sizes_for(setting).products
    comparisons = []
    for dtype in setting.dtypes:
        flags = ["--scenario", "matmul", "--strategy", "alone", "--device", 0]
        flags += ["--n", n, "--count", count, "--dtype", dtype, *with_autotune(setting)]
        request = request_of("matmul", dtype=dtype, n=n, count=count)
        peer = Peer(f"matmul/{dtype}", "alone", {"n": n}, request)
        comparisons.append(Comparison(dtype, flags, [peer]))
    yield from compared(setting, comparisons)


def convolution(setting):
    """Compares the convolutions of scenario branch."""
    branches = sizes_for(setting).branches
    comparisons = []
    for kind, sizes in sizes_for(setting).convolutions.items():
        batch, images = sizes.batch, sizes.images
        for dtype in setting.dtypes:
            flags = ["--scenario", "branch", "--strategy", "one-stream", "--branches", branches]
            flags += ["--batch", batch, "--image", ",".join(map(str, images.values()))]
            flags += ["--dtype", dtype, *with_autotune(setting)]
            peers = [
                Peer(
                    f"convolution/{dtype}/{kind}-{name}",
                    "one-stream",
                    {"batch": batch, "image": image},
                    request_of("convolutions", dtype=dtype, batch=batch, image=image, branches=branches),
                )
                for name, image in images.items()
            ]
            comparisons.append(Comparison(dtype, flags, peers, 0.3))
    yield from compared(setting, comparisons)


def training_steps(setting, kind):
    batch, image = sizes_for(setting).batch, sizes_for(setting).image
    for dtype in setting.dtypes:
        flags = ["--scenario", "pipeline", "--strategy", "single", "--model", "resnet50"]
        flags += ["--batch", batch, "--image", image, "--dtype", dtype, *with_autotune(setting)]
        flags += ["--min-samples", TRAINING_SAMPLES]
        request = request_of(
            "training_step", dtype=dtype, batch=batch, image=image, compiled=kind == "compiled"
        )
        peer = Peer(f"training/{dtype}/{kind}", "single", {"batch": batch}, request)
        yield Comparison(dtype, flags, [peer], TRAINING_SECONDS)


def training(setting):
    """Compares ResNet-50's training step with PyTorch's."""
    yield from compared(setting, list(training_steps(setting, "eager")))


def training_compiled(setting):
    """Compares with torch.compile, which takes most of a minute before its first step."""
    yield from compared(setting, list(training_steps(setting, "compiled")))


def compile_ahead(setting):
    """Fills torch.compile's cache for the step above. If there is too little time, PyTorch's process
    continues to compile, and the next step waits for it."""
    with Torch(setting, ends_late=False) as torch:
        for comparison in training_steps(setting, "compiled"):
            for peer in comparison.peers:
                try:
                    torch.median(peer.request, 0)
                except Failure as failure:
                    setting.say(f"not compiled ahead: {failure}")
                yield {"compiled": peer.name}


def copy(setting):
    """Compares copies to page-locked host memory with the link: one plain copy of equally many bytes."""
    sizes = sizes_for(setting)
    n, count = sizes.copied_n, sizes.copies
    flags = ["--scenario", "overlap", "--strategy", "copy", "--direction", "d2h"]
    flags += ["--memory", "pinned", "--n", n, "--count", count]
    request = request_of("copy_to_host", dtype="f32", size=sizes.copied_bytes)
    peers = [Peer("copy/d2h/pinned", "copy", {"n": n}, request)]
    yield from compared(setting, [Comparison("f32", flags, peers)])
