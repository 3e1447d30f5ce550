"""An unpacked bundle made of stand-ins, and scripts/gpu-check run from it as its users run it."""
import json
import pathlib
import shutil

import pytest

from support.process import ROOT, SYSTEM_PATH, TIME_LIMIT, run, start, text_of, write_program

STAND_INS = pathlib.Path(__file__).parent
# Names the libraries of the file libexec/needs that lie in no folder of the loader's path.
LDD = """needs=${1%/*}/needs
[[ -e $needs ]] || exit 0
for name in $(<"$needs"); do
  IFS=: read -ra folders <<<"$LD_LIBRARY_PATH"
  for folder in "${folders[@]}"; do [[ ! -e $folder/$name ]] || continue 2; done
  echo "$name => not found"
done
"""


class GpuCheck:
    def __init__(self, folder, build):
        self.folder = folder
        self.torch = STAND_INS / "stand_in_python.py"
        self.no_torch = self.tool("no-torch", "echo 'no module named torch' >&2; exit 1\n")
        self.tool("ldd", LDD)
        shutil.copytree(ROOT / "scripts", folder / "scripts")
        (folder / "libexec/tests").mkdir(parents=True)
        (folder / "libexec/parbench-peers").symlink_to(build.program("parbench-peers"))

    def tool(self, name, script):
        """Writes a program that is on the PATH."""
        return write_program(self.folder / "tools" / name, script)

    def program(self, name, script):
        return write_program(self.folder / "libexec" / name, script)

    def test_program(self, name, *lines):
        """Writes a test executable, given the lines of its bash script."""
        self.program(f"tests/{name}", "\n".join(lines) + "\n")

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, name):
        return text_of(self.folder / name)

    @property
    def log(self):
        return self.read("log")

    def command(self, *words, env=()):
        env = {"PATH": f"{self.folder / 'tools'}:{SYSTEM_PATH}", "LOG": self.folder / "log", **dict(env)}
        return [self.folder / "scripts/gpu-check", *words], {"cwd": self.folder, "env": env}

    def __call__(self, *words, code=0, seconds=TIME_LIMIT, **env):
        command, options = self.command(*words, env=env)
        return run(command, code=code, seconds=seconds, **options)

    def steps(self, only, *words, torch=False, code=0, seconds=TIME_LIMIT, **env):
        """Runs these steps into the folder `out`, with PyTorch's stand-in or without PyTorch."""
        return self(*self.words_of(only, torch), *words, code=code, seconds=seconds, **env)

    def start_steps(self, only):
        command, options = self.command(*self.words_of(only))
        return start(command, **options)

    def words_of(self, only, torch=False):
        return ["--output", "out", "--python", self.torch if torch else self.no_torch, "--only", only]

    def output(self, name):
        """Returns the content of a file that was written."""
        return json.loads(self.read(f"out/{name}"))

    @property
    def summary(self):
        return self.output("summary.json")

    def programs(self):
        """Returns what came of each test executable."""
        return self.output("tests.json")["tests"]["programs"]

    def target(self, name):
        return next(row for row in self.summary["targets"] if row["name"] == name)


@pytest.fixture
def bare(tmp_path, build):
    """A bundle without parbench."""
    return GpuCheck(tmp_path, build)


@pytest.fixture
def check(bare):
    """A bundle with a parbench that has a GPU."""
    shutil.copy(STAND_INS / "stand_in_parbench.py", bare.folder / "libexec/parbench")
    return bare


@pytest.fixture
def check_real(bare, build):
    """A bundle with the parbench of the build."""
    for name in "parbench", "parbench-smoke":
        (bare.folder / "libexec" / name).symlink_to(build.program(name))
    if build.cached("PARBENCH_HAS_MPI") == "ON":
        name = "libparbench-mpi.so"
        (bare.folder / "libexec" / name).symlink_to(build.program(name))
    return bare
