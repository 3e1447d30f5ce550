# Compares several devices with PyTorch's DistributedDataParallel over gloo: a training step with a
# divided batch, and an all-reduce. Each device and process has one core.
import contextlib
import pathlib
from dataclasses import dataclass

from alternation import Program, alternate, check_equal
from processes import Failure, StepServer, on_cores
from rows import Row, duration, median
from peer_setting import Peer
from ratios import paired_ratio

HERE = pathlib.Path(__file__).resolve().parent
DEVICES = 2
OURS, GLOO, COPIES = "parbench", "gloo", "copies"


class Together:
    """Processes that run their steps concurrently, each on its own core."""

    def __init__(self, commands, environment):
        self.servers = [StepServer(command, environment) for command in commands]
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        for server in self.servers:
            self.stack.enter_context(server)
        return self

    def __exit__(self, *failure):
        return self.stack.__exit__(*failure)

    def answer(self):
        """Returns the first process's answer once all are ready."""
        return [server.answer() for server in self.servers][0]

    def step(self):
        """Runs a step in all processes. Returns the seconds of the slowest one."""
        for server in self.servers:
            server.send()
        return max(server.answer() for server in self.servers)


@dataclass
class Copies:
    """A program in one independent process for each core."""

    cores: list
    command: list

    def start(self):
        commands = [on_cores([core], self.command) for core in self.cores]
        return Together(commands, Peer("").environment())


def cores_of(setting):
    if len(setting.cores) < DEVICES:
        raise Failure(f"{DEVICES} devices need as many cores, this process may use one")
    return setting.cores[:DEVICES]


def gloo(setting, cores, *words):
    """Returns a PyTorch program with a process for each core."""
    torch = setting.torches[0]
    script = [torch.python, "-B", HERE / "torch_processes.py", "--processes", DEVICES, *words]
    return Program(on_cores(cores, script), torch.environment())


def row(setting, name, what, seconds, other, **target):
    """Returns a row with another program's time relative to parbench's, from pairs."""
    return Row(
        name,
        what,
        duration(median(seconds[OURS])),
        duration(median(seconds[other])),
        **paired_ratio(setting, seconds[other], seconds[OURS]),
        **target,
        details={"ours_seconds": seconds[OURS], "peer_seconds": seconds[other]},
    )


def data_parallel(setting):
    """Compares ResNet-50's step on a divided batch: parbench, PyTorch, and two halves without communication."""
    cores = cores_of(setting)
    batch, image, rounds = (4, 32, 7) if setting.quick else (24, 128, 11)
    what = f"ResNet-50 step, batch {DEVICES}×{batch // DEVICES}, {image}×{image}, {DEVICES} devices"
    setting.say(what)
    words = ["--batch", batch, "--image", image]
    ours = [setting.peers, "train"]
    programs = {
        OURS: Program(on_cores(cores, [*ours, *words, "--devices", DEVICES]), Peer("").environment()),
        GLOO: gloo(setting, cores, *words),
        COPIES: Copies(cores, [*ours, "--batch", batch // DEVICES, "--image", image]),
    }
    ready, seconds = alternate(setting, programs, rounds)
    check_equal(ready, "parameters", ready[OURS]["parameters"])
    check_equal(ready, "threads", 1)
    peer = ready[GLOO]["name"]
    yield row(setting, "data-parallel/gloo", f"{what}: {peer} / parbench", seconds, GLOO, at_least=1.5)
    yield row(
        setting,
        "data-parallel/copies",
        f"{what}: without communication / parbench",
        seconds,
        COPIES,
        at_least=0.9,
    )


def all_reduce(setting):
    """Compares the ring with gloo's all-reduce."""
    cores = cores_of(setting)
    size, rounds = (1 << 20, 7) if setting.quick else (1 << 26, 21)
    what = f"all-reduce of {size >> 20} MiB between {DEVICES} devices"
    setting.say(what)
    command = [setting.peers, "all-reduce", "--bytes", size, "--devices", DEVICES]
    programs = {
        OURS: Program(on_cores(cores, command), Peer("").environment()),
        GLOO: gloo(setting, cores, "--bytes", size),
    }
    ready, seconds = alternate(setting, programs, rounds)
    check_equal(ready, "bytes", size)
    check_equal(ready, "threads", 1)
    peer = ready[GLOO]["name"]
    yield row(setting, "all-reduce/gloo", f"{what}: {peer} / parbench", seconds, GLOO, at_least=2.0)
