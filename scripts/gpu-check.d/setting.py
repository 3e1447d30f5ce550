# The setting of all steps: the folder, the devices, the time.
import json
import pathlib
import sys
import time
from dataclasses import asdict, dataclass, field, replace

from programs import run_program

# Element types in the order of measurement, with their weights in sharing the time. Training usually
# uses bf16.
DTYPE_WEIGHTS = {"bf16": 95, "tf32": 30, "f32": 25}


def portions(weights):
    """Yields items in order, each with its share of the remaining time: its weight among the
    remaining ones, so that later items inherit unused time."""
    left = sum(weights.values())
    for item, weight in weights.items():
        yield item, weight / left
        left -= weight


@dataclass
class Setting:
    """Made once by check.py and passed to the process of each step as JSON."""

    root: str  # the unpacked bundle
    device: str  # device of the scenarios
    pair: str  # two devices of similar size, for scenarios with several
    dtypes: list  # in the order of DTYPE_WEIGHTS
    is_trial: bool  # whether sizes are tiny and figures mean nothing, as without a GPU
    autotune: bool  # whether parbench and the device support the flag
    library_path: str
    plain_environment: dict  # without `library_path`, for programs with their own libraries
    torch_python: str  # the interpreter that may have PyTorch
    torch_address: str  # address of PyTorch's process (torch_client.py)
    torch_process: int  # its process id
    torch_began: float  # when it was started, on the clock of time.monotonic()
    sanitizer: str  # path of Compute Sanitizer; empty if it is not used
    sanitizer_missing: str  # why it is not used
    ncu: str  # the same for Nsight Compute
    ncu_missing: str
    scratch: str  # folder for files that the steps share
    torch_missing: str = ""  # why PyTorch is missing, as far as known
    failed_tests: dict = field(default_factory=dict)  # names by program, from earlier steps
    deadline: float = 0  # deadline of the step on the clock of time.monotonic()

    @property
    def on_gpu(self):
        return self.device.startswith("cuda")

    @property
    def cache(self):
        """Folder in which parbench stores measurements for later runs."""
        return f"{self.scratch}/cache"

    @property
    def torch_device(self):
        return "cuda" if self.on_gpu else "cpu"

    @property
    def tests(self):
        """Folder of the test executables."""
        return pathlib.Path(self.root) / "libexec/tests"

    @property
    def peers(self):
        """Program that computes medians and their intervals."""
        return f"{self.root}/libexec/parbench-peers"

    def left(self):
        """Returns the seconds until the step is ended."""
        return self.deadline - time.monotonic()

    def with_portion(self, portion, minimum=0):
        """Returns the setting with a share of the remaining time, if possible at least `minimum` seconds."""
        seconds = min(max(portion * self.left(), minimum), self.left())
        return replace(self, deadline=time.monotonic() + seconds)

    def say(self, text):
        # A single write, because threads call this concurrently.
        sys.stderr.write(f"gpu-check: {text}\n")
        sys.stderr.flush()

    def parbench(self, flags, report, environment=None, launcher=()):
        """Runs parbench, with a launcher if given. Returns its report without Google Benchmark's
        rows (None if there is none), and how the program ended."""
        path = pathlib.Path(report)
        command = [*launcher, f"{self.root}/libexec/parbench", "--quiet", "--report", path, *flags]
        ended = run_program(command, self.left(), environment)
        try:
            return json.loads(path.read_text(encoding="utf-8"))["parbench"], ended
        except (OSError, ValueError):
            return None, ended


def to_json(setting):
    return json.dumps(asdict(setting))


def from_json(text):
    return Setting(**json.loads(text))


def flags_known(root, environment, on_gpu):
    """Returns whether parbench and the device support --autotune, and the supported element types."""
    parbench = f"{root}/libexec/parbench"
    text = run_program([parbench, "--help"], 20, environment).out
    dtypes = [dtype for dtype in DTYPE_WEIGHTS if on_gpu or dtype != "tf32"]
    line = next((line for line in text.splitlines() if line.strip().startswith("--dtype")), "f32")
    named = line.replace("|", " ").split()
    known = [dtype for dtype in dtypes if dtype in named]
    if not on_gpu and "bf16" in known:  # not all processors support it
        asked = ["--scenario", "matmul", "--devices", "cpu:0", "--n", "32", "--dtype", "bf16", "--dry-run"]
        if run_program([parbench, *asked], 20, environment).code != 0:
            known.remove("bf16")
    return on_gpu and "--autotune" in text, known
