# Results of a run: the kept files, the final table, the exit code.
import json

from figures import rounded
from files import write_whole
from rows import row_json, table
from targets import rows_of

LARGEST_FILE = 256 * 1024
SCHEMA_VERSION = 1
# Steps by the file with their results; figures and the first checks are in the summary too. Together with
# the summary and cudnn.log there are at most seven files: some tools return no more than eight, and a
# killed run may leave one unfinished file.
FILES = {
    "tests.json": ["tests", "partition", "other-tests", "sanitizer"],
    "peers.json": ["matmul", "training", "convolution", "schedules", "copy", "training-compiled"],
    "profiles.json": ["profiles", "ncu"],
    "scenarios.json": ["pair", "scenarios", "ranks"],
    "machine.json": ["smoke", "facts", "peaks"],
}
TESTS = FILES["tests.json"]


def write_small(path, content):
    """Writes JSON, indented if that stays small. Returns a text if the file is too large, else None."""
    content = rounded(content)
    for indent in (1, None):
        text = json.dumps(content, indent=indent, ensure_ascii=False) + "\n"
        if len(text.encode()) <= LARGEST_FILE:
            break
    write_whole(path, text)
    size = path.stat().st_size
    return f"{path.name} has {size // 1024} KiB" if size > LARGEST_FILE else None


def write_step(folder, results, name):
    """Writes the file that a step belongs to, with all results so far."""
    file = next(file for file, steps in FILES.items() if name in steps)
    known = {step: results[step][0] for step in FILES[file] if step in results}
    return write_small(folder / file, known)


def problems_of(results):
    """Returns all problems as texts."""
    found = []
    for step, (content, status) in results.items():
        found += [f"{step}: {problem}" for problem in content.get("problems", [])]
        if status != "done":
            found.append(f"{step}: {status}")
        if "not_run" in content:
            found.append(f"{step}: not run: {content['not_run']}")
    return found


def not_run_texts(rows, known):
    """Returns why figures are missing: each reason once, with the names of the figures. Omits
    reasons that are listed elsewhere."""
    names = {}
    for row in rows:
        if row.not_run and row.not_run not in known:
            names.setdefault(row.not_run, {}).setdefault(row.name.partition("/")[0], []).append(row.name)
    for reason, kinds in names.items():
        texts = [
            own[0] if len(own) == 1 else f"{kind} ({len(own)} figures)" for kind, own in kinds.items()
        ]
        yield f"{', '.join(texts)}: not run: {reason}"


def tests_in(results):
    """Returns the counts of all steps that ran tests; empty if none has begun."""
    contents = [results[step][0] for step in TESTS if "passed" in results.get(step, ({}, ""))[0]]
    keys = ("passed", "failed", "skipped") if contents else ()
    return {key: sum(content[key] for content in contents) for key in keys}


class Summary:
    """The summary of a run from each step's content, and "done" or why it is incomplete."""

    def __init__(self, results, setting):
        self.results = results
        self.is_trial = setting.is_trial
        self.rows = rows_of(results, setting)
        self.problems = problems_of(results)

    def good(self):
        return not self.problems and not any(map(self.is_missed, self.rows))

    def is_missed(self, row):
        """Returns whether a figure misses its target. In a trial on a CPU, PyTorch may lack features."""
        if row.not_run:
            return not (self.is_trial and "PyTorch" in row.not_run)
        return row.reached() is False

    def to_json(self, about):
        facts, _ = self.results.get("facts", ({}, ""))
        kept = ("name", "what", "value", "interval", "target", "reached", "not_run", "ours", "peer")
        return {
            "schema_version": SCHEMA_VERSION,
            **about,
            "trial": self.is_trial,
            "good": self.good(),
            "problems": self.problems,
            "facts": facts,
            "steps": {step: status for step, (_, status) in self.results.items()},
            "tests": tests_in(self.results),
            "targets": [
                {key: value for key, value in row_json(row).items() if key in kept}
                for row in self.rows
            ],
        }

    def show(self, folder):
        if self.is_trial:
            print("A trial on tiny sizes: the figures are not meaningful.")
        measured = [row for row in self.rows if not row.not_run]
        if measured:
            print(table(measured))
        tests = tests_in(self.results)
        if tests:
            print(f"tests: {tests['passed']} passed, {tests['failed']} failed, {tests['skipped']} skipped")
        ends = {status for _, status in self.results.values()}
        for problem in [*not_run_texts(self.rows, ends), *self.problems]:
            print(f"! {problem}")
        for step, (content, _) in self.results.items():
            if "left_out" in content:
                print(f"{step}: left out: {content['left_out']}")
        print(f"written: {folder}")
