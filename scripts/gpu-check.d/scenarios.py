# Runs scenarios as a user does, each in a tiny size on two devices at once, and computes the two figures
# that need only parbench's reports: the cost of overlapping copies, and the gain from two partitions.
import tempfile

from cases import case_text, cases_of, fastest
from figures import brief, figure, missing, slim
from processes import Failure
from ratios import ratio_of_rounds
from setting import portions

# Flags of cases that take negligible time, also on a GPU.
TINY_FLAGS = {
    "branch": ["--batch", 1, "--image", 8, "--branches", 2],
    "launch": ["--model", "gpt-tiny", "--batch", 2],
    "matmul": ["--n", 32, "--count", 2],
    "overlap": ["--n", 32, "--count", 6],
    "pipeline": ["--model", "toy"],
    "data-parallel": ["--model", "rnn-lm-tiny", "--batch", 8],
    "tensor-parallel": ["--batch", 2, "--hidden", 32, "--heads", 2, "--sequence", 8],
    "hybrid": ["--model", "rnn-lm-tiny", "--batch", 8],
    "inter-op": ["--model", "resnet18", "--batch", 2, "--image", 32],
    "graph": ["--dag", "mlp", "--features", 32, "--batch", 8],
    "collectives": ["--size", "4KiB"],
    "selftest": ["--tasks", 4, "--duration", "1us"],
}
TINY_SECONDS = 0.02
TAKES_ONE = "inter-op"  # needs one device; measures each layer of a network
# Scenarios with the quick preset. Weights in sharing the time: by number and size of their cases.
SCENARIOS = {"branch": 4, "launch": 2, "matmul": 2, "overlap": 3, "pipeline": 3, "selftest": 1}
TAKE_SEVERAL = {"matmul", "pipeline"}
# Matrix size n, matrices per execution, seconds per case: large enough to keep a GPU busy, or tiny. The last of
# the `copies` has no product beside it, which costs 2% of the time with the published 50.
LARGE = {"n": 4000, "inner": 4000, "copies": 50, "products": 12, "seconds": 1}
TINY = {"n": 64, "inner": 16, "copies": 6, "products": 6, "seconds": 0.1}


def run(setting, name, flags, seconds):
    """Returns a report of parbench; raises Failure if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--scenario", name, "--max-time", seconds, *flags]
        report, ended = setting.parbench(words, f"{folder}/report.json")
    if report is None:
        raise Failure(f"parbench --scenario {name}", f"{ended.how()}: {ended.last_words()}")
    return report, ended


def overlapped(setting, size):
    """Compares overlapped copies with the longer of computing and copying."""
    flags = ["--devices", setting.device, "--direction", "d2h", "--memory", "pinned"]
    flags += ["--n", size["n"], "--inner", size["inner"], "--count", size["copies"]]
    report, _ = run(setting, "overlap", flags, size["seconds"])
    best = fastest(cases_of(report, "overlapped"))
    parts = [fastest(cases_of(report, strategy)) for strategy in ("compute", "copy")]
    longest = max(parts, key=lambda case: case["statistics"]["median"])
    return figure(
        "overlap/d2h/pinned",
        case_text(best),
        case_text(longest),
        ratio_of_rounds(setting, best, longest),
        {"longest": longest["strategy"], **{case["name"]: case["statistics"] for case in [best, *parts]}},
    )


def two_devices(setting, size):
    """Compares two devices at once with one device."""
    flags = ["--devices", setting.pair, "--strategy", "alone,concurrent", "--device", 0]
    flags += ["--n", size["n"], "--count", size["products"]]
    report, _ = run(setting, "matmul", flags, size["seconds"])
    alone, both = fastest(cases_of(report, "alone")), fastest(cases_of(report, "concurrent"))
    ratio = ratio_of_rounds(setting, alone, both)
    gain = {key: 2 * ratio[key] if ratio[key] else None for key in ("value", "low", "high")}
    return figure(
        "partitions/two",
        case_text(both),
        case_text(alone),
        {**ratio, **gain},
        {case["name"]: case["statistics"] for case in (alone, both)},
    )


def schedules(setting):
    """Returns the figures; one that cannot be measured has the reason."""
    size = TINY if setting.is_trial else LARGE
    content = {"figures": [], "problems": []}
    for name, measure in (("overlap/d2h/pinned", overlapped), ("partitions/two", two_devices)):
        setting.say(name)
        try:
            content["figures"].append(measure(setting, size))
        except Failure as failure:
            content["figures"].append(missing(name, str(failure)))
        yield content


def weights(setting):
    """Returns scenarios and their devices, with weights."""
    runs = {}
    for name, weight in SCENARIOS.items():
        runs[name, setting.device] = weight
        if name in TAKE_SEVERAL:
            runs[name, setting.pair] = weight
    return runs


def flags_of(setting, name, devices):
    flags = ["--devices", devices]
    if name == "pipeline" and "," not in devices:
        flags += ["--strategy", "single"]  # the only strategy for one device
    return flags + TINY_FLAGS[name] if setting.is_trial else flags


def is_measured(case):
    """Returns whether a case, or another one with the same plan, has a time."""
    return case["status"] == "measured" or case.get("stopped_because") == "equal plan"


def is_refused_on_parts(case):
    """Whether a case takes several launching threads, of which a part of a GPU has one."""
    return case["status"] == "skipped" and "one host thread at a time" in case.get("error", "")


def problem_of(report, ended):
    """Returns why a run did not measure all cases that it can; None if it did."""
    refused = [case for case in report["cases"] if is_refused_on_parts(case)]
    bad = [case for case in report["cases"] if case not in refused and not is_measured(case)]
    if report["cases"] and not bad and ended.code == (1 if refused else 0):
        return None
    words = [f"{case['name']} {case['status']}: {case.get('error', '')}" for case in bad[:3]]
    return f"{ended.how()}: {'; '.join(words) or ended.last_words()}"


def run_all(setting, runs, seconds, kept_of):
    """Runs scenarios with their devices, flags and weights in sharing the time. `kept_of`: returns the
    part of a report to store; runs with graphs repeat others and are stored in brief."""
    content = {"reports": [], "problems": []}
    for (name, devices, flags), portion in portions(runs):
        title = f"{name}{' with graphs' if '--graph' in flags else ''} on {devices}"
        setting.say(f"scenario {title}")
        try:
            report, ended = run(setting.with_portion(portion), name, flags, seconds)
            content["reports"].append((brief if "--graph" in flags else kept_of)(report))
            problem = problem_of(report, ended)
        except Failure as failure:
            problem = str(failure)
        if problem:
            content["problems"].append(f"{title}: {problem}")
        yield content


def on_pair(setting):
    """Runs every scenario in a tiny size on two devices at once, with tasks enqueued one by one and
    captured into graphs."""
    runs = {}
    for name, tiny in TINY_FLAGS.items():
        devices = setting.pair.split(",")[-1] if name == TAKES_ONE else setting.pair
        for graph in [], ["--graph"]:
            flags = ("--devices", devices, *tiny, "--no-timeline", *graph)
            runs[name, devices, flags] = 4 if name == TAKES_ONE else 1
    yield from run_all(setting, runs, TINY_SECONDS, brief)


def every_scenario(setting):
    """Runs scenarios with their quick preset."""
    runs = {
        (name, devices, tuple(flags_of(setting, name, devices))): weight
        for (name, devices), weight in weights(setting).items()
    }
    yield from run_all(setting, runs, TINY_SECONDS if setting.is_trial else 0.2, slim)
