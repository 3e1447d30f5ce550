# Entry of scripts/gpu-check: finds the available tools, runs the steps one after the other, each in
# its own process and within its share of the time, and writes a summary.
import contextlib
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import cudnn_log
import libraries
from arguments import parse_arguments, refuse
from programs import GRACE, Terminated, end_group, end_when_asked, run_program
from setting import Setting, flags_known, to_json
from step import AHEAD, STEPS
from summary import TESTS, Summary, write_small, write_step
from torch_client import Server, environment_of, versions_of

HERE = pathlib.Path(__file__).resolve().parent
NO_GPU = 3
INTERRUPTED = 130
MIN_SECONDS = 6  # minimum for starting a step
CLOSING_SECONDS = 10  # for the work after the last step
POLL_SECONDS = 0.5  # between readings of a step's results


def find_tool(options, name):
    """Returns the tool's path, or an empty text, and the reason. Also searches beside PyTorch."""
    path = libraries.find_tool(name, sys.executable) or libraries.find_tool(name, options.python)
    return (path, "") if path else ("", f"{name} is not installed")


def check_device(root, environment):
    """Refuses a machine without a GPU, with parbench's message. Returns whether it is a stand-in (tests)."""
    said = run_program([root / "libexec/parbench", "devices"], 60, environment)
    line = next((line for line in said.out.splitlines() if line.startswith("cuda: ")), None)
    if line is None:
        refuse("this parbench was built without the CUDA backend", "scripts/cuda-libraries", code=NO_GPU)
    if not line.removeprefix("cuda: ")[:1].isdigit():
        refuse(f"no GPU: {line}", "--devices cpu tries the tool without one", code=NO_GPU)
    return "stand-in, no figures" in said.out


def start_torch(options, scratch):
    """Starts PyTorch in the background: its import takes minutes on a cold machine."""
    environment = environment_of(plain_environment())
    return Server(options.python, options.devices, f"{scratch}/torch", environment)


