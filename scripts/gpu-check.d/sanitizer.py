# Runs Compute Sanitizer on the tests that use a GPU: first on failed tests, then for invalid accesses
# and races of parbench's own kernels, and last, because it takes longest, for invalid accesses of all
# kernels: a vendor's kernel that gets a wrong buffer is parbench's fault.
import re
from dataclasses import dataclass

from googletest import GPU_TESTS, MIN_SECONDS, Tests, problem_of
from programs import run_program
from setting import portions

# parbench's kernels are in a namespace of this name.
OUR_KERNELS = ["--kernel-name", "kns=parbench"]
# Compares the GPU's free memory, which PyTorch changes by compiling during this step.
UNWATCHED = ["Autotune.KeepsNoMemoryOfItsOwn"]
# Operations computed mostly by cuDNN and cuBLASLt, where watching parbench's kernels gains little, and
# convolutions that also use a kernel of parbench.
OF_VENDORS = ["*cuda*_convolution_*", "*cuda*_gemm*", "*cuda*_lstm*"]
OURS_IN_CONVOLUTIONS = ["*cuda*_convolution_weights_*bf16*", "*cuda*_convolution_*bias*"]
MAX_FAILED = 20  # number of failed tests of a program to run again
FAILING = 97  # the tool's exit code for findings, set by --error-exitcode
NO_TESTS = "it has no test of a GPU"
SUMMARY = re.compile(r"^=+ ((?:ERROR|RACECHECK) SUMMARY: .*)$", re.MULTILINE)
REFUSAL = re.compile(r"^=+ ((?:Error: )?.*(?:not supported|No attachable process|Unable to).*)$", re.M)


@dataclass(frozen=True)
class Watch:
    """Tests of a program under a tool."""

    tool: str
    what: str  # description of the watched kernels
    flags: tuple  # flags that select the kernels
    program: str
    tests: tuple
    weight: int  # weight in sharing the time
    without: tuple = ()  # excluded tests


def of_failed(setting):
    """Yields the tests that failed without the tool, to explain their errors."""
    for program, names in setting.failed_tests.items():
        yield Watch("memcheck", "all kernels of failed tests", (), program, tuple(names[:MAX_FAILED]), 8)


def of_all():
    tests, ours, vendors = tuple(GPU_TESTS), tuple(OUR_KERNELS), tuple(OF_VENDORS)
    convolutions = tuple(OURS_IN_CONVOLUTIONS)
    yield Watch("memcheck", "our kernels", ours, "kernels_test", tests, 8, vendors)
    yield Watch("memcheck", "our kernels", ours, "runtime_test", tests, 1)
    yield Watch("racecheck", "our kernels", ours, "kernels_test", tests, 6, vendors)
    yield Watch("memcheck", "our kernels in convolutions", ours, "kernels_test", convolutions, 2)
    yield Watch("memcheck", "our kernels", ours, "scenario_tests", tests, 2)
    yield Watch("memcheck", "all kernels", (), "kernels_test", tests, 8)


def command_of(watch, path):
    """Returns the command. API errors are not reported: tests provoke some, and parbench checks them all."""
    common = ["--report-api-errors", "no", "--error-exitcode", FAILING]
    return [path, "--tool", watch.tool, *common, *watch.flags]


def status_of(result, tests, said):
    """Returns the reason why the result is incomplete."""
    refused = REFUSAL.search(said)
    if refused and not tests.outcome.passed:
        return f"not run: {refused.group(1).strip()}"
    if tests.ends and not tests.outcome.names:
        return NO_TESTS
    return result["status"]


def results_of(setting, watch):
    """Yields the results so far while the tests run."""
    tests = Tests(setting.tests / watch.program, list(watch.tests), [*UNWATCHED, *watch.without])
    for result in tests.run(setting, command_of(watch, setting.sanitizer)):
        said = "\n".join(end.out for end in tests.ends)
        status = result["status"]
        if status != "running":
            status = status_of(result, tests, said)
        kept = {"tool": watch.tool, "what": watch.what, "summary": SUMMARY.findall(said)}
        yield {**result, **kept, "status": status}


def problem(result):
    """Returns findings, or why the result is incomplete; None if there is no problem."""
    found = [line for line in result["summary"] if not re.search(r": 0 (errors|hazards)", line)]
    if not found and result["status"] in ("passed", NO_TESTS):
        return None
    text = " ".join(found) or problem_of(result)
    return f"{result['tool']} over {result['program']}, {result['what']}: {text}"


def sanitizer(setting):
    """Runs all watches for which there is time."""
    content = {"runs": [], "problems": []}
    if setting.sanitizer_missing:
        yield {**content, "not_run": setting.sanitizer_missing}
        return
    content["version"] = run_program([setting.sanitizer, "--version"], 20).last_words()
    watches = [w for w in [*of_failed(setting), *of_all()] if (setting.tests / w.program).exists()]
    known = []
    for watch, portion in portions({watch: watch.weight for watch in watches}):
        setting.say(f"{watch.tool} over {watch.program}, {watch.what}")
        known.append(None)
        for known[-1] in results_of(setting.with_portion(portion, MIN_SECONDS), watch):
            problems = [text for text in map(problem, known) if text]
            yield {**content, "runs": known, "problems": problems}
