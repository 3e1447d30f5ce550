# What this was measured on: the GPU and its driver, the libraries, the machine.
import csv
import io
import json
import os
import platform

from programs import run_program

GPU_FIELDS = [
    "name", "driver_version", "memory.total", "clocks.max.sm", "clocks.current.sm", "power.limit",
    "temperature.gpu", "compute_mode", "ecc.mode.current", "pcie.link.gen.max", "pcie.link.width.max",
]  # fmt: skip
ASK_TORCH = (
    "import json, torch; print(json.dumps({'version': torch.__version__, 'cuda': torch.version.cuda, "
    "'cudnn': torch.backends.cudnn.version(), 'gpu': torch.cuda.is_available()}))"
)


def output_of(command, extra=None):
    """What a program prints, or why there is nothing."""
    try:
        ended = run_program(command, 20, extra)
    except OSError as error:
        return None, f"{command[0]}: {error.strerror}"
    return (ended.out, None) if ended.code == 0 else (None, f"{ended.how()}: {ended.last_words()}")


def gpus():
    """One object for each GPU, as nvidia-smi describes it, or why there is none."""
    command = ["nvidia-smi", f"--query-gpu={','.join(GPU_FIELDS)}", "--format=csv,noheader"]
    text, reason = output_of(command)
    if text is None:
        return [], reason
    rows = csv.reader(io.StringIO(text), skipinitialspace=True)
    return [dict(zip(GPU_FIELDS, row)) for row in rows if len(row) == len(GPU_FIELDS)], None


def operating_system():
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def torch_facts(setting):
    """Versions, or why there are none."""
    if not setting.torch_python:
        return setting.torch_missing
    text, reason = output_of([setting.torch_python, "-c", ASK_TORCH], setting.plain_environment)
    try:
        return json.loads(text.splitlines()[-1]) if text else reason
    except ValueError:
        return text.strip()


def facts(setting):
    """Everything that is known before anything runs."""
    found, reason = gpus()
    devices, devices_reason = output_of([f"{setting.root}/libexec/parbench", "devices"])
    yield {
        "gpus": found or reason,
        "parbench_devices": (devices or devices_reason).splitlines(),
        "torch": torch_facts(setting),
        "python": platform.python_version(),
        "operating_system": operating_system(),
        "kernel": platform.release(),
        "cores": len(os.sched_getaffinity(0)),
        "problems": [],
    }
