# The experiments: what is compared, and by which method.
import shlex
from dataclasses import dataclass

# At least ten cases, so that ten comparisons of each scenario give a hundred verdicts or more. Durations vary
# widely, because noise of a machine affects short ones most.
SCENARIOS = {
    "selftest": [
        ["--strategy", "spin"],
        ["--duration", "20us,30us,50us,70us,100us,150us,200us,300us,400us,500us"],
    ],
    "matmul": [
        ["--strategy", "alone,concurrent", "--count", "4"],
        ["--n", "96,128,192,256"],
    ],
}
QUICK = {
    "selftest": [["--strategy", "spin"], ["--duration", "50us,200us"]],
    "matmul": [["--strategy", "alone"], ["--count", "2", "--n", "96,128"]],
}
SAMPLES = 5  # per case and process
LAUNCHES = 5  # processes per report


@dataclass(frozen=True)
class Experiment:
    """A known change of a scenario's times in percent, which a method should find."""

    scenario: str
    slowdown: float
    method: str  # "ab", or "reports": two reports, one after the other

    @property
    def name(self):
        change = f"{self.slowdown:g}-percent" if self.slowdown else "unchanged"
        return f"{self.scenario}-{change}-{self.method}"

    @property
    def is_unchanged(self):
        return self.slowdown == 0


# Only selftest can be slowed down by a known share.
EXPERIMENTS = [
    Experiment(scenario, slowdown, method)
    for scenario, slowdown in (("selftest", 0), ("matmul", 0), ("selftest", 5), ("selftest", 2.5))
    for method in ("ab", "reports")
]


def run_words(parbench, scenario, slowdown, quick):
    """Returns the command of one side, without the path of its report."""
    words = [parbench, "--scenario", scenario]
    for more in (QUICK if quick else SCENARIOS)[scenario]:
        words += more
    words += [f"--benchmark_repetitions={SAMPLES}"]
    return words + (["--slowdown", f"{slowdown:g}"] if slowdown else [])


def ab_words(parbench, experiment, quick, output):
    base = run_words(parbench, experiment.scenario, 0, quick)
    now = run_words(parbench, experiment.scenario, experiment.slowdown, quick)
    return [
        *[parbench, "ab", "--a", shlex.join(base), "--b", shlex.join(now)],
        *["--format", "json", "-o", output],
    ]


def report_words(parbench, experiment, quick, slowdown, output):
    words = run_words(parbench, experiment.scenario, slowdown, quick)
    return [*words, "--processes", str(LAUNCHES), "--quiet", "--report", output]
