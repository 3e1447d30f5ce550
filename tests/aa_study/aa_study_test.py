"""scripts/aa-study with a stand-in for parbench and Google Benchmark's real compare.py."""
import json
import pathlib
import signal

import pytest

from support.process import PYTHON, ROOT, SCRIPTS_LIB, missing, run, start, text_of

STAND_IN = pathlib.Path(__file__).parent / "stand_in_parbench.py"
METHODS = ["ab", "reports", "compare.py"]


class Study:
    def __init__(self, folder):
        self.folder = folder
        program = [PYTHON, "-B", ROOT / "scripts/aa-study.d/study.py", "--root", "."]
        output = ["--raw", "raw", "--output", "results"]
        self.words = [*program, "--quick", *output, "--parbench", STAND_IN]

    def options(self, **env):
        return {"cwd": self.folder, "env": {"LOG": self.folder / "log", "PYTHONPATH": SCRIPTS_LIB, **env}}

    def run(self, *flags, code=0, **env):
        return run([*self.words, *flags], code=code, **self.options(**env))

    @property
    def results(self):
        return json.loads((self.folder / "results/results.json").read_text(encoding="utf-8"))

    @property
    def page(self):
        return text_of(self.folder / "results/README.md")

    @property
    def log(self):
        return text_of(self.folder / "log").splitlines()

    def row(self, *wanted):
        """Returns the row of a scenario, a change and a method."""
        return next(
            row for row in self.results["rows"]
            if (row["scenario"], row["change"], row["method"]) == wanted
        )


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path)


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """A study that was run to its end, and what it printed."""
    study = Study(tmp_path_factory.mktemp("study"))
    return study, study.run().out


@pytest.mark.parametrize("method", METHODS)
def test_judges_unchanged_and_slower_programs_by_every_method(complete, method):
    study, _ = complete
    for scenario, change, verdict, count in [
        ("selftest", "unchanged", "same", 2),
        ("matmul", "unchanged", "same", 2),
        ("selftest", "5 percent slower", "regressed", 2),
        ("selftest", "2.5 percent slower", "regressed", 2),
        ("selftest", "5 percent slower", "improved", 0),
    ]:
        assert study.row(scenario, change, method)[verdict] == count, (scenario, change)


def test_writes_figures_targets_and_a_page(complete):
    study, out = complete
    assert study.row("selftest", "unchanged", "ab")["median_pairs"] == 7
    assert study.row("selftest", "unchanged", "reports")["median_seconds"] > 0
    assert all(target["met"] is True for target in study.results["targets"])
    assert not missing(study.page, "A processor, 2 cores, 8 GiB", "| yes |", "scripts/aa-study")
    assert "What went wrong" not in study.page
    assert "How often verdicts are right" in out


def test_runs_one_program_at_a_time_with_the_flags_of_its_method(complete):
    log = complete[0].log
    begun, ended = log[::2], log[1::2]
    assert len(begun) == len(ended)
    assert all(line.startswith("begin ") for line in begun)
    assert all(line.startswith("end ") for line in ended), "another program had begun"
    for line in begun:
        assert ("--processes 5" in line) == line.startswith("begin run"), line
    runs = [line for line in begun if line.startswith("begin run")]
    assert sum("--slowdown 2.5" in line for line in runs) == 1, "only the candidate is slower"
    pairs = [line.split(" --b ") for line in begun if line.startswith("begin ab")]
    assert len(pairs) == 4
    assert sum("--slowdown 2.5" in b for _, b in pairs) == 1
    assert not any("--slowdown 2.5" in a for a, _ in pairs)


def test_continues_where_it_ended(study):
    study.run()
    once = len(study.log)
    study.run()
    assert len(study.log) == once, "everything was there"
    (study.folder / "raw/matmul-unchanged-ab/000/result.json").unlink()
    half_written = study.folder / "raw/selftest-unchanged-ab/000/result.json"
    half_written.write_text('{"seconds": 1', encoding="utf-8")
    study.run()
    assert len(study.log) == once + 4, "two comparisons by ab were missing"
    study.run("--comparisons", "2")
    assert len(study.log) == 2 * once + 4
    assert study.row("selftest", "unchanged", "ab")["comparisons"] == 2


def test_does_not_count_comparisons_of_two_programs_together(study):
    study.run()
    refused = study.run(code=2, PARBENCH_COMMIT="another")
    assert "raw holds comparisons of another study" in refused.err
    assert "--raw" in refused.err
    study.run("--raw", "new", PARBENCH_COMMIT="another")
    assert study.results["commit"] == "another"


def test_reports_what_failed_and_keeps_what_was_measured(study):
    study.run(code=1, FAILS="ab")
    assert study.row("selftest", "unchanged", "reports")["comparisons"] == 1
    assert study.row("selftest", "unchanged", "ab")["comparisons"] == 0
    assert study.results["targets"][0]["met"] is None
    assert not missing(study.page, "What went wrong", "exited 2: a planted failure", "not measured")


def test_ends_when_nothing_works(study):
    study.run("--comparisons", "5", code=1, FAILS="ab,run")
    assert len(study.results["failures"]) == 3
    assert "Nothing was measured." in study.page


def test_ends_at_its_time_limit(study):
    study.run("--time-limit", "3", code=1, HANGS="ab")
    assert len(study.log) == 1, "the one that hangs"
    assert study.results["failures"] == [], "the time limit is no failure of a program"


def test_writes_what_is_known_when_it_is_interrupted(study):
    with start(study.words, **study.options(HANGS="compare")) as process:
        process.wait_until(lambda: any(line.startswith("begin compare") for line in study.log))
        process.send_signal(signal.SIGTERM)
        process.finish(code=1)
    assert study.row("selftest", "unchanged", "ab")["comparisons"] == 1
    assert "interrupted" in study.page


@pytest.mark.parametrize("flag, value", [("--comparisons", "0"), ("--time-limit", "-1")])
def test_refuses_numbers_that_are_out_of_range(study, flag, value):
    assert f"{flag} {value}" in study.run(flag, value, code=2).err
