"""Whether parbench and its scripts accept the words of a command, without doing the work."""
import re

from support.process import PYTHON, ROOT, SCRIPTS_LIB, run

from guide_commands import PARBENCH, command_of, is_project_program, simple_commands

FLAG = re.compile(r"--[a-z][\w-]*")
CTEST_FLAGS = ("-R", "-L", "-LE")
# Commands whose flags are looked up in their help, and are not run.
ONLY_LOOKED_UP = ("peaks",)  # measures for half a minute


def is_measured(words):
    """Whether the words are those of a run, the command without a name."""
    return not words or words[0].startswith("-")


def without(words, flag, values=1):
    """The words without a flag and its values."""
    at = words.index(flag) if flag in words else len(words)
    return words[:at] + words[at + 1 + values:]


def as_dry_run(words):
    """The words of a dry run with devices that every machine has: as many parts of its cores."""
    words = without(without(list(words), "--oversubscribe", 0), "--dry-run", 0)
    words = without(words, "--trace")  # of a run that measures
    if "--devices" in words and "cuda" in words[words.index("--devices") + 1]:
        at = words.index("--devices") + 1
        words[at] = str(words[at].count(",") + 1)
    return [*words, "--oversubscribe", "--dry-run"]


def check_run(parbench, words, environment=None, ranks=1):
    plan = parbench(as_dry_run(words), environment, ranks=ranks)
    assert "estimated time" in plan, plan


def check_pairs(parbench, words):
    """Checks the commands that `ab` is given, and runs it with commands that end at once."""
    words = list(words)
    for flag in ("--a", "--b"):
        at = words.index(flag) + 1
        for inner in simple_commands(re.sub(r"\./build-[ab]/", "build/release/", words[at])):
            command = command_of(words[at], inner)
            if command is not None:
                check_run(parbench, command.words, command.environment)
        words[at] = "true"
    parbench([*without(words, "--measure"), "--measure", "wall", "--quiet"], codes=(0, 3, 4))


def check_parbench(parbench, command):
    words = list(command.words)
    if is_measured(words):
        check_run(parbench, words, command.environment, command.ranks)
    elif words[0] == "ab":
        check_pairs(parbench, words)
    elif words[0] in ONLY_LOOKED_UP:
        check_flags(words[1:], parbench(["help", words[0]]))
    else:
        parbench(words, command.environment, codes=(0, 3, 4) if words[0] == "compare" else (0,))


def check_flags(words, text):
    known = {*FLAG.findall(text), "--help", "--version"}
    unknown = [word for word in words if FLAG.match(word) and FLAG.match(word)[0] not in known]
    assert unknown == [], text


def source_of(script):
    """The text of a script and of its parts."""
    paths = [ROOT / script, *sorted((ROOT / f"{script}.d").glob("*.py"))]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def check_script(parbench, build, command):
    """Looks up a script's flags; runs what it says without installing, and what it passes to parbench."""
    words = list(command.words)
    own = words[: words.index("--")] if "--" in words else words
    after = words[len(own) + 1:]
    check_flags(own, source_of(command.program))
    if after and is_project_program(after[0]):
        after = after[1:]
    if command.program == "scripts/ci/compare":
        check_flags(after, parbench(["help", "compare"]))
    elif after:
        scenario = [] if "--scenario" in after else ["--scenario", "selftest"]  # scripts/ci/run adds one
        check_run(parbench, [*scenario, *after], ranks=2 if command.program == "scripts/two-hosts" else 1)
    if command.program == "scripts/peers":
        check = [PYTHON, "-B", ROOT / "scripts/peers.d/compare.py", "--check"]
        run([*check, *(PYTHON if word.startswith("python") else word for word in own)],
            env={"PYTHONPATH": SCRIPTS_LIB})
    chosen = next((at for at, word in enumerate(own) if word in CTEST_FLAGS), None)
    if chosen is not None:
        assert "Total Tests: 0" not in run(["ctest", "--test-dir", build.folder, "-N", *own[chosen:]]).out


def check(parbench, build, command):
    if command.program in PARBENCH:
        check_parbench(parbench, command)
    else:
        check_script(parbench, build, command)
