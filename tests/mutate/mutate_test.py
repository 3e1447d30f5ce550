"""scripts/mutate.d/mutate.py on a source and a test of its own."""
import json

import pytest

from support.process import PYTHON, ROOT, run

WHEELS = ROOT / "build/mutate-wheels"

SOURCE = """\
int larger(int a, int b) { return a > b ? a : b; }
int steps(int n) {
  int done = 0;
  for (int i = 0; n > i; ++i) ++done;
  return done;
}
int sum(int n) {
  int done = 0;
  for (int i = 0; i < n; ++i) {
    done += i;
  }
  return done;
}
"""

# What GoogleTest's main function does, as far as mutate.py sees it: ignores the flags of GoogleTest.
TEST = """\
int larger(int a, int b);
int steps(int n);
int main() {
  if (larger(1, 2) != 2 || larger(2, 1) != 2) return 1;
  return steps(3) == 3 ? 0 : 1;
}
"""

# The build of a library in which the source is compiled as one with another, and of its test.
JOINED = '#include "pure.cpp"\n#include "other.cpp"\n'
BUILD = """\
rule compile
  command = c++ -I. -c $in -o $out
rule archive
  command = ar rcs $out $in
rule link
  command = : && c++ $in -o $out libpure.a && :
build test.o: compile pure_test.cpp
build all.o: compile joined/pure/all.cpp
build libpure.a: archive all.o
build tests: link test.o | libpure.a
"""

LARGER, LOOP = SOURCE.splitlines()[0], SOURCE.splitlines()[3].strip()


class Project:
    """A source, its test, and the files that describe them to mutate.py."""

    def __init__(self, folder):
        self.folder = folder
        self.write("pure.cpp", SOURCE)
        self.write("pure_test.cpp", TEST)
        command = "/usr/bin/ccache /usr/bin/c++ -O3 -Wall -Werror -include none.h -o x.o -c x.cpp"
        self.write("compile_commands.json", json.dumps(
            [{"directory": str(folder), "file": name, "command": command}
             for name in ("pure.cpp", "other.cpp", "pure_test.cpp")]))
        self.write("components.json", json.dumps(
            [{"sources": ["pure.cpp"], "objects": [], "tests": ["pure_test.cpp"], "libraries": []}]))
        self.accept()

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def build(self):
        """Builds the test with the library, and makes it the test of the component."""
        self.write("other.cpp", "int other() { return 1; }\n")
        (self.folder / "joined/pure").mkdir(parents=True)
        self.write("joined/pure/all.cpp", JOINED)
        self.write("pure_test.cpp", "int other();\n" + TEST.replace("? 0 : 1", "? 1 - other() : 1"))
        self.write("build.ninja", BUILD)
        run(["ninja", "-C", self.folder, "tests"], code=0)
        self.write("components.json", json.dumps([{"sources": ["pure.cpp"], "executable": "tests"}]))

    def accept(self, *entries):
        self.write("accepted.json", json.dumps([{"file": "pure.cpp", **entry} for entry in entries]))

    def mutate(self, *words, code=0, rules=""):
        """Runs mutate.py with these rules as the only ones."""
        (self.folder / "universalmutator/static").mkdir(parents=True, exist_ok=True)
        for name in ("__init__.py", "mutator.py"):
            text = (WHEELS / "universalmutator" / name).read_text(encoding="utf-8")
            self.write(f"universalmutator/{name}", text)
        for name in ("universal", "c_like", "cpp"):
            self.write(f"universalmutator/static/{name}.rules", rules if name == "cpp" else "")
        files = [f"--components={self.folder}/components.json",
                 f"--accepted={self.folder}/accepted.json"]
        return run([PYTHON, ROOT / "scripts/mutate.d/mutate.py", f"--root={self.folder}",
                    f"--build={self.folder}",
                    f"--built={self.folder}", *files, *words], code=code, cwd=self.folder,
                   env={"PYTHONPATH": self.folder})


@pytest.fixture
def project(tmp_path):
    if not (WHEELS / ".wheels").exists():
        pytest.skip("universalmutator has not been fetched: run scripts/mutate --list")
    return Project(tmp_path)


def figures(process):
    """The last line of the table: mutants, compiled, killed, by limit, accepted, survived."""
    *counts, _ = process.out.splitlines()[-1].split()[1:]
    return [int(count) for count in counts]


def test_a_mutant_is_killed_by_a_test_that_fails(project):
    assert figures(project.mutate(rules="a > b ==> a < b\n")) == [1, 1, 1, 0, 0, 0]


def test_a_mutant_that_hangs_is_killed_by_the_time_limit(project):
    assert figures(project.mutate(rules="\\+\\+i\\) \\+ ==> i += 0) +\n")) == [1, 1, 1, 1, 0, 0]


