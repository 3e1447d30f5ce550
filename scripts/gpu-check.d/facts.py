# Facts about the measurement: the GPU and its driver, the libraries, the machine.
import csv
import io
import os
import platform

from programs import run_program
from setting import portions

GPU_FIELDS = [
    "name", "driver_version", "memory.total", "clocks.max.sm", "clocks.current.sm", "power.limit",
    "temperature.gpu", "compute_mode", "ecc.mode.current", "pcie.link.gen.max", "pcie.link.width.max",
]  # fmt: skip


def output_of(setting, command):
    """Returns the output of a program within the setting's time, or the reason for having none."""
    try:
        ended = run_program(command, setting.left())
    except OSError as error:
        return None, f"{command[0]}: {error.strerror}"
    return (ended.out, None) if ended.code == 0 else (None, f"{ended.how()}: {ended.last_words()}")


def gpus(setting):
    """Returns one object for each GPU, as nvidia-smi describes it, or the reason for having none."""
    command = ["nvidia-smi", f"--query-gpu={','.join(GPU_FIELDS)}", "--format=csv,noheader"]
    text, reason = output_of(setting, command)
    rows = csv.reader(io.StringIO(text or ""), skipinitialspace=True)
    found = [dict(zip(GPU_FIELDS, row)) for row in rows if len(row) == len(GPU_FIELDS)]
    return found or reason


def parbench_devices(setting):
    text, reason = output_of(setting, [f"{setting.root}/libexec/parbench", "devices"])
    return (text or reason).splitlines()


def operating_system():
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def facts(setting):
    """Yields all facts known before the steps, after each command that adds some."""
    content = {
        "python": platform.python_version(),
        "operating_system": operating_system(),
        "kernel": platform.release(),
        "cores": len(os.sched_getaffinity(0)),
        "problems": [],
    }
    yield content
    for ask, portion in portions({gpus: 1, parbench_devices: 1}):
        content[ask.__name__] = ask(setting.with_portion(portion))
        yield content
