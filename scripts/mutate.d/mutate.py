"""Tests the tests of sources: applies universalmutator's rules to a source, and runs the tests of its
component for each mutant.

    mutate.py [FILE…] [--sample N] [--seed S] [--jobs N] [--list | --list-executables]
              [--root ROOT] [--build BUILD] [--built BUILD] [--components JSON] [--accepted JSON]

Does not change the working tree. Compiles with the commands of BUILD/compile_commands.json, but without
optimisation and warnings, in a temporary folder: first all sources of a component, then the mutants of
one source at a time. A component either lists all sources of its executable, which uses no library of the
project; or it names an executable of the build BUILT (--list-executables prints these), which is linked
again with the component's objects before its libraries. In neither case can another object replace the
mutated one. Exit code 1 if less than 90% of the mutants were killed, 2 if a component could not be
compiled or its tests fail without a mutant.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import difflib
import hashlib
import io
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from universalmutator import mutator

RULES = ["universal.rules", "c_like.rules", "cpp.rules"]
# Lines whose mutants no test can distinguish from the original: reserving memory changes no result.
IGNORED_LINES = [r"\.reserve\("]
INCLUDE = re.compile(r"^#include .*", re.MULTILINE)
JOINED = re.compile(r'^#include "(.*)"$', re.MULTILINE)
# A loop that counts up by one ends at the same number with < and !=.
COUNTING_LOOP = re.compile(r"\bfor \(.*; (\w+) < .*; \+\+\1\)")
REQUIRED_SHARE = 0.9
COMPILER_SECONDS = 300
MIN_TEST_SECONDS = 5
TEST_FACTOR = 10  # time limit of a mutant's tests, relative to the time of the original's
MEMORY_BYTES = 4 << 30  # per process, because a mutant may allocate without limit

Mutant = collections.namedtuple("Mutant", "file line original text")
Result = collections.namedtuple("Result", "mutant state by_limit")


class Failure(Exception):
    """The reason why the script cannot test mutants."""


def run(words, folder, seconds):
    """Runs a program in its own process group. Returns its exit code (None at the time limit) and its
    output."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return code, output.read().decode(errors="replace")


def checked(words, folder, purpose):
    code, output = run(words, folder, COMPILER_SECONDS)
    if code != 0:
        raise Failure(f"could not {purpose}:\n{output}")


def mutants_of(root, file):
    """Returns all mutants of a source: each changes one line, and may add one after it."""
    source = (root / file).read_text(encoding="utf-8").splitlines(keepends=True)
    with contextlib.redirect_stdout(io.StringIO()):
        found = mutator.mutants_regexp(source, ruleFiles=RULES, ignorePatterns=IGNORED_LINES,
                                       ignoreStringOnly=True)
    mutants = (Mutant(file, line, source[line - 1], text) for line, text, *_ in found)
    return [mutant for mutant in mutants
            if not counts_alike(mutant) and not continues_at_end(mutant, source)]


def counts_alike(mutant):
    loop = COUNTING_LOOP.search(mutant.original)
    return bool(loop) and mutant.text == mutant.original.replace(f"{loop[1]} < ", f"{loop[1]} != ", 1)


def continues_at_end(mutant, source):
    """Returns whether a mutant adds `continue` at the end of a loop's body. Requires clang-format's indentation."""
    following = source[mutant.line] if mutant.line < len(source) else ""
    if following.strip() != "}" or mutant.text.split("\n")[1].strip() != "continue;":
        return False
    indent = len(following) - len(following.lstrip())
    opening = re.compile(rf" {{{indent}}}\S")
    begin = next(line for line in reversed(source[:mutant.line]) if opening.match(line))
    return begin.lstrip().startswith(("for (", "while ("))


def described(mutant):
    lines = difflib.ndiff([mutant.original.strip()],
                          [line.strip() for line in mutant.text.splitlines()])
    changes = [f"  {line}" for line in lines if not line.startswith("?")]
    return "\n".join([f"{mutant.file}:{mutant.line}", *changes])


