"""parbench and its scripts accept every command and flag of the README and the guide."""
import os
import re

import pytest

from support.process import ROOT, run

from acceptance import FLAG, check, check_flags, is_measured
from guide_commands import PAGES, PARBENCH, code_lines, commands_of_pages, spans

# Flags of other programs that pages name.
FOREIGN_FLAGS = {
    "MPI launchers": "--bind-to --map-by --mca --oversubscribe --mpi",
    "containers": "--gpus --ipc --device --cap-add --cpus",
    "CMake": "--preset --build --install --prefix",
    "Google Benchmark": "--benchmark_context --benchmark_display_aggregates_only --benchmark_filter "
    "--benchmark_format --benchmark_min_time --benchmark_min_warmup_time --benchmark_out "
    "--benchmark_repetitions --benchmark_report_aggregates_only",
    "examples/two-streams": "--rows",
}
SPANS = commands_of_pages(spans)


@pytest.mark.parametrize("command", commands_of_pages(code_lines), ids=str)
def test_command_is_accepted(command, parbench, build):
    check(parbench, build, command)


@pytest.mark.parametrize("command", [c for c in SPANS if c.program not in PARBENCH], ids=str)
def test_script_in_prose_is_accepted(command, parbench, build):
    check(parbench, build, command)


@pytest.mark.parametrize("command", [c for c in SPANS if c.program in PARBENCH], ids=str)
def test_command_in_prose_exists(command, parbench):
    """Prose leaves out words that a command needs."""
    words = list(command.words)
    name = [] if is_measured(words) or words[0] == "help" else [words[0]]
    check_flags(words, parbench(["help", *name]))


def test_every_flag_exists(parbench):
    """Flags of any command of parbench, of a script, or of a program in the list above."""
    listed = parbench(["--help"]).split("Commands:")[1].split("\n\n")[0]
    texts = [parbench(["help", *name]) for name in ([], *([n] for n in re.findall(r"^  (\w+) ", listed, re.M)))]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / "scripts").rglob("*") if path.is_file()]
    known = {flag for text in [*texts, *FOREIGN_FLAGS.values()] for flag in FLAG.findall(text)}
    unknown = [f"{path.relative_to(ROOT)}:{number}: {flag}" for path in PAGES
               for lines_of in (code_lines, spans)
               for number, line in lines_of(path.read_text(encoding="utf-8"))
               for flag in FLAG.findall(line) if flag not in known]
    assert unknown == [], "\n".join(unknown)


@pytest.mark.parametrize("script", sorted(path for path in (ROOT / "scripts").iterdir()
                                          if path.is_file() and os.access(path, os.X_OK)),
                         ids=lambda path: path.name)
def test_every_script_shows_its_help(script):
    shown = run([script, "--help"])
    assert f"scripts/{script.name}" in shown.out or f"usage: {script.name}" in shown.out
    assert shown.err == ""


def test_commands_are_found():
    """The pages have many commands: a change of their form must not leave out most of them."""
    programs = [command.program for command in commands_of_pages(code_lines)]
    assert len(programs) > 80
    assert {"./parbench", "build/release/bin/parbench", "scripts/peers", "scripts/ci/run"} <= set(programs)
