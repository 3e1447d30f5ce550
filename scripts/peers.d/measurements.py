# The measurements: functions from a Setting to rows of the table.
#
# A row: what, ours and peer (texts), value and interval of the figure, target, samples.
import json
import pathlib
import tempfile

from cases import case_text, cases_of, fastest
from divided import all_reduce, data_parallel
from inference import load, squeezenet
from over_ranks import all_reduce_over_ranks, data_parallel_over_ranks, one_rank
from processes import Failure, finished, json_of, on_cores
from rows import Row, duration, median
from peer_setting import cores_text
from ratios import ratio_fields, ratio_of_rounds
from training import gpt, llama, resnet50, rnn_lm, unet, vit


def row_of_pairs(name, what, result, **more):
    """Returns a row from the output of parbench-peers."""
    return Row(
        name,
        what,
        duration(median(result["ours_seconds"])),
        duration(median(result["peer_seconds"])),
        **ratio_fields(result["ratio"]),
        details=result,
        **more,
    )


def effort(setting):
    return ["--pairs", 7, "--sample-seconds", 0.005] if setting.quick else ["--pairs", 21]


def convolution(setting):
    """Compares an operation on a stream with the bare oneDNN primitive."""
    batch = {"branch": 2, "resnet50": 1} if setting.quick else {"branch": 64, "resnet50": 24}
    titles = {"branch": "16→16 at 128×128", "resnet50": "256→256 at 8×8"}
    for cores in setting.core_sets():
        for case, title in titles.items():
            what = f"convolution 3×3 {title}, batch {batch[case]}, {cores_text(cores)}"
            setting.say(what)
            command = [setting.peers, "convolution", "--case", case, "--batch", batch[case]]
            result = json_of(on_cores(cores, command + effort(setting)))
            name = f"convolution/{case}/cores:{len(cores)}"
            yield row_of_pairs(name, f"{what}: bare oneDNN / Op on a stream", result, at_least=0.97)


def executor(setting):
    """Compares a plan on one lane with a loop over the same operations."""
    tasks, batch = (5, 1) if setting.quick else (50, 4)
    for cores in setting.core_sets():
        what = f"plan of {tasks} convolutions on a lane, {cores_text(cores)}"
        setting.say(what)
        command = [setting.peers, "chain", "--case", "branch", "--batch", batch, "--tasks", tasks]
        result = json_of(on_cores(cores, command + effort(setting)))
        name = f"executor/cores:{len(cores)}"
        yield row_of_pairs(name, f"{what}: plain loop / executor", result, at_least=0.98)


def recording(setting):
    """Compares the executor with itself while every call is recorded."""
    tasks = 5 if setting.quick else 200
    for cores in setting.core_sets():
        what = f"plan of {tasks} short convolutions on a lane, {cores_text(cores)}"
        setting.say(what)
        command = [setting.peers, "recording", "--case", "resnet50", "--batch", 1, "--tasks", tasks]
        result = json_of(on_cores(cores, command + effort(setting)))
        name = f"recording/cores:{len(cores)}"
        yield row_of_pairs(name, f"{what}: unobserved / every call noted", result, at_least=0.98)


def report_of(setting, *flags):
    """Runs parbench on up to two cores and returns its report."""
    cores = setting.cores[:2]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        command = [setting.binaries / "parbench", "--report", path, "--quiet", *flags]
        finished(on_cores(cores, command))
        return json.loads(path.read_text(encoding="utf-8"))["parbench"]