class Compiler:
    """Compiles sources of the project with its commands, but without optimisation and warnings."""

    def __init__(self, root, build, folder):
        self.root = root
        self.folder = folder
        self.commands = {}
        database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        for entry in database:
            path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
            self.commands.setdefault(path, shlex.split(entry["command"]))

    def base(self, file):
        """Returns the compiler and options of a source that affect neither speed nor warnings nor files."""
        path = (self.root / file).resolve()
        if path not in self.commands:
            raise Failure(f"{file} is not compiled by this build; update components.json")
        words = list(self.commands[path])
        while words and not re.search(r"\+\+(-\d+)?$", words[0]):  # such as ccache
            words.pop(0)
        kept = []
        following = iter(words)
        for word in following:
            if word in ("-o", "-c", "-include"):
                next(following)
            elif not re.match(r"-[OW]", word):
                kept.append(word)
        return kept

    def command(self, file, optimisation):
        """Returns the command without input and output."""
        return [*self.base(file), optimisation, "-w", "-frandom-seed=0", "-iquote",
                str((self.root / file).parent)]

    def command_with_headers(self, file, optimisation):
        """Returns the command of a source that is compiled many times, with precompiled headers."""
        command = self.command(file, optimisation)
        text = (self.root / file).read_text(encoding="utf-8")
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        header = folder / "included.h"
        header.write_text("".join(f"{line}\n" for line in INCLUDE.findall(text)), encoding="utf-8")
        checked([*command, "-x", "c++-header", "included.h", "-o", "included.h.gch"], folder,
                f"precompile the headers of {file}")
        return [*command, "-include", str(header)]

    def object_of(self, file, optimisation):
        """Compiles a source without changes."""
        name = hashlib.sha1(f"{file} {optimisation}".encode()).hexdigest()
        output = self.folder / f"{name}.o"
        if not output.exists():
            checked([*self.command(file, optimisation), "-c", str(self.root / file), "-o", str(output)],
                    self.folder, f"compile {file}")
        return output


def joined_with(built, sources):
    """Returns the sources that a build compiles as one with these (cmake/Compiler.cmake), in order.
    The object in its libraries contains them all, and is not linked if the executable has them
    already."""
    files = list(sources)
    for path in sorted(built.rglob("joined/*/*.cpp")):
        part = JOINED.findall(path.read_text(encoding="utf-8"))
        if not set(part).isdisjoint(sources):
            files += (file for file in part if file not in files)
    return files


class Component:
    """Sources that are tested together by an executable. Its entry may have a filter for GoogleTest,
    which excludes tests that take too long for every mutant, and the optimisation, if tests without it
    take longer than compiling with it."""

    def __init__(self, compiler, entry, built):
        self.compiler = compiler
        self.sources = entry["sources"]
        self.optimisation = entry.get("optimisation", "-O0")
        self.flags = ["--gtest_fail_fast", "--gtest_brief=1",
                      f"--gtest_filter={entry.get('filter', '*')}"]
        if "executable" in entry:
            files = joined_with(built, self.sources)
            self.read_link_command(built, entry["executable"])
        else:
            files = [*self.sources, *entry["objects"], *entry["tests"]]
            self.link_folder = compiler.folder
            self.linker = compiler.base(entry["tests"][0])[:1]
            self.libraries = [f"-l{name}" for name in entry["libraries"]]
        self.objects = {file: compiler.object_of(file, self.optimisation) for file in files}
        self.seconds = self.time_of_original()

    def read_link_command(self, built, executable):
        """Splits the link command: the executable's objects come before its name, libraries after it."""
        code, output = run(["ninja", "-C", str(built), "-t", "commands", executable], built,
                           COMPILER_SECONDS)
        words = [word for word in shlex.split(output.splitlines()[-1]) if word not in (":", "&&")]
        if code != 0 or "-o" not in words:
            raise Failure(f"{built} does not link {executable}; update components.json:\n{output}")
        name = words.index("-o")
        self.link_folder = built
        self.linker, self.libraries = words[:name], words[name + 2:]

    def time_of_original(self):
        folder = self.compiler.folder / "original"
        folder.mkdir()
        code, output = self.link(folder, self.objects.values())
        if code != 0:
            raise Failure(f"could not link the tests of {self.sources[0]}; a source may be missing "
                          f"from its component in components.json:\n{output}")
        begin = time.monotonic()
        code, output = self.run_tests(folder, COMPILER_SECONDS)
        if code != 0:
            raise Failure(f"the tests of {self.sources[0]} fail without a mutant:\n{output}")
        shutil.rmtree(folder)
        return time.monotonic() - begin

    def link(self, folder, objects):
        words = [*self.linker, *map(str, objects), *self.libraries, "-o", str(folder / "tests")]
        return run(words, self.link_folder, COMPILER_SECONDS)

    def run_tests(self, folder, seconds):
        return run([str(folder / "tests"), *self.flags], folder, seconds)

    @property
    def limit(self):
        return max(MIN_TEST_SECONDS, TEST_FACTOR * self.seconds)


