# Test executables: run, also where they crash or hang, and what they printed, as counts and texts.
#
# What GoogleTest prints is read instead of its JSON file, which a program that crashes never writes.
import re
from dataclasses import dataclass, field

from programs import run_program
from setting import portions

LINE = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] (\S+?\.\S+?)(?:,| \(|$)")
MOST_RESTARTS = 10  # after crashes
LONGEST_FILTER = 100_000  # characters; Linux takes 128 KiB in a word
LONGEST_TEXT = 400  # of a failure that is kept,
MOST_LINES = 5  # and of what was said before a crash
LEAST_SECONDS = 20  # of a program under a tool, as the first use of a GPU may take long
LEAST_SECONDS_MORE = 3  # for what its share was too short for; with less it is not begun
# Weights in sharing the time, where not 1. The heaviest comes first: every kernel's conformance, without
# which no figure means anything.
HEAVY = {"training_test": 2, "scenario_tests": 3, "kernels_test": 6}


@dataclass
class Outcome:
    """What came of the tests of an executable."""

    passed: int = 0
    failed: dict = field(default_factory=dict)  # name → the beginning of what it said
    skipped: dict = field(default_factory=dict)  # reason → how many
    unfinished: str = None  # the test that was running when the program ended,
    said: list = field(default_factory=list)  # and its last lines
    names: list = field(default_factory=list)  # of all that began

    def begin_unfinished_anew(self):
        """What was running when the time was up counts as not begun."""
        if self.unfinished:
            self.names.remove(self.unfinished)
        self.unfinished = None

    def add(self, other):
        self.passed += other.passed
        self.failed.update(other.failed)
        for reason, count in other.skipped.items():
            self.skipped[reason] = self.skipped.get(reason, 0) + count
        self.unfinished = other.unfinished
        self.names += other.names


def beginning(lines):
    text = " | ".join(line.strip() for line in lines if line.strip())
    return text[:LONGEST_TEXT] or "it said nothing"


def reason_of(lines):
    """Why a test was skipped: what it said without the place in the source."""
    return beginning([line for line in lines if not re.match(r"^\S+:\d+: Skipped$", line)])


def read_output(text):
    """The outcome of what a test executable printed, as far as it came."""
    outcome = Outcome()
    said = []
    for line in text.splitlines():
        found = LINE.match(line)
        if not found:
            said.append(line)
            continue
        word, name = found.groups()
        if word == "RUN":
            outcome.unfinished = name
            outcome.names.append(name)
        elif name == outcome.unfinished:  # the list of failures at the end names them again
            outcome.unfinished = None
            if word == "OK":
                outcome.passed += 1
            elif word == "FAILED":
                outcome.failed[name] = beginning(said)
            else:
                reason = reason_of(said)
                outcome.skipped[reason] = outcome.skipped.get(reason, 0) + 1
        said = []
    outcome.said = said
    return outcome


def run_tests(program, setting, wrapper=(), flags=(), outcome=None):
    """Runs all tests, or those that an earlier outcome lacks, which is added to. After a crash it goes on
    with those behind, so that one crash hides nothing.

    Returns the outcome and how each process ended."""
    outcome = outcome or Outcome()
    ends = []
    while len(ends) <= MOST_RESTARTS and setting.left() > 0:
        only = ["--gtest_filter=" + filter_without(flags, outcome.names)] if outcome.names else flags
        extra = {"PARBENCH_REQUIRE_CUDA": "1" if setting.on_gpu else "0", "GTEST_COLOR": "no"}
        ended = run_program([*wrapper, program, *only], setting.left(), extra)
        part = read_output(ended.out)
        ends.append(ended)
        outcome.add(part)
        if ended.at_limit or not part.unfinished:
            break
        outcome.failed[part.unfinished] = f"{ended.how()}: {beginning(part.said[-MOST_LINES:])}"
        if len(filter_without(flags, outcome.names)) > LONGEST_FILTER:
            break
    return outcome, ends


def filter_without(flags, names):
    """GoogleTest's filter for what is wanted less the tests that have begun."""
    wanted = next((f.partition("=")[2] for f in flags if f.startswith("--gtest_filter=")), "*")
    return f"{wanted}-{':'.join(names)}"


def status_of(outcome, ends):
    """In a word, or in those of a program that ended early or failed without a failing test."""
    if not ends:
        return "not run: time"
    last = ends[-1]
    if last.at_limit:
        return f"{last.how()}, in {outcome.unfinished or 'no test'}"
    if outcome.failed:
        return "failed"
    return "passed" if last.code == 0 else f"{last.how()}: {last.last_words()}"


def result_of(name, outcome, ends):
    """As JSON."""
    return {
        "program": name,
        "status": status_of(outcome, ends),
        "began": len(outcome.names),
        "passed": outcome.passed,
        "failed": outcome.failed,
        "skipped": outcome.skipped,
        "processes": len(ends),
        "seconds": round(sum(end.seconds for end in ends), 1),
    }


def weights(folder):
    """All test executables with their weights, the heaviest first."""
    found = {program.name: HEAVY.get(program.name, 1) for program in sorted(folder.iterdir())}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def content_of(runs):
    """What is known of all programs: the outcome of each, and how its processes ended."""
    results = [result_of(name, outcome, ends) for name, (outcome, ends) in runs.items()]
    return {
        "programs": results,
        "problems": [f"{r['program']}: {problem_of(r)}" for r in results if r["status"] != "passed"],
        "passed": sum(result["passed"] for result in results),
        "failed": sum(len(result["failed"]) for result in results),
        "skipped": sum(sum(result["skipped"].values()) for result in results),
    }


def tests(setting):
    """All test executables of the bundle, one after the other: some of them fill the GPU's memory. What
    the time of some leaves goes to those that did not end in theirs."""
    runs, wanted = {}, weights(setting.tests)
    for name, portion in portions(wanted):
        setting.say(f"tests of {name}")
        runs[name] = run_tests(setting.tests / name, setting.with_portion(portion))
        yield content_of(runs)
    cut = {name: wanted[name] for name, (_, ends) in runs.items() if not ends or ends[-1].at_limit}
    for name, portion in portions(cut):
        if setting.left() < LEAST_SECONDS_MORE:
            break
        setting.say(f"the other tests of {name}")
        outcome, before = runs[name]
        outcome.begin_unfinished_anew()
        part = setting.with_portion(portion)
        _, ends = run_tests(setting.tests / name, part, outcome=outcome)
        runs[name] = outcome, before + ends
        yield content_of(runs)


def problem_of(result):
    """What is wrong, with the first failure."""
    texts = [] if result["status"] == "failed" else [result["status"]]
    for name, said in list(result["failed"].items())[:1]:
        texts.append(f"{len(result['failed'])} failed, first {name}: {said}")
    return "; ".join(texts)