def plain_environment():
    """Returns the environment without the library path of the bundle's programs."""
    return {"LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}


def make_setting(options, scratch, torch):
    root = HERE.parents[1]
    path = libraries.library_path(root, options.python)
    missing = libraries.missing_libraries(root / "libexec/parbench", path)
    if missing:
        refuse(*map(libraries.remedy, missing), "LD_LIBRARY_PATH may name the folder that has it")
    environment = {"LD_LIBRARY_PATH": path}
    on_gpu = options.devices == "cuda"
    is_stand_in = on_gpu and check_device(root, environment)
    autotune, dtypes = flags_known(root, environment, on_gpu)
    sanitizer, why_no_sanitizer = find_tool(options, "compute-sanitizer")
    ncu, why_no_ncu = find_tool(options, "ncu")
    return Setting(
        root=str(root),
        device="cuda:0" if on_gpu else "cpu:0",
        pair="cuda:0/0,cuda:0/1" if on_gpu else "cpu:0,cpu:1",
        dtypes=dtypes,
        is_trial=is_stand_in or not on_gpu,
        autotune=autotune,
        library_path=path,
        plain_environment=plain_environment(),
        torch_python=options.python,
        torch_address=torch.address,
        torch_process=torch.process.pid,
        torch_began=torch.began,
        sanitizer=sanitizer,
        sanitizer_missing=why_no_sanitizer,
        ncu=ncu,
        ncu_missing=why_no_ncu,
        scratch=scratch,
    )


def status_of(process, content, seconds, at_limit):
    if at_limit:
        return f"ended at its limit after {seconds:.0f} s"
    if process.returncode == 0:
        return "done"
    return f"crashed: {content.get('crashed', f'exit code {process.returncode}')}"


class Step:
    """A step that runs in its own process."""

    def __init__(self, name, setting, limit):
        self.folder = tempfile.TemporaryDirectory()
        self.result = pathlib.Path(self.folder.name) / "result.json"
        self.began, self.limit = time.monotonic(), limit
        words = [name, to_json(setting), str(limit), str(self.result)]
        command = [sys.executable, "-B", str(HERE / "step.py"), *words]
        self.process = subprocess.Popen(command, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end_group(self.process, 2 * GRACE)  # longer than the step needs to end its programs
        self.folder.cleanup()

    def content(self):
        """Returns the step's results so far."""
        return json.loads(self.result.read_text(encoding="utf-8")) if self.result.exists() else {}

    def wait(self, keep):
        """Returns the results when the step ends, and "done" or what ended it. Calls `keep` with new
        results in the meantime."""
        known = {}
        while not self.ended_within(POLL_SECONDS):
            if self.content() != known:
                known = self.content()
                keep(known)
            if time.monotonic() > self.began + self.limit + 1:
                end_group(self.process, 2 * GRACE)
                return self.outcome(at_limit=True)
        return self.outcome()

    def ended_within(self, seconds):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode is not None

    def outcome(self, at_limit=False):
        content, seconds = self.content(), time.monotonic() - self.began
        return content, status_of(self.process, content, seconds, at_limit)


def beside(name, setting, names, limit):
    """Starts work beside the step that neither measures nor checks the GPU's memory: compiling what
    is measured later."""
    ahead = name == "sanitizer" and "training-compiled" in names and not setting.torch_missing
    return Step(AHEAD, setting, limit) if ahead and setting.on_gpu else contextlib.nullcontext()


class Record:
    """The results of a run, in the output folder from the beginning: a killed run leaves those so far."""

    def __init__(self, options, setting, names, began):
        self.folder, self.setting, self.began = options.output, setting, began
        self.results = {name: ({}, "not begun") for name in names}

    def failed_tests(self):
        """Returns names of failed tests by program, from all steps that run tests."""
        failed = {}
        for step in TESTS:
            for program in self.results.get(step, ({}, ""))[0].get("programs", []):
                failed.setdefault(program["program"], []).extend(program["failed"])
        return {program: list(dict.fromkeys(names)) for program, names in failed.items() if names}

    def keep(self, name, content, status):
        """Stores the results of a step so far."""
        self.results[name] = (content, status)
        too_large = write_step(self.folder, self.results, name)
        if too_large:
            content.setdefault("problems", []).append(too_large)
        cudnn_log.gather(self.setting.scratch, self.folder)
        self.write_summary()

    def write_summary(self):
        summary = Summary(self.results, self.setting)
        passed = datetime.datetime.now(datetime.timezone.utc) - self.began
        about = {
            "started_utc": f"{self.began:%Y-%m-%dT%H:%M:%SZ}",
            "seconds": round(passed.total_seconds()),
            "commit": os.environ.get("PARBENCH_COMMIT"),
            "dirty": {"0": False, "1": True}.get(os.environ.get("PARBENCH_DIRTY")),
            "autotune": self.setting.autotune,
            "torch": versions_of(self.setting.torch_address) or self.setting.torch_missing,
        }
        write_small(self.folder / "summary.json", summary.to_json(about))
        return summary


def run_step(step, name, record):
    """Runs a step. If interrupted, stores its results before ending it, which takes seconds."""
    try:
        record.keep(name, *step.wait(lambda content: record.keep(name, content, "not finished")))
    except (KeyboardInterrupt, Terminated):
        record.keep(name, step.content(), "interrupted")
        raise


def why_no_torch(torch):
    """Returns why PyTorch is missing; empty if it is there or may still come. A step restarts it if it ends."""
    ended = None if versions_of(torch.address) else torch.why_ended()
    return f"no PyTorch (--python names an interpreter that has it): {ended}" if ended else ""


def run_steps(names, setting, end, record, torch):
    """Recomputes the shares of the time at each step, because PyTorch may turn out to be missing."""
    for index, name in enumerate(names):
        setting.torch_missing, setting.failed_tests = why_no_torch(torch), record.failed_tests()
        left = end - time.monotonic() - CLOSING_SECONDS
        if left < MIN_SECONDS:
            record.keep(name, {}, "not run: time")
            continue
        weights = [STEPS[behind].weight_in(setting) for behind in names[index:]]
        # A step that uses its whole share leaves enough time for the later ones to start.
        upper = left - MIN_SECONDS * (len(weights) - 1)
        limit = max(min(weights[0] / sum(weights) * left, upper), MIN_SECONDS)
        setting.say(f"{name}, at most {limit:.0f} s")
        with beside(name, setting, names, limit), Step(name, setting, limit) as step:
            run_step(step, name, record)


def make_output(options, began):
    if options.output is None:
        options.output = pathlib.Path(f"gpu-check-{began:%Y%m%dT%H%M%SZ}")
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refuse(f"--output: cannot make {options.output}: {error.strerror}", "name another folder")
    if not os.access(options.output, os.W_OK):
        refuse(f"--output: cannot write to {options.output}", "name another folder")


def check(options, scratch, torch, began, end):
    setting = make_setting(options, scratch, torch)
    make_output(options, began)
    names = [name for name in options.only if setting.on_gpu or not STEPS[name].is_for_gpus()]
    record, interrupted = Record(options, setting, names, began), False
    try:
        run_steps(names, setting, end, record, torch)
    except (KeyboardInterrupt, Terminated):
        interrupted = True
    summary = record.write_summary()
    summary.show(options.output)
    if interrupted:
        return INTERRUPTED
    return 0 if summary.good() else 1


def main():
    options = parse_arguments()
    began, end = datetime.datetime.now(datetime.timezone.utc), time.monotonic() + options.time_limit
    with tempfile.TemporaryDirectory(prefix="gpu-check-") as scratch:
        torch = start_torch(options, scratch)
        try:
            return check(options, scratch, torch, began, end)
        finally:
            torch.end()


if __name__ == "__main__":
    end_when_asked()
    try:
        sys.exit(main())
    except (KeyboardInterrupt, Terminated):
        sys.exit(INTERRUPTED)