def test_a_survivor_is_shown_and_fails(project):
    done = project.mutate(rules="n > i ==> n != i\n", code=1)
    assert figures(done) == [1, 1, 0, 0, 0, 1]
    assert f"survived: pure.cpp:4\n  - {LOOP}\n  + {LOOP.replace('>', '!=')}\n" in done.out


def test_an_accepted_survivor_does_not_count(project):
    project.accept({"line": LOOP, "mutants": [LOOP.replace(">", "!=")],
                    "reason": "no caller has a negative number of steps"})
    assert figures(project.mutate(rules="n > i ==> n != i\n")) == [1, 1, 0, 0, 1, 0]


def test_an_accepted_mutant_that_is_killed_is_shown(project):
    mutant = LARGER.replace("a > b", "a < b")
    project.accept({"line": LARGER, "mutants": [mutant], "reason": "none"})
    done = project.mutate(rules="a > b ==> a < b\n")
    assert figures(done) == [1, 1, 1, 0, 0, 0]
    assert f"killed, although accepted.json has it: pure.cpp:1\n  - {LARGER}\n  + {mutant}" in done.out


@pytest.mark.parametrize("entry", [{"line": "int other;", "mutants": [], "reason": "it moved"},
                                   {"line": LARGER, "mutants": [], "reason": ""}])
def test_accepted_mutants_need_their_line_and_a_reason(project, entry):
    project.accept(entry)
    assert "update the entry" in project.mutate(code=2).err


def test_an_executable_of_the_build_has_the_mutants_in_place_of_the_library(project):
    project.build()
    done = project.mutate(rules="a > b ==> a < b\nn > i ==> n != i\n", code=1)
    assert figures(done) == [2, 2, 1, 0, 0, 1]
    assert "survived: pure.cpp:4" in done.out
    assert project.mutate("--list-executables").out == "tests\n"


def test_an_executable_that_is_not_built_is_an_error(project):
    project.build()
    project.write("build.ninja", BUILD.replace("build tests", "build others"))
    assert "does not link tests" in project.mutate(code=2).err


def test_a_mutant_that_does_not_compile_does_not_count(project):
    assert figures(project.mutate(rules="return ==> retrun\n")) == [3, 0, 0, 0, 0, 0]


def test_mutants_of_the_same_code_do_not_count(project):
    # As the original without optimisation; as the original with it; twice `b > a`.
    rules = ("int larger ==> auto larger\n> b ==> >= b\n"
             "return a > b ==> return b > a\nreturn a > b ==> return b > +a\n")
    assert figures(project.mutate(rules=rules)) == [4, 1, 1, 0, 0, 0]


def test_comparing_by_inequality_is_no_mutant_of_a_loop_that_counts(project):
    assert project.mutate("--list", rules="i < n ==> i != n\n").out == ""


def test_continue_at_the_end_of_a_loop_is_no_mutant(project):
    assert project.mutate("--list", rules="(.*done \\+= i.*) ==> \\1\\ncontinue;\n").out == ""
    out = project.mutate("--list", rules="(.*done = 0.*) ==> \\1\\ncontinue;\n").out
    assert out.count("+ continue;") == 2


def test_only_as_many_as_the_sample(project):
    rules = "> b ==> < b\n\\? a ==> ? b\n: b ==> : a\n\\+\\+done ==> --done\n"
    assert figures(project.mutate("--sample", "2", rules=rules))[1] == 2


def test_lists_mutants_without_testing_them(project):
    done = project.mutate("--list", rules="\\+\\+done ==> --done\n")
    assert done.out == f"pure.cpp:4\n  - {LOOP}\n  + {LOOP.replace('++done', '--done')}\n"


def test_tests_that_fail_without_a_mutant_are_an_error(project):
    project.write("pure_test.cpp", "int main() { return 1; }\n")
    assert "fail without a mutant" in project.mutate(code=2).err


def test_the_working_tree_stays_as_it_is(project):
    project.mutate(rules="a > b ==> a < b\n")
    assert (project.folder / "pure.cpp").read_text(encoding="utf-8") == SOURCE
    assert not list(project.folder.glob("*.o"))


def test_unknown_sources_are_an_error(project):
    assert "no component has the source other.cpp" in project.mutate("other.cpp", code=2).err


def test_components_and_accepted_mutants_of_this_repository_exist():
    for entry in json.loads((ROOT / "scripts/mutate.d/components.json").read_text(encoding="utf-8")):
        assert "executable" in entry or entry["tests"]
        for file in [*entry["sources"], *entry.get("objects", []), *entry.get("tests", [])]:
            assert (ROOT / file).is_file()
    for entry in json.loads((ROOT / "scripts/mutate.d/accepted.json").read_text(encoding="utf-8")):
        lines = (ROOT / entry["file"]).read_text(encoding="utf-8").splitlines()
        assert entry["line"] in map(str.strip, lines)
        assert entry["mutants"] and entry["reason"]