class Source:
    """The mutants of one source."""

    def __init__(self, component, file):
        self.component = component
        self.compiler = component.compiler
        self.file = file
        self.text = (self.compiler.root / file).read_text(encoding="utf-8")
        self.command = self.compiler.command_with_headers(file, component.optimisation)
        self.lock = threading.Lock()
        self.seen = {self.compile_text(self.text, self.command)}
        self.optimised = None  # command, and code of the original

    def compile_in(self, folder, text, command):
        """Returns the bytes of the object, or None if the text does not compile. The object contains
        the relative name of its source, so it does not depend on the folder."""
        name = pathlib.Path(self.file).name
        (folder / name).write_text(text, encoding="utf-8")
        code, _ = run([*command, "-c", name, "-o", "mutant.o"], folder, COMPILER_SECONDS)
        return (folder / "mutant.o").read_bytes() if code == 0 else None

    def compile_text(self, text, command):
        with tempfile.TemporaryDirectory(dir=self.compiler.folder) as folder:
            return self.compile_in(pathlib.Path(folder), text, command)

    def optimises_to_original(self, text):
        """Compiles again with optimisation, which reveals more equivalent mutants."""
        if self.component.optimisation == "-O2":
            return False
        with self.lock:
            if self.optimised is None:
                command = self.compiler.command_with_headers(self.file, "-O2")
                self.optimised = command, self.compile_text(self.text, command)
        command, original = self.optimised
        return self.compile_text(text, command) == original

    def test(self, mutant):
        lines = self.text.splitlines(keepends=True)
        lines[mutant.line - 1] = mutant.text
        text = "".join(lines)
        with tempfile.TemporaryDirectory(dir=self.compiler.folder) as name:
            folder = pathlib.Path(name)
            code = self.compile_in(folder, text, self.command)
            if code is None:
                return Result(mutant, "invalid", False)
            with self.lock:
                if code in self.seen:
                    return Result(mutant, "equivalent", False)
                self.seen.add(code)
            objects = {**self.component.objects, self.file: folder / "mutant.o"}
            status, _ = self.component.link(folder, objects.values())
            if status != 0:
                return Result(mutant, "invalid", False)
            status, _ = self.component.run_tests(folder, self.component.limit)
        if status != 0:
            return Result(mutant, "killed", status is None)
        return Result(mutant, "equivalent" if self.optimises_to_original(text) else "survived", False)


def tested(source, mutants, sample, jobs):
    """Tests mutants in order until the wanted number has compiled."""
    results, waiting = [], collections.deque()
    left = iter(mutants)
    wanted = sample or len(mutants)
    counted = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while counted < wanted:
            while len(waiting) < 2 * jobs and (mutant := next(left, None)):
                waiting.append(pool.submit(source.test, mutant))
            if not waiting:
                break
            results.append(waiting.popleft().result())
            counted += results[-1].state in ("killed", "survived")
        for future in waiting:
            future.cancel()
    return results


class Accepted:
    """Mutants that no test can kill, with the reasons. A mutant is identified by its file and both
    versions of the line, without indentation; a list of versions may share a reason."""

    def __init__(self, path, root):
        self.reasons = {}  # reasons by file, line and mutant
        for entry in json.loads(path.read_text(encoding="utf-8")):
            file, line = entry["file"], entry["line"]
            lines = [text.strip() for text in
                     (root / file).read_text(encoding="utf-8").splitlines()]
            if not entry["reason"] or line not in lines:
                raise Failure(f"{path}: {file} has no line '{line}', or the reason is missing; "
                              "update the entry")
            for text in entry["mutants"]:
                self.reasons[file, line, text] = entry["reason"]

    def applied_to(self, result):
        """Returns the result. The state of a mutant in accepted.json becomes accepted, or unexpected
        if it was killed."""
        mutant = result.mutant
        text = "\n".join(line.strip() for line in mutant.text.splitlines())
        if (mutant.file, mutant.original.strip(), text) not in self.reasons:
            return result
        states = {"survived": "accepted", "killed": "unexpected"}
        return result._replace(state=states.get(result.state, result.state))


