# Two ranks of one core each under mpirun: compares all-reduces with MPI_Allreduce and gloo, and a training
# step with DistributedDataParallel over gloo. Measures the overhead of mpirun for one process.
from alternation import Program, alternate, check_equal
from divided import DEVICES, GLOO, OURS, cores_of, gloo, row
from processes import on_cores
from peer_setting import Peer

LOOP = "MPI_Allreduce"
PLAIN = "plain"
# Bytes of an all-reduce, consecutive calls per execution, and executions per step.
SIZES = ((1 << 10, 64, 50), (1 << 20, 10, 4), (1 << 26, 1, 1))


def mpirun(cores, ranks, command):
    """Returns the command that runs the ranks on these cores, to which they bind themselves."""
    return on_cores(cores, ["mpirun", "--bind-to", "none", "-n", ranks, *command])


def environment():
    """Returns the environment of mpirun, which root must permit twice."""
    asked = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return Peer("").environment() | asked


def size_text(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def all_reduce_over_ranks(setting):
    """Compares consecutive all-reduces of three sizes, in one process for each core."""
    cores = cores_of(setting)
    rounds = 7 if setting.quick else 21
    for size, calls, executions in SIZES[:1] if setting.quick else SIZES:
        what = f"all-reduce of {size_text(size)} between {DEVICES} ranks, {calls} in a row"
        setting.say(what)
        ours = [setting.peers, "all-reduce", "--bytes", size, "--calls", calls]
        ours += ["--executions", executions]
        loop = [setting.binaries / "parbench-mpi-loop", size, calls, executions]
        programs = {
            OURS: Program(mpirun(cores, DEVICES, ours), environment()),
            LOOP: Program(mpirun(cores, DEVICES, loop), environment()),
            GLOO: gloo(setting, cores, "--bytes", size, "--calls", calls),
        }
        ready, seconds = alternate(setting, programs, rounds)
        check_equal(ready, "bytes", size)
        check_equal(ready, "threads", 1)
        for other, wanted in ((LOOP, 0.97), (GLOO, 1.0)):
            peer = ready[other].get("name", other)
            name = f"rank-all-reduce/{size_text(size).replace(' ', '')}/{other}"
            yield row(setting, name, f"{what}: {peer} / parbench", seconds, other, at_least=wanted)


def data_parallel_over_ranks(setting):
    """Compares ResNet-50's step on a divided batch; both sides run one process for each core."""
    cores = cores_of(setting)
    batch, image, rounds = (4, 32, 7) if setting.quick else (24, 128, 11)
    what = f"ResNet-50 step, batch {DEVICES}×{batch // DEVICES}, {image}×{image}, {DEVICES} ranks"
    setting.say(what)
    words = ["--batch", batch, "--image", image]
    programs = {
        OURS: Program(mpirun(cores, DEVICES, [setting.peers, "train", *words]), environment()),
        GLOO: gloo(setting, cores, *words),
    }
    ready, seconds = alternate(setting, programs, rounds)
    check_equal(ready, "parameters", ready[OURS]["parameters"])
    check_equal(ready, "threads", 1)
    what = f"{what}: {ready[GLOO]['name']} / parbench"
    yield row(setting, "rank-data-parallel/gloo", what, seconds, GLOO, at_least=1.3)


def one_rank(setting):
    """Compares a step on one core under mpirun as the only rank with one without mpirun."""
    cores = setting.cores[:1]
    batch, image, rounds = (2, 32, 7) if setting.quick else (4, 64, 61)
    what = f"ResNet-50 step, batch {batch}, {image}×{image}, 1 core"
    setting.say(what)
    command = [setting.peers, "train", "--batch", batch, "--image", image]
    programs = {
        OURS: Program(mpirun(cores, 1, command), environment()),
        PLAIN: Program(on_cores(cores, command), environment()),
    }
    ready, seconds = alternate(setting, programs, rounds)
    check_equal(ready, "ranks", 1)
    yield row(
        setting, "one-rank", f"{what}: plain / under mpirun -n 1", seconds, PLAIN, at_least=0.99
    )
