# What this was measured on: the GPU and its driver, the libraries, the machine.
import csv
import io
import os
import platform

from programs import run_program

GPU_FIELDS = [
    "name", "driver_version", "memory.total", "clocks.max.sm", "clocks.current.sm", "power.limit",
    "temperature.gpu", "compute_mode", "ecc.mode.current", "pcie.link.gen.max", "pcie.link.width.max",
]  # fmt: skip


def output_of(command):
    """What a program prints, or why there is nothing."""
    try:
        ended = run_program(command, 20)
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


def facts(setting):
    """Everything that is known before anything runs."""
    found, reason = gpus()
    devices, devices_reason = output_of([f"{setting.root}/libexec/parbench", "devices"])
    yield {
        "gpus": found or reason,
        "parbench_devices": (devices or devices_reason).splitlines(),
        "python": platform.python_version(),
        "operating_system": operating_system(),
        "kernel": platform.release(),
        "cores": len(os.sched_getaffinity(0)),
        "problems": [],
    }
