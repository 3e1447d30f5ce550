"""Options and fixtures of all tests of Python and shell scripts. They need a build with tests:

    scripts/test --build-only
    /usr/bin/python3 -m pytest tests/gpu_check -k sanitizer
"""
import os
import pathlib
import re
import shutil
import sys

import pytest

from support.process import ROOT

sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


class Build:
    """A CMake build with tests, which holds the programs that scripts call."""

    def __init__(self, folder):
        self.folder = folder

    def program(self, name):
        """Returns the path of an executable of this build. Fails the test if it was not built."""
        for found in self.folder.glob(f"bin/{name}"), self.folder.glob(f"tests/**/{name}"):
            for path in found:
                if path.is_file():
                    return path
        return pytest.fail(f"{self.folder} has no {name}: build it with scripts/test --build-only")

    def cached(self, variable):
        """Returns the value of a variable of CMake's cache, or an empty text."""
        cache = self.folder / "CMakeCache.txt"
        text = cache.read_text(encoding="utf-8") if cache.exists() else ""
        found = re.search(rf"^{variable}:\w+=(.*)$", text, re.MULTILINE)
        return found[1] if found else ""

    @property
    def has_cuda(self):
        return self.cached("PARBENCH_HAS_CUDA") == "ON"


def pytest_addoption(parser):
    parser.addoption(
        "--build",
        type=pathlib.Path,
        default=ROOT / "build/release",
        help="CMake build folder that has the programs; default: build/release",
    )


@pytest.fixture(scope="session")
def build(pytestconfig):
    return Build(pytestconfig.getoption("--build").resolve())


@pytest.fixture
def clone(tmp_path):
    """A folder with the launcher and the scripts of this repository, and nothing else of it."""
    folder = tmp_path / "clone"
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    shutil.copy(ROOT / "parbench", folder)
    return folder
