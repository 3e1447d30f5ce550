"""Counts the tests of a ctest run, including those inside its processes, and lists skipped and failed ones.

    results.py CTEST_JUNIT RESULTS_FOLDER

CTEST_JUNIT: output of `ctest --output-junit`; RESULTS_FOLDER: XML of GoogleTest or pytest for each process
that ended by itself, NAME.xml for ctest's NAME. The last line is "N passed, N failed, N skipped". A reason
that begins with "NOT CHECKED" means that much is unknown without the skipped tests: it is printed on the line
before. Exit code 1 if no test ran or one failed.
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

# Output of GoogleTest and `pytest -v` before a test.
BEGUN = re.compile(r"^(?:\[ RUN      \] (\S+)|(\S+\.py::.+?)(?: (?:[A-Z]+ .*)?)?$)", re.MULTILINE)

UNCHECKED = "NOT CHECKED"


class Outcome:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = collections.defaultdict(list)  # names by reason

    def add_case(self, case, name):
        """Adds a <testcase> of GoogleTest's, pytest's or ctest's XML."""
        skipped = case.find("skipped")
        if skipped is not None:
            self.skipped[reason_of(skipped)].append(name)
        elif case.find("failure") is not None or case.find("error") is not None:
            self.failed.append(name)
        elif case.get("status") != "notrun":
            self.passed += 1

    def add_process(self, process, results):
        name = process.get("name")
        if not results.exists():
            begun = BEGUN.findall(process.findtext("system-out", ""))
            if process.get("status") == "fail" and begun:
                self.failed.append(f"{''.join(begun[-1])} ended {name} (a crash or the time limit); "
                                   "its later tests did not run")
            elif process.find("skipped") is not None:
                self.skipped[said_last(process) or reason_of(process.find("skipped"))].append(name)
            else:
                self.add_case(process, name)
            return
        failed_before = len(self.failed)
        for case in ElementTree.parse(results).iter("testcase"):
            self.add_case(case, f"{case.get('classname')}.{case.get('name')}")
        # A process can fail after its last test, for example if a sanitizer finds leaks.
        if process.get("status") == "fail" and len(self.failed) == failed_before:
            self.failed.append(f"{name} (no test of it; its output is above)")

    def print(self):
        for reason, names in sorted(self.skipped.items(), key=lambda entry: -len(entry[1])):
            if reason.startswith(UNCHECKED):
                continue
            more = f" and {len(names) - 2} more" if len(names) > 2 else ""
            print(f"skipped: {', '.join(names[:2])}{more}: {reason}")
        for name in self.failed:
            print(f"FAILED: {name}")
        for reason in self.skipped:
            if reason.startswith(UNCHECKED):
                print(reason)
        skipped = sum(map(len, self.skipped.values()))
        print(f"{self.passed} passed, {len(self.failed)} failed, {skipped} skipped")


def said_last(process):
    """Returns the last line that a process printed: ctest knows only its exit code, not the reason."""
    lines = process.findtext("system-out", "").strip().splitlines()
    return lines[-1].strip().removeprefix("skipped: ") if lines else ""


def reason_of(skipped):
    """Returns the message without the source location, which GoogleTest prints on a separate line, and
    without the operation's name, so that each reason is printed once. pytest has the reason for a whole file
    only in the text."""
    of_file = re.search(r"'Skipped: (.+)'\)$", skipped.text or "")
    if of_file:
        return of_file[1]
    lines = (skipped.get("message") or "no reason").strip().splitlines()
    if len(lines) > 1 and re.search(r":\d+$", lines[0]):
        lines = lines[1:]
    return re.sub(r"^\w+: ", "", " ".join(lines))


def main():
    outcome = Outcome()
    for process in ElementTree.parse(sys.argv[1]).iter("testcase"):
        outcome.add_process(process, pathlib.Path(sys.argv[2]) / f"{process.get('name')}.xml")
    outcome.print()
    if not outcome.passed and not outcome.failed and not outcome.skipped:
        print("no test ran: no test matches the arguments", file=sys.stderr)
        return 1
    return 1 if outcome.failed else 0


sys.exit(main())
