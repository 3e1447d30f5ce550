# Runs test executables, also if they crash or hang, and summarizes their output.
#
# Reads GoogleTest's output instead of its JSON file, which a crashed program does not write.
import contextlib
import re
import time
from dataclasses import dataclass, field

import cudnn_log
from programs import Running
from setting import portions

# Patterns for the tests of GPUs, by test or suite name.
GPU_TESTS = ["*cuda*", "*Cuda*", "*Gpu*", "*Partitions*", "Autotune.*", "Choices.*"]
# Message of a test that made the GPUs unusable for its process: later results do not count.
LOST = "no GPU can be used again"
LINE = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] (\S+?\.\S+?)(?:,| \(|$)")
MAX_RESTARTS = 10  # after crashes and lost GPUs
POLL_SECONDS = 1  # between readings of a program's output
LONGEST_FILTER = 100_000  # characters; Linux limits an argument to 128 KiB
LONGEST_TEXT = 400  # characters of a stored failure
MAX_LINES = 5  # lines of the stored output before a crash
MIN_SECONDS = 20  # minimum for a program under a tool, because the first use of a GPU may take long
MIN_SECONDS_MORE = 3  # minimum for starting a program again whose share was too short
# Conformance of every operation, required for any figure to be meaningful.
CONFORMANCE = "*Conformance*cuda*"
# Tests of a program that several processes share, because they are the majority. The others compare the
# GPU's memory or times, so they run in one process without others.
SHARED = {"kernels_test": CONFORMANCE, "cpu_cases_test": "*Partitions*"}
SHARDS = 8
# Weights of programs in sharing the time, if not 1. The heaviest run first.
HEAVY = {"kernels_test": 6, "cpu_cases_test": 4, "training_test": 2}
UNSHARED_WEIGHT = 2  # weight of the other tests of a program with shared tests


@dataclass
class Outcome:
    """Results of an executable's tests."""

    passed: int = 0
    failed: dict = field(default_factory=dict)  # name → the beginning of its output
    skipped: dict = field(default_factory=dict)  # reason → number of tests
    unfinished: list = field(default_factory=list)  # tests that were running when their process ended
    said: list = field(default_factory=list)  # the last lines of one process
    names: list = field(default_factory=list)  # names of all tests that began
    lost: bool = False  # whether the last test made the GPUs unusable

    def begin_unfinished_anew(self):
        """Treats tests that were running at the time limit as not begun."""
        self.names = [name for name in self.names if name not in self.unfinished]
        self.unfinished = []

    def plus(self, others):
        """Returns the sum of outcomes, as if one process had run all tests. Does not change this one."""
        total = Outcome(self.passed, dict(self.failed), dict(self.skipped), names=list(self.names))
        for other in others:
            total.add(other)
        return total

    def add(self, other):
        self.passed += other.passed
        self.failed.update(other.failed)
        for reason, count in other.skipped.items():
            self.skipped[reason] = self.skipped.get(reason, 0) + count
        self.unfinished += other.unfinished
        self.names += other.names


def beginning(lines):
    text = " | ".join(line.strip() for line in lines if line.strip())
    return text[:LONGEST_TEXT] or "it had no output"


def reason_of(lines):
    """Returns why a test was skipped: its output without the source location."""
    return beginning([line for line in lines if not re.match(r"^\S+:\d+: Skipped$", line)])


def read_output(text):
    """Returns the outcome from a test executable's output, even if incomplete."""
    outcome = Outcome()
    said = []
    for line in text.splitlines():
        found = LINE.match(line)
        if not found:
            said.append(line)
            continue
        word, name = found.groups()
        if word == "RUN":
            outcome.unfinished = [name]
            outcome.names.append(name)
        elif name in outcome.unfinished:  # the list of failures at the end repeats the names
            outcome.unfinished = []
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


@dataclass(eq=False)
class Tests:
    """Selected tests of an executable, and their results so far."""

    program: object  # path
    wanted: list = field(default_factory=list)  # GoogleTest's patterns; empty: all
    unwanted: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    shards: int = 1  # processes that share the tests and run concurrently
    outcome: Outcome = field(default_factory=Outcome)
    ends: list = field(default_factory=list)  # how each process ended; in a round, those at their limit last
    seconds: float = 0

    def filter(self, names=()):
        """Returns a filter that excludes the tests of these names."""
        return f"{':'.join(self.wanted) or '*'}-{':'.join([*self.unwanted, *names])}"

    def run(self, setting, wrapper=()):
        """Runs the tests that have not begun. After a crash, or if a test has made the GPUs unusable,
        continues with later tests in new processes, so that no failure hides another. Yields results
        while it runs."""
        for _ in range(MAX_RESTARTS + 1):
            wanted = self.filter(self.outcome.names)
            if setting.left() <= 0 or len(wanted) > LONGEST_FILTER:
                break
            command = [*wrapper, self.program, f"--gtest_filter={wanted}"]
            ends = yield from self.run_round(setting, command)
            if not self.add_round(ends):
                break
            yield self.known()
        yield self.known()

    def add_round(self, ends):
        """Adds the output of processes. Returns whether tests after a crash remain to be run."""
        self.outcome.unfinished, goes_on = [], False
        for ended in sorted(ends, key=lambda one: one.at_limit):
            part = read_output(ended.out)
            if part.unfinished and not ended.at_limit:
                part.failed[part.unfinished.pop()] = f"{ended.how()}: {beginning(part.said[-MAX_LINES:])}"
                goes_on = True
            goes_on = goes_on or part.lost
            self.outcome.add(part)
            self.ends.append(ended)
        return goes_on and not self.was_cut()

    def run_round(self, setting, command):
        """Runs the command once, in as many processes as there are shards. Yields results so far and
        returns how the processes ended."""
        began, ends = time.monotonic(), []
        with contextlib.ExitStack() as stack:
            left = [
                stack.enter_context(Running(command, setting.left(), self.environment_of(setting, shard)))
                for shard in range(self.shards)
            ]
            while left:
                left[0].ended_within(POLL_SECONDS)
                over = [process for process in left if is_over(process)]
                left = [process for process in left if process not in over]
                ends += [process.ended() for process in over]
                said = [end.out for end in ends] + [process.said() for process in left]
                if left:
                    yield self.known(map(read_output, said))
        self.seconds += time.monotonic() - began
        return ends

    def environment_of(self, setting, shard):
        shards = {"GTEST_TOTAL_SHARDS": str(self.shards), "GTEST_SHARD_INDEX": str(shard)}
        return {
            "PARBENCH_REQUIRE_CUDA": "1" if setting.on_gpu else "0",
            "GTEST_COLOR": "no",
            **(shards if self.shards > 1 else {}),
            **cudnn_log.environment(setting, self.program.name),
            **self.environment,
        }

    def known(self, parts=None):
        """Returns the results as JSON, including those of running processes."""
        if parts is None:
            return result_of(self, self.outcome, status_of(self.outcome, self.ends))
        return result_of(self, self.outcome.plus(parts), "running")

    def was_cut(self):
        return not self.ends or self.ends[-1].at_limit


def is_over(process):
    """Returns whether a process has ended. Ends a process whose GPUs are lost."""
    if process.ended_within(0):
        return True
    lost = read_output(process.said()).lost
    if lost:
        process.stop()
    return lost


def status_of(outcome, ends):
    """Returns the status as a word, or the output of a program that failed without a failing test."""
    if not ends:
        return "not run: time"
    if ends[-1].at_limit:
        return f"{ends[-1].how()}, in {', '.join(outcome.unfinished) or 'no test'}"
    if outcome.failed:
        return "failed"
    bad = next((end for end in ends if end.code != 0 and not end.at_limit), None)
    return f"{bad.how()}: {bad.last_words()}" if bad else "passed"


def result_of(tests, outcome, status):
    """Returns the results as JSON."""
    return {
        "program": tests.program.name,
        "filter": tests.filter(),
        "status": status,
        "began": len(outcome.names),
        "passed": outcome.passed,
        "failed": outcome.failed,
        "skipped": outcome.skipped,
        "processes": len(tests.ends),
        "seconds": round(tests.seconds, 1),
    }


def programs_in(folder):
    """Returns all test executables, the heaviest first."""
    programs = [path for path in sorted(folder.iterdir()) if path.is_file()]
    return sorted(programs, key=lambda path: -weight_of(path))


def weight_of(program):
    return HEAVY.get(program.name, 1)


def content_of(results):
    """Returns the results of all programs so far."""
    results = list(results)
    return {
        "programs": results,
        "problems": [f"{r['program']}: {problem_of(r)}" for r in results if r["status"] != "passed"],
        "passed": sum(result["passed"] for result in results),
        "failed": sum(len(result["failed"]) for result in results),
        "skipped": sum(sum(result["skipped"].values()) for result in results),
    }


def run_all(setting, weights):
    """Runs tests in order, one program at a time, because some fill the GPU's memory. Programs that were
    stopped at their limit get the time that others left."""
    results = {}
    for tests, portion in portions(weights):
        setting.say(f"tests of {tests.program.name}")
        for results[tests] in tests.run(setting.with_portion(portion)):
            yield content_of(results.values())
    for tests, portion in portions({one: weight for one, weight in weights.items() if one.was_cut()}):
        if setting.left() < MIN_SECONDS_MORE:
            break
        setting.say(f"the other tests of {tests.program.name}")
        tests.outcome.begin_unfinished_anew()
        for results[tests] in tests.run(setting.with_portion(portion)):
            yield content_of(results.values())


def gpu_tests(setting):
    """Runs the GPU tests of all executables."""
    weights = {}
    for program in programs_in(setting.tests):
        shared = [SHARED[program.name]] if program.name in SHARED else []
        if shared:
            weights[Tests(program, shared, shards=SHARDS)] = weight_of(program)
        weights[Tests(program, GPU_TESTS, shared)] = UNSHARED_WEIGHT if shared else weight_of(program)
    yield from run_all(setting, weights)


def other_tests(setting):
    """Runs all other tests, which need no GPU and therefore come last."""
    programs = programs_in(setting.tests)
    yield from run_all(setting, {Tests(one, unwanted=GPU_TESTS): weight_of(one) for one in programs})


def partition_tests(setting):
    """Tests the conformance of every operation on half of a GPU (a green context): the second half,
    because the first alone would have all multiprocessors."""
    program = setting.tests / "kernels_test"
    if not setting.on_gpu or not program.exists():
        return
    on_partition = {"PARBENCH_TEST_GPU": setting.pair.split(",")[-1]}
    tests = Tests(program, [CONFORMANCE], environment=on_partition, shards=SHARDS)
    for result in tests.run(setting):
        yield content_of([result])


def problem_of(result):
    """Returns the problem with the first failure."""
    texts = [] if result["status"] == "failed" else [result["status"]]
    for name, said in list(result["failed"].items())[:1]:
        texts.append(f"{len(result['failed'])} failed, first {name}: {said}")
    return "; ".join(texts)
