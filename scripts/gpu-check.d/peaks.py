# Measures the device's peak rates, to compare times with what the hardware can do.
import json
import pathlib

from programs import run_program


def known_in(folder):
    """Returns the contents of the cache, also if the program did not complete."""
    files = sorted(pathlib.Path(folder).rglob("*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]


def peaks(setting):
    command = [f"{setting.root}/libexec/parbench", "peaks", "--devices", setting.device]
    if setting.is_trial:
        command += ["--dtype", "f32", "--precision", "1000"]  # a trial on a machine that may be busy
    ended = run_program(command, setting.left())
    problems = [] if ended.code == 0 else [f"parbench peaks {ended.how()}: {ended.last_words()}"]
    devices = known_in(f"{setting.cache}/peaks")
    yield {"table": ended.out.splitlines(), "devices": devices, "problems": problems}