def pipeline(setting):
    """Measures the README's command: efficiency at the best split, and how its time is spent."""
    if len(setting.cores) < 2:
        raise Failure("a pipeline needs two cores, this process may use one")
    model = ["--model", "toy", "--max-time", 0.2] if setting.quick else []
    flags = ["--scenario", "pipeline", "--split", "1,3,5,12,20", "--devices", "cpu:0,cpu:1", *model]
    setting.say("parbench " + " ".join(map(str, flags)))
    report = report_of(setting, *flags)
    best = fastest(cases_of(report, "pipeline"))
    bound, interval = best["bound"], best["statistics"].get("median_interval")
    yield Row(
        "pipeline/efficiency",
        f"pipeline, best split {best['parameters']['split']}: bound / measured",
        case_text(best),
        duration(bound["seconds"]),
        best["efficiency"],
        low=bound["seconds"] / interval["high"] if interval else None,
        high=bound["seconds"] / interval["low"] if interval else None,
        confidence=interval["confidence"] if interval else None,
        at_least=0.92,
        details={"case": best["name"], "bound": bound, "statistics": best["statistics"]},
    )
    inside, whole = report["sampling_seconds"], report["duration_seconds"]
    yield Row(
        "pipeline/sampling",
        "share of that run inside samples or their warm-up",
        duration(inside),
        duration(whole),
        inside / whole,
        at_least=0.85,
        details={"sampling_seconds": inside, "duration_seconds": whole},
    )


def seed(setting):
    """Measures the published preset with both partitions. Takes almost an hour."""
    if len(setting.cores) < 2:
        raise Failure("a pipeline needs two cores, this process may use one")
    flags = ["--scenario", "pipeline", "--preset", "published", "--devices", "cpu:0,cpu:1"]
    flags += ["--strategy", "single,pipeline", "--partition", "published,balanced"]
    flags += ["--model", "toy"] if setting.quick else []
    setting.say("parbench " + " ".join(map(str, flags)))
    report = report_of(setting, *flags)
    single = fastest(cases_of(report, "single"))
    for partition, target in (("published", 1.55), ("balanced", 1.7)):
        best = fastest(cases_of(report, "pipeline", partition=partition))
        yield Row(
            f"seed/{partition}",
            f"published setting, {partition} partition, best split {best['parameters']['split']}: "
            "single / pipeline",
            case_text(best),
            case_text(single),
            **ratio_fields(best.get("speedup")),
            at_least=target,
            details={"case": best["name"], "partition": best["notes"].get("cut at")},
        )


def overlap(setting):
    """Measures copies to pinned host memory beside products."""
    short = ["--n", 128, "--count", 4, "--max-time", 0.2] if setting.quick else []
    flags = ["--scenario", "overlap", "--direction", "d2h", "--memory", "pinned", *short]
    setting.say("parbench " + " ".join(map(str, flags)))
    report = report_of(setting, *flags)
    best = fastest(cases_of(report, "overlapped"))
    parts = [fastest(cases_of(report, strategy)) for strategy in ("compute", "copy")]
    longest = max(parts, key=lambda case: case["statistics"]["median"])
    yield Row(
        "overlap/d2h/pinned",
        f"overlap d2h pinned, prefetch {best['parameters']['prefetch']}: "
        f"overlapped / {longest['strategy']}",
        case_text(best),
        case_text(longest),
        **ratio_of_rounds(setting, best, longest),
        at_most=1.1,
        details={case["name"]: case["statistics"] for case in [best, *parts]},
    )


# The measurements in the order in which they run; those in ON_REQUEST run only on request.
MEASUREMENTS = {
    "convolution": convolution,
    "executor": executor,
    "recording": recording,
    "train": resnet50,
    "unet": unet,
    "vit": vit,
    "gpt": gpt,
    "llama": llama,
    "rnn-lm": rnn_lm,
    "data-parallel": data_parallel,
    "all-reduce": all_reduce,
    "rank-all-reduce": all_reduce_over_ranks,
    "rank-data-parallel": data_parallel_over_ranks,
    "one-rank": one_rank,
    "squeezenet": squeezenet,
    "load": load,
    "overlap": overlap,
    "pipeline": pipeline,
    "seed": seed,
}
ON_REQUEST = {"seed"}
# Measurements that need more than parbench.
NEEDS_TORCH = {
    "train",
    "unet",
    "vit",
    "gpt",
    "llama",
    "rnn-lm",
    "data-parallel",
    "all-reduce",
    "rank-all-reduce",
    "rank-data-parallel",
}
NEEDS_ONNXRUNTIME = {"squeezenet", "load"}
