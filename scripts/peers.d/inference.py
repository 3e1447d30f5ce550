# ONNX files: their forward pass compared with onnxruntime, and the time to read and plan them. The
# files come from the onnx package; their weights are constants.
import pathlib

from alternation import Program, alternate, check_equal
from processes import Failure, StepServer, on_cores
from rows import Row, duration, median
from peer_setting import Peer, cores_text
from ratios import paired_ratio

HERE = pathlib.Path(__file__).resolve().parent
LIGHT_MODELS = "onnx/backend/test/data/light"
SQUEEZENET_OUTPUTS = 1000


def light_model(setting, name):
    path = setting.onnxruntime.packages / LIGHT_MODELS / f"light_{name}.onnx"
    if not path.exists():
        raise Failure(f"{path} is not there")
    return path


def squeezenet(setting):
    """Compares SqueezeNet's forward pass of one image."""
    rounds, executions = (7, 1) if setting.quick else (31, 10)
    words = ["--model", light_model(setting, "squeezenet"), "--executions", executions]
    peer = setting.onnxruntime
    for cores in setting.core_sets():
        what = f"SqueezeNet forward pass, batch 1, f32, {cores_text(cores)}"
        setting.say(what)
        script = [peer.python, "-B", HERE / "onnxruntime_step.py", "--threads", len(cores), *words]
        ours = [setting.peers, "infer", "--batch", 1, *words]
        programs = {
            "parbench": Program(on_cores(cores, ours), Peer("").environment()),
            "onnxruntime": Program(on_cores(cores, script), peer.environment()),
        }
        ready, seconds = alternate(setting, programs, rounds)
        check_equal(ready, "threads", len(cores))
        check_equal(ready, "outputs", SQUEEZENET_OUTPUTS)
        name = ready["onnxruntime"]["name"]
        yield Row(
            f"squeezenet/{name.replace(' ', '-')}/cores:{len(cores)}",
            f"{what}: parbench / {name}",
            duration(median(seconds["parbench"])),
            duration(median(seconds["onnxruntime"])),
            **paired_ratio(setting, seconds["parbench"], seconds["onnxruntime"]),
            at_most=1.1,
            details={label: {"ready": ready[label], "seconds": seconds[label]} for label in ready},
        )


def load(setting):
    """Measures new processes from reading ResNet-50's file to the plan of a training step of 24 images."""
    starts, batch = (1, 2) if setting.quick else (5, 24)
    words = ["--model", light_model(setting, "resnet50"), "--batch", batch]
    cores = setting.core_sets()[-1]
    what = f"ResNet-50 from ONNX, read and planned for training, batch {batch}, {cores_text(cores)}"
    setting.say(what)
    seconds = []
    for _ in range(starts):
        command = on_cores(cores, [setting.peers, "train", *words])
        with StepServer(command, Peer("").environment()) as server:
            seconds.append(server.answer()["planning_seconds"])
    yield Row(
        "load/resnet50",
        f"{what}: seconds",
        duration(median(seconds)),
        value=median(seconds),
        at_most=2.0,
        details={"ours_seconds": seconds},
    )
