# Profiles a training step: one run of parbench for each element type that records every call, with each
# operation's kernel and how it was chosen, and PyTorch's profile of its own step.
import tempfile

import cudnn_log
from against_torch import request_of, with_autotune
from figures import slim_profile
from processes import Failure
from setting import portions
from sizes import sizes_for
from torch_client import Torch

KERNELS = 30  # number of PyTorch's kernels to store: those that take longest


def flags_of(setting, dtype):
    size = sizes_for(setting)
    flags = ["--scenario", "pipeline", "--strategy", "single", "--model", "resnet50"]
    flags += ["--batch", size.batch, "--image", size.image, "--dtype", dtype, *with_autotune(setting)]
    return [*flags, "--devices", setting.device, "--max-time", 0.5]


def own_side(setting, dtype):
    """Returns the case's kernels and calls, and why they are missing."""
    with tempfile.TemporaryDirectory() as folder:
        environment = cudnn_log.environment(setting, f"profile-{dtype}")
        report, ended = setting.parbench(flags_of(setting, dtype), f"{folder}/report.json", environment)
    if report is None or not report["cases"]:
        raise Failure("parbench", f"{ended.how()}: {ended.last_words()}")
    case = report["cases"][0]
    profile = slim_profile(case.get("profile") or {})
    kept = {key: case.get(key) for key in ("status", "error", "statistics", "kernels", "notes", "flops")}
    return {**kept, "profile": profile}


def their_side(setting, torch, dtype):
    size = sizes_for(setting)
    work = request_of("training_step", dtype=dtype, batch=size.batch, image=size.image, compiled=False)
    return torch.ask({**work, "profile": KERNELS})["kernels"]


def problem_of(dtype, side):
    if "failure" in side:
        return f"{dtype}: {side['failure']}"
    if not side["profile"].get("metrics", {}).get("calls", {}).get("rows"):
        return f"{dtype}: no call breakdown: {side['error'] or side['notes']}"
    return None


def attempted(work):
    try:
        return work()
    except Failure as failure:
        return {"failure": str(failure)}


def profiles(setting):
    content = {"steps": {}, "problems": []}
    with Torch(setting) as torch:
        for dtype, portion in portions(dict.fromkeys(setting.dtypes, 1)):
            setting.say(f"profile of a training step, {dtype}")
            part = setting.with_portion(portion)
            step = content["steps"][dtype] = {"parbench": attempted(lambda: own_side(part, dtype))}
            if problem_of(dtype, step["parbench"]):
                content["problems"].append(problem_of(dtype, step["parbench"]))
            yield content
            if not setting.torch_missing:
                step["torch"] = attempted(lambda: their_side(setting, torch, dtype))
                yield content