class Row:
    """A line of the table."""

    def __init__(self, name):
        self.name = name
        self.counts = collections.Counter()

    def add(self, other):
        self.counts += other.counts

    @property
    def share(self):
        judged = self.counts["killed"] + self.counts["survived"]
        return self.counts["killed"] / judged if judged else 1.0

    def cells(self):
        names = "tried", "compiled", "killed", "by limit", "accepted", "survived"
        return [self.name, *(str(self.counts[name]) for name in names), f"{100 * self.share:.1f}%"]


def row_of(file, results):
    row = Row(file)
    row.counts["tried"] = len(results)
    for result in results:
        row.counts["killed" if result.state == "unexpected" else result.state] += 1
        row.counts["by limit"] += result.by_limit
    row.counts["compiled"] = sum(row.counts[name] for name in ("killed", "survived", "accepted"))
    return row


def print_exceptions(results):
    for result in results:
        if result.state == "survived":
            print(f"survived: {described(result.mutant)}", flush=True)
        elif result.state == "unexpected":
            print(f"killed, although accepted.json has it: {described(result.mutant)}", flush=True)


def print_table(rows):
    heading = ["file", "mutants", "compiled", "killed", "by limit", "accepted", "survived", "share"]
    cells = [heading, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for line in cells:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(line, widths))).rstrip())


def parse(arguments):
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--list-executables", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=root)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--built", type=pathlib.Path)
    parser.add_argument("--components", type=pathlib.Path)
    parser.add_argument("--accepted", type=pathlib.Path)
    options = parser.parse_args(arguments)
    options.build = options.build or options.root / "build/sources"
    options.built = options.built or options.root / "build/release"
    options.components = options.components or options.root / "scripts/mutate.d/components.json"
    options.accepted = options.accepted or options.root / "scripts/mutate.d/accepted.json"
    return options


def chosen_mutants(options, file):
    mutants = mutants_of(options.root, file)
    if options.sample:
        random.Random(f"{options.seed} {file}").shuffle(mutants)
    return mutants


def chosen_components(options):
    """Returns the entries of components.json, with the requested sources."""
    entries = json.loads(options.components.read_text(encoding="utf-8"))
    known = [file for entry in entries for file in entry["sources"]]
    for file in options.files:
        if file not in known:
            raise Failure(f"no component has the source {file}; {options.components} lists them")
    for entry in entries:
        files = [file for file in entry["sources"] if not options.files or file in options.files]
        if files:
            yield entry, files


def test_all(options):
    accepted = Accepted(options.accepted, options.root)
    rows = []
    with tempfile.TemporaryDirectory(prefix="parbench-mutate-") as name:
        folder = pathlib.Path(name)
        compiler = Compiler(options.root, options.build, folder)
        for entry, files in chosen_components(options):
            component = Component(compiler, entry, options.built)
            for file in files:
                begin = time.monotonic()
                results = [accepted.applied_to(result) for result in
                           tested(Source(component, file), chosen_mutants(options, file),
                                  options.sample, options.jobs)]
                rows.append(row_of(file, results))
                print_exceptions(results)
                print(f"parbench: {file}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
    total = Row("all")
    for row in rows:
        total.add(row)
    print_table([*rows, total])
    return 0 if total.share >= REQUIRED_SHARE else 1


def main():
    options = parse(sys.argv[1:])
    try:
        if options.list_executables:
            for name in sorted({entry["executable"] for entry, _ in chosen_components(options)
                                if "executable" in entry}):
                print(name)
            return 0
        if options.list:
            for _, files in chosen_components(options):
                for file in files:
                    for mutant in mutants_of(options.root, file):
                        print(described(mutant))
            return 0
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # to remove the temporary folder
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        return test_all(options)
    except Failure as failure:
        print(f"parbench: error: {failure}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
