"""The scripts of scripts/ci as a workflow calls them, with a local repository as the remote and a
stand-in for gh."""
import json
import pathlib
import shlex
import shutil

import pytest

from support.process import ROOT, SYSTEM_PATH, run, text_of, write_program

STAND_INS = pathlib.Path(__file__).parent
MARKER = "<!-- parbench: comparison -->"


class Ci:
    def __init__(self, folder, build):
        self.folder = folder
        self.env = {
            "PARBENCH": STAND_INS / "stand_in_parbench",
            "PARBENCH_BINARY": build.program("parbench"),
            "PATH": f"{STAND_INS}:{SYSTEM_PATH}",
            "LOG": folder / "log",
            "GITHUB_STATE": folder / "github.json",
        }

    def call(self, script, *words, code=0, **env):
        command = [ROOT / "scripts/ci" / script, *words]
        return run(command, code=code, cwd=self.folder, env={**self.env, **env})

    def read(self, name):
        return text_of(self.folder / name)

    def write(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def add_report(self, name, day, cpu="A", complete=True, seconds=1, spread=0.001):
        """Writes a report of one case, measured by six processes."""
        report = json.loads((ROOT / "tests/fuzz/corpus/report/smallest.json").read_text(encoding="utf-8"))
        content = report["parbench"]
        content.update(started_utc=f"2026-05-{day:02}T10:00:00Z", complete=complete)
        content["machine"].update(cpu_model=cpu, commit="0123456789abcdef")
        case = {"name": "selftest/spin", "scenario": "selftest", "strategy": "spin", "dtype": "f32"}
        sample = {"wall_seconds": seconds, "cpu_seconds": 0, "iterations": 1}
        samples = [
            {**sample, "seconds": seconds * (1 + spread * (process - 2.5)), "round": process, "process": process}
            for process in range(6)
        ]
        content["cases"] = [{**case, "parameters": {}, "status": "measured", "samples": samples}]
        self.write(name, json.dumps(report))

    @property
    def comments(self):
        return [comment["body"] for comment in json.loads(self.read("github.json"))["comments"]]

    def set_github(self, pulls=(), comments=()):
        self.write("github.json", json.dumps({"pulls": pulls, "comments": comments}))


@pytest.fixture
def ci(tmp_path, build):
    return Ci(tmp_path, build)


@pytest.mark.parametrize(
    "flags, code, log",
    [
        ([], 0, "--scenario all --processes 6 --report results/report.json\n"),
        (["--processes", "2", "--", "--scenario", "matmul"], 1,
         "--scenario matmul --processes 2 --report results/report.json\n"),
        (["--", "--max-total-time", "60"], 0,
         "--scenario all --max-total-time 60 --processes 6 --report results/report.json\n"),
        (["--", "--config=quick.json"], 0,
         "--config=quick.json --processes 6 --report results/report.json\n"),
    ],
    ids=["defaults", "flags and failed cases", "flags and all scenarios", "cases of a file"],
)
def test_run_measures_and_writes_the_page(ci, flags, code, log):
    ci.call("run", "--output", "results", *flags, code=code, RUN_EXIT=code)
    assert ci.read("log") == log
    assert ci.read("results/report.html").startswith("<!doctype html>")


COMPARE = ["compare", "new.json", "--among", "old", "-o", "comparison.md"]


def test_compare_takes_the_last_good_report_of_the_same_machine(ci):
    ci.add_report("new.json", 5)
    ci.add_report("old/2026-05-01.json", 1)
    ci.add_report("old/2026-05-02.json", 2)
    ci.add_report("old/2026-05-03.json", 3, complete=False)
    ci.add_report("old/2026-05-04.json", 4, cpu="B")
    ci.write("old/2026-06-01.json", "{")
    ci.call(*COMPARE)
    assert "BASE: old/2026-05-02.json" in ci.read("comparison.md")
    ci.add_report("new.json", 5, seconds=2)
    ci.call(*COMPARE, code=3)
    assert "regressed" in ci.read("comparison.md")


def test_compare_requires_that_enough_is_decided(ci):
    ci.add_report("old/2026-05-01.json", 1)
    ci.add_report("new.json", 5, spread=0.1)
    ended = ci.call(*COMPARE, code=4)
    assert "comparing with old/2026-05-01.json" in ended.err
    assert ci.read("comparison.md").startswith("**Undecided: 1 of 1 case; 50% must be decided")
    ci.call(*COMPARE, "--require-decided", "0")
    assert ci.read("comparison.md").startswith("**Undecided: 1 of 1 case.")
    ci.call(*COMPARE, "--", "--threshold", "500")
    assert ci.read("comparison.md").startswith("**No regression found in 1 case. 1 the same.")


def test_compare_says_when_there_is_no_report_to_compare_with(ci):
    ci.add_report("new.json", 5)
    ci.add_report("old/other.json", 4, cpu="B")
    shutil.copy(ci.folder / "new.json", ci.folder / "old/itself.json")
    ci.call(*COMPARE)
    assert "No complete report of this class" in ci.read("comparison.md")


def test_compare_compares_reports_of_different_machines_where_it_is_asked_to(ci):
    ci.add_report("new.json", 5)
    ci.add_report("old/2026-05-04.json", 4, cpu="B")
    ci.call(*COMPARE, "--", "--allow-different-machine")
    assert "BASE: old/2026-05-04.json" in ci.read("comparison.md")


def test_compare_says_when_parbench_writes_nothing(ci):
    ci.add_report("new.json", 5)
    ci.add_report("old/2026-05-04.json", 4)
    silent = write_program(ci.folder / "silent", "exit 1")
    ended = ci.call(*COMPARE, code=1, PARBENCH=silent)
    assert "parbench compare wrote no comparison of old/2026-05-04.json and new.json (exit code 1)" in ended.err


def test_compare_refuses_missing_files_and_folders(ci):
    ci.call("compare", "none.json", "--among", ".", "-o", "c.md", code=2)
    ci.add_report("new.json", 5)
    refused = ci.call("compare", "new.json", "--among", "none", "-o", "c.md", code=2)
    assert "--among 'none' is not a folder" in refused.err


PULL = ["comment", "text.md", "--repository", "o/n", "--pull", "7"]


def test_comment_renews_its_own_comment_only(ci):
    foreign = [
        {"id": 1, "body": "well done", "user": {"login": "another-user"}},
        {"id": 2, "body": f"{MARKER}\nmine!", "user": {"login": "another-user"}},
    ]
    ci.set_github(comments=foreign)
    ci.write("text.md", "first\n")
    ci.call(*PULL)
    ci.write("text.md", "second\n")
    assert "comment renewed" in ci.call(*PULL).err
    assert ci.comments == ["well done", f"{MARKER}\nmine!", f"{MARKER}\nsecond\n"]


def test_comment_finds_the_pull_request_of_a_branch_at_its_commit(ci):
    ci.set_github(pulls=[{"number": 7, "label": "fork:topic", "head": {"sha": "abc"}}])
    ci.write("text.md", "text")
    words = ["comment", "text.md", "--repository", "o/n"]
    for head, commit in [("fork:topic", "old"), ("fork:other", "abc")]:
        ended = ci.call(*words, "--head", head, "--commit", commit, code=None)
        assert "no open pull request" in ended.err
    assert ci.comments == []
    ended = ci.call(*words, "--head", "fork:topic", "--commit", "abc", code=None)
    assert "pull request 7: comment written" in ended.err
    assert len(ci.comments) == 1 and "text" in ci.comments[0]


def test_comment_is_shortened_to_what_github_accepts(ci):
    ci.set_github()
    ci.write("text.md", "x" * 100_000)
    ci.call(*PULL)
    assert len(ci.comments[0].encode()) <= 65_536
    assert "The rest is in the artifact" in ci.comments[0]


def test_comment_fails_when_github_refuses(ci):
    ci.write("text.md", "text")
    assert "error: gh api" in ci.call(*PULL, code=1).err


def steps_of_the_guide():
    """The commands of "The steps by hand", each as words without its comment."""
    page = text_of(ROOT / "docs/guide/continuous-integration.md")
    block = page.split("## The steps by hand\n")[1].split("\n\n- ")[0]
    return [shlex.split(line, comments=True) for line in block.splitlines() if line.startswith("    ")]


@pytest.fixture
def published(ci, repository, tmp_path):
    """A repository with a bare one as its origin, to which reports are published."""
    remote = type(repository)(tmp_path / "remote.git")
    remote.folder.mkdir()
    remote.git("init", "-q", "--bare")
    repository.commit()
    repository.git("remote", "add", "origin", remote.folder)
    return remote


def publish(ci, report, code=0):
    return ci.call("publish", report, "--repository", "repository", code=code)


def test_the_steps_of_the_guide_follow_each_other(ci, published):
    ci.set_github()
    steps = steps_of_the_guide()
    names = [pathlib.Path(words[0]).name for words in steps]
    assert names == ["run", "reports", "compare", "comment", "publish"]
    for _ in range(2):  # the second time there is an earlier report
        for name, (_, *words) in zip(names, steps):
            words = ["o/n" if word == "OWNER/NAME" else word for word in words]
            if name in ("reports", "publish"):
                words += ["--repository", "repository"]
            if name == "compare":
                words += ["--require-decided", "0"]  # a microsecond of a busy machine decides nothing
            ci.call(name, *words, code=None if name == "compare" else 0)
    assert len(list((ci.folder / "earlier").glob("*.json"))) == 1
    assert "BASE: earlier/" in ci.read("comparison.md")
    assert len(ci.comments) == 1 and "BASE: earlier/" in ci.comments[0]


def test_publish_creates_the_branch_and_adds_to_it(ci, repository, published):
    ci.add_report("one.json", 1)
    publish(ci, "one.json")
    assert published.git("show", "gh-pages:index.html").startswith("<!doctype html>")
    ci.add_report("two.json", 2)
    assert "2 files: 2 reports" in publish(ci, "two.json").out
    reports = published.git("ls-tree", "--name-only", "gh-pages:reports").split()
    assert reports == ["2026-05-01T100000Z-0123456789.json", "2026-05-02T100000Z-0123456789.json"]
    site = published.git("ls-tree", "--name-only", "gh-pages").split()
    assert {"index.html", ".nojekyll", "assets"} <= set(site)
    assert repository.git("status", "--porcelain") == ""
    assert "pages" not in repository.git("worktree", "list")


def test_publish_links_commits_to_the_repository(ci, published):
    ci.add_report("one.json", 1)
    url = "https://example.org/owner/name"
    ci.call("publish", "one.json", "--repository", "repository", "--repository-url", url)
    linked = published.git("grep", "--name-only", f"{url}/commit/0123456789", "gh-pages")
    assert "gh-pages:history/" in linked and "gh-pages:report/" in linked


def test_publish_repeats_its_work_on_top_of_what_others_pushed(ci, published):
    ci.add_report("one.json", 1)
    publish(ci, "one.json")
    # The first push finds that another came first.
    hook = "[ -e pushed ] && exit 0\ntouch pushed\necho 'another push was faster' >&2\nexit 1\n"
    write_program(published.folder / "hooks/pre-receive", hook)
    ci.add_report("two.json", 2)
    assert "trying again" in publish(ci, "two.json").err
    report = published.git("show", "gh-pages:reports/2026-05-02T100000Z-0123456789.json")
    assert "2026-05-02" in report


def test_publish_refuses_files_that_are_no_reports(ci, published):
    ci.write("other.json", '{"parbench": {"started_utc": "../../x", "machine": {}}}')
    assert "is not a valid time" in publish(ci, "other.json", code=2).err
    ci.write("cut.json", "{")
    publish(ci, "cut.json", code=2)
    publish(ci, "none.json", code=2)
    assert published.git("branch", "--list") == ""


def test_reports_fetches_those_of_the_branch(ci, published):
    words = ["reports", "--output", "earlier", "--repository", "repository"]
    ci.call(*words)
    assert list((ci.folder / "earlier").iterdir()) == []
    ci.add_report("one.json", 1)
    publish(ci, "one.json")
    ci.call(*words)
    assert ci.read("earlier/2026-05-01T100000Z-0123456789.json") == ci.read("one.json")
