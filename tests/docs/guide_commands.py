"""The commands that the README and the guide name: found in their text, and divided into words."""
import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/guide").rglob("*.md"))]

PARBENCH = ("parbench", "./parbench", "build/release/bin/parbench")
FENCE = re.compile(r"^\s*(```|~~~)(\w*)")
COMMAND_LINE = re.compile(r"(\./parbench|scripts/|mpirun|srun|build/release/bin/parbench) ")
CODE_SPAN = re.compile(r"`([^`\n]+)`")
ASSIGNMENT = re.compile(r"[A-Z_]+=.*")
# Programs that start a run of several ranks.
MPI_LAUNCHERS = ("mpirun", "srun")
# What a reader replaces, and by what the tests do.
PLACEHOLDERS = {
    "NAME": "selftest", "MODEL": "resnet50", "COMMAND": "compare", "REPORT": "REPORT.json",
    "BASE": "before.json", "NEW": "after.json", "DIR": "reports/runs", "SITE": "site", "FORMAT": "csv",
}


class Command(NamedTuple):
    source: str  # page and line
    program: str  # as it is written
    words: tuple[str, ...]
    environment: dict[str, str]
    ranks: int = 1

    def __str__(self):
        return f"{self.source} {self.program} {' '.join(self.words)}"


def is_project_program(word):
    return word in PARBENCH or word == ".ci/run" or (
        re.fullmatch(r"(\./)?scripts/[\w/-]+", word) is not None and not (ROOT / word).is_dir())


def code_lines(text):
    """Lines of indented blocks and of fenced ones, without their indentation, with their numbers. Lines
    that a backslash joins are one. A fenced block without a language is output, unless it begins with a
    command."""
    fenced, lines, joined = None, text.splitlines(), ""
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if fence:
            begins_with_command = number < len(lines) and COMMAND_LINE.match(lines[number])
            opening = "sh" if begins_with_command else fence[2]
            fenced = opening if fenced is None else None
        elif (fenced is None and line.startswith("    ")) or fenced in ("sh", "bash"):
            joined += line.strip()
            if joined.endswith("\\"):
                joined = joined[:-1] + " "
                continue
            yield number, joined
            joined = ""


def spans(text):
    """Code in the prose, with the number of its line."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield from ((number, span) for span in CODE_SPAN.findall(line))


def simple_commands(line):
    """The words of each command of a line of shell, without comments."""
    line = re.sub(r"\$\([^)]*\)", "substituted", line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    words = []
    for word in lexer:
        if set(word) <= set("|&;"):
            yield words
            words = []
        else:
            words.append(word)
    yield words


def without_synopsis(line):
    """"show REPORT [-o FILE]" → "show REPORT.json": what may be left out goes, placeholders are replaced."""
    line = re.sub(r"\[[^\]]*\]|\|all|…", "", line)
    return re.sub(r"(?<![/\w])[A-Z]+\b(?![=./])", lambda word: PLACEHOLDERS.get(word[0], word[0]), line)


def command_of(source, words):
    """The command of the project in some words; None for other programs."""
    environment = {}
    while words and ASSIGNMENT.fullmatch(words[0]):
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    ranks = 2 if words[:1] and words[0] in MPI_LAUNCHERS else 1
    if words[:1] and words[0] in (*MPI_LAUNCHERS, "taskset"):
        words = words[next((i for i, word in enumerate(words) if is_project_program(word)), len(words)):]
    if not words or not is_project_program(words[0]):
        return None
    return Command(source, words[0].removeprefix("./") if "scripts/" in words[0] else words[0],
                   tuple(words[1:]), environment, ranks)


def commands_of_lines(name, lines):
    for number, line in lines:
        for words in simple_commands(line):
            command = command_of(f"{name}:{number}", list(words))
            if command is not None:
                yield command


def commands_of_pages(lines_of):
    """All commands of all pages in the lines that `lines_of` finds in a text, each once."""
    known = {}
    for path in PAGES:
        lines = lines_of(path.read_text(encoding="utf-8"))
        name = str(path.relative_to(ROOT))
        for command in commands_of_lines(name, ((n, without_synopsis(line)) for n, line in lines)):
            known.setdefault((command.program, command.words), command)
    return list(known.values())
