# Test executables: run, also where they crash or hang, and what they printed, as counts and texts.
#
# What GoogleTest prints is read instead of its JSON file, which a program that crashes never writes.
import re
from dataclasses import dataclass, field

import cudnn_log
from programs import Running
from setting import portions

# Tests of GPUs have them in their names, or are known by their suite.
GPU_TESTS = ["*cuda*", "*Cuda*", "*Gpu*", "*Partitions*", "Autotune.*", "Choices.*"]
# The message of a test that has made the GPUs unusable for its process: later results do not count.
LOST = "no GPU can be used again"
LINE = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] (\S+?\.\S+?)(?:,| \(|$)")
MAX_RESTARTS = 10  # after crashes and lost GPUs
POLL_SECONDS = 1  # between readings of what a program has printed
LONGEST_FILTER = 100_000  # characters; Linux takes 128 KiB in a word
LONGEST_TEXT = 400  # of a failure that is kept,
MAX_LINES = 5  # and of what was said before a crash
MIN_SECONDS = 20  # of a program under a tool, as the first use of a GPU may take long
MIN_SECONDS_MORE = 3  # for what its share was too short for; with less it is not begun
# Weights in sharing the time, where not 1. The heaviest comes first: every kernel's conformance, without
# which no figure means anything.
HEAVY = {"training_test": 2, "kernels_test": 6}


@dataclass
class Outcome:
    """What came of the tests of an executable."""

    passed: int = 0
    failed: dict = field(default_factory=dict)  # name → the beginning of what it said
    skipped: dict = field(default_factory=dict)  # reason → how many
    unfinished: str = None  # the test that was running when the program ended,
    said: list = field(default_factory=list)  # and its last lines
    names: list = field(default_factory=list)  # of all that began
    lost: bool = False  # the last of them made the GPUs unusable

    def begin_unfinished_anew(self):
        """What was running when the time was up counts as not begun."""
        if self.unfinished:
            self.names.remove(self.unfinished)
        self.unfinished = None

    def plus(self, other):
        """Both, as if one process had run them; this one stays as it is."""
        both = Outcome(self.passed, dict(self.failed), dict(self.skipped), names=list(self.names))
        both.add(other)
        return both

    def add(self, other):
        self.passed += other.passed
        self.failed.update(other.failed)
        for reason, count in other.skipped.items():
            self.skipped[reason] = self.skipped.get(reason, 0) + count
        self.unfinished = other.unfinished
        self.names += other.names


def beginning(lines):
    text = " | ".join(line.strip() for line in lines if line.strip())
    return text[:LONGEST_TEXT] or "it had no output"


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
                outcome.lost = any(LOST in line for line in said)
                if outcome.lost:
                    break
            else:
                reason = reason_of(said)
                outcome.skipped[reason] = outcome.skipped.get(reason, 0) + 1
        said = []
    outcome.said = said
    return outcome


@dataclass
class Tests:
    """Tests of an executable: what is wanted, and what is known of them."""

    program: object  # its path
    wanted: list = field(default_factory=list)  # GoogleTest's patterns; empty: all
    unwanted: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    outcome: Outcome = field(default_factory=Outcome)
    ends: list = field(default_factory=list)  # how each process ended

    def filter(self):
        """Without those that have begun."""
        return f"{':'.join(self.wanted) or '*'}-{':'.join([*self.unwanted, *self.outcome.names])}"

    def run(self, setting, wrapper=()):
        """Runs those that have not begun. After a crash, or when a test has made the GPUs unusable, it
        goes on with those behind in a new process, so that no failure hides another. Yields what is known
        while it runs."""
        for _ in range(MAX_RESTARTS + 1):
            if setting.left() <= 0:
                yield self.known()
                break
            ended, part = yield from self.run_process(setting, wrapper)
            if ended.at_limit or not (part.unfinished or part.lost):
                break
            if part.unfinished:
                self.outcome.failed[part.unfinished] = (
                    f"{ended.how()}: {beginning(part.said[-MAX_LINES:])}"
                )
            if len(self.filter()) > LONGEST_FILTER:
                break

    def run_process(self, setting, wrapper):
        command = [*wrapper, self.program, f"--gtest_filter={self.filter()}"]
        environment = {
            "PARBENCH_REQUIRE_CUDA": "1" if setting.on_gpu else "0",
            "GTEST_COLOR": "no",
            **cudnn_log.environment(setting, self.program.name),
            **self.environment,
        }
        with Running(command, setting.left(), environment) as process:
            while not process.ended_within(POLL_SECONDS):
                part = read_output(process.said())
                if part.lost:
                    process.stop()
                    break
                yield self.known(part)
            ended = process.ended()
        part = read_output(ended.out)
        self.outcome.add(part)
        self.ends.append(ended)
        yield self.known()
        return ended, part

    def known(self, part=None):
        """As JSON, with what the process that runs now has done."""
        if part:
            return result_of(self.program.name, self.outcome.plus(part), self.ends, "running")
        return result_of(self.program.name, self.outcome, self.ends)

    def was_cut(self):
        return not self.ends or self.ends[-1].at_limit


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


def result_of(name, outcome, ends, status=None):
    """As JSON."""
    return {
        "program": name,
        "status": status or status_of(outcome, ends),
        "began": len(outcome.names),
        "passed": outcome.passed,
        "failed": outcome.failed,
        "skipped": outcome.skipped,
        "processes": len(ends),
        "seconds": round(sum(end.seconds for end in ends), 1),
    }


def weights(folder):
    """All test executables with their weights, the heaviest first."""
    programs = [path for path in sorted(folder.iterdir()) if path.is_file()]
    found = {program.name: HEAVY.get(program.name, 1) for program in programs}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def content_of(results):
    """What is known of all programs."""
    results = list(results)
    return {
        "programs": results,
        "problems": [f"{r['program']}: {problem_of(r)}" for r in results if r["status"] != "passed"],
        "passed": sum(result["passed"] for result in results),
        "failed": sum(len(result["failed"]) for result in results),
        "skipped": sum(sum(result["skipped"].values()) for result in results),
    }


def run_all(setting, every):
    """Test executables one after the other: some of them fill the GPU's memory. What the time of some
    leaves goes to those that did not end in theirs."""
    wanted = weights(setting.tests)
    every = {name: every(setting.tests / name) for name in wanted}
    results = {}
    for name, portion in portions(wanted):
        setting.say(f"tests of {name}")
        for results[name] in every[name].run(setting.with_portion(portion)):
            yield content_of(results.values())
    cut = {name: wanted[name] for name, tests in every.items() if tests.was_cut()}
    for name, portion in portions(cut):
        if setting.left() < MIN_SECONDS_MORE:
            break
        setting.say(f"the other tests of {name}")
        every[name].outcome.begin_unfinished_anew()
        for results[name] in every[name].run(setting.with_portion(portion)):
            yield content_of(results.values())


def gpu_tests(setting):
    """Those of GPUs, in all executables."""
    yield from run_all(setting, lambda program: Tests(program, wanted=GPU_TESTS))


def other_tests(setting):
    """Those of processors and of everything else: they pass without a GPU, so they come last."""
    yield from run_all(setting, lambda program: Tests(program, unwanted=GPU_TESTS))


def partition_tests(setting):
    """The conformance of every operation on half of a GPU, which is a green context: the second, as the
    first alone would have all multiprocessors."""
    program = setting.tests / "kernels_test"
    if not setting.on_gpu or not program.exists():
        return
    on_partition = {"PARBENCH_TEST_GPU": setting.pair.split(",")[-1]}
    tests = Tests(program, ["*Conformance*cuda*"], environment=on_partition)
    for result in tests.run(setting):
        yield content_of([result])


def problem_of(result):
    """What is wrong, with the first failure."""
    texts = [] if result["status"] == "failed" else [result["status"]]
    for name, said in list(result["failed"].items())[:1]:
        texts.append(f"{len(result['failed'])} failed, first {name}: {said}")
    return "; ".join(texts)
