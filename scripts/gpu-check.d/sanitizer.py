# Compute Sanitizer over the tests that use a GPU: invalid accesses of all kernels, vendors' ones
# included, and races of our own in shared memory.
import re

from googletest import LEAST_SECONDS, problem_of, result_of, run_tests
from programs import run_program
from setting import portions

# Tests of CUDA devices have them in their names.
GPU_TESTS = "--gtest_filter=*cuda*:*Cuda*:*Gpu*"
# Our kernels live in a namespace of this name; NVIDIA's are not ours to judge and slow to watch.
OUR_KERNELS = ["--kernel-name", "kns=parbench"]
TOOLS = {"memcheck": [], "racecheck": OUR_KERNELS}
# Weights in sharing the time. The conformance tests come last, so that they get what the others leave.
PROGRAMS = {"runtime_test": 1, "plan_test": 1, "scenario_tests": 2, "kernels_test": 8}
FAILING = 97  # exit code that the tool is told to use for its findings
NO_TESTS = "it has no test of a GPU"
SUMMARY = re.compile(r"^=+ ((?:ERROR|RACECHECK) SUMMARY: .*)$", re.MULTILINE)
REFUSAL = re.compile(r"^=+ ((?:Error: )?.*(?:not supported|No attachable process|Unable to).*)$", re.M)


def command_of(tool, path, flags):
    """API errors are left out: the tests provoke some, and our own code checks all of them."""
    return [path, "--tool", tool, "--report-api-errors", "no", "--error-exitcode", FAILING, *flags]


def status_of(result, outcome, ends, said):
    """In the words of whoever kept it from being whole."""
    refused = REFUSAL.search(said)
    if refused and not outcome.passed:
        return f"not run: {refused.group(1).strip()}"
    if ends and not outcome.names:
        return NO_TESTS
    return result["status"]


def check(setting, program, tool):
    """One program under one tool."""
    wrapper = command_of(tool, setting.sanitizer, TOOLS[tool])
    outcome, ends = run_tests(program, setting, wrapper, [GPU_TESTS])
    said = "\n".join(end.out for end in ends)
    result = {"tool": tool, **result_of(program.name, outcome, ends)}
    return {
        **result,
        "status": status_of(result, outcome, ends, said),
        "summary": SUMMARY.findall(said),
    }


def problem(result):
    """What was found or kept it from being whole; None where all is well."""
    found = [line for line in result["summary"] if not re.search(r": 0 (errors|hazards)", line)]
    if not found and result["status"] in ("passed", NO_TESTS):
        return None
    return f"{result['tool']} over {result['program']}: {' '.join(found) or problem_of(result)}"


def weights(folder):
    """Programs and tools with their weights."""
    there = {name: weight for name, weight in PROGRAMS.items() if (folder / name).exists()}
    return {(folder / name, tool): weight for name, weight in there.items() for tool in TOOLS}


def sanitizer(setting):
    """Every tool over every program, as far as the time goes."""
    content = {"runs": [], "problems": []}
    if setting.sanitizer_missing:
        yield {**content, "not_run": setting.sanitizer_missing}
        return
    content["version"] = run_program([setting.sanitizer, "--version"], 20).last_words()
    for (program, tool), portion in portions(weights(setting.tests)):
        setting.say(f"{tool} over {program.name}")
        result = check(setting.with_portion(portion, LEAST_SECONDS), program, tool)
        content["runs"].append(result)
        if problem(result):
            content["problems"].append(problem(result))
        yield content
