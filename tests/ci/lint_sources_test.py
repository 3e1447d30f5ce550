"""scripts/lint.d/sources.py on a repository of its own."""
import re

import pytest

from support.process import PYTHON, ROOT, run

FILES = {
    "scripts/packages/lint-wheels.txt": "",
    "h.h": "",
    "between.h": '#include "h.h"\n',
    "alone.cpp": "",
    "user.cpp": '#include "between.h"\n',
    "user2.cpp": '#include "between.h"\n',
}


@pytest.fixture
def write(repository):
    def written(name, text, commit=False):
        (repository.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (repository.folder / name).write_text(text, encoding="utf-8")
        if commit:
            repository.commit()

    for name, text in FILES.items():
        written(name, text)
    repository.commit()
    return written


@pytest.fixture
def chosen(repository, tmp_path):
    (tmp_path / "compile_commands.json").write_text("[]", encoding="utf-8")
    command = [PYTHON, ROOT / "scripts/lint.d/sources.py", tmp_path / "compile_commands.json"]
    return lambda *words: run([*command, *words], cwd=repository.folder).out


def test_all_without_a_history(write, chosen):
    assert chosen("since").startswith("3 of 3 sources: this clone has no earlier commit")
    assert chosen("all").startswith("3 of 3 sources: all were requested")


def test_those_that_changed_and_their_includers(write, chosen):
    write("alone.cpp", "int i;\n", commit=True)
    out = chosen("since")
    assert out.startswith("1 of 3 sources: changes since ")
    assert re.search(r"\nalone\.cpp\t[0-9a-f]{40}\n$", out)
    write("h.h", "int j;\n")  # not committed
    assert re.match(r"3 of 3.*\nalone\.cpp\t.*\nuser\.cpp\t.*\nuser2\.cpp\t", chosen("since"))
    out = chosen("since", "HEAD")
    assert out.startswith("2 of 3")
    assert "alone.cpp" not in out


def test_those_since_a_branch_began(write, chosen, repository):
    write("alone.cpp", "int i;\n", commit=True)
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
    write("user.cpp", "int k;\n", commit=True)
    out = chosen("since")
    assert out.startswith("1 of 3")
    assert "\nuser.cpp\t" in out


def test_state_changes_with_included_files_only(write, chosen):
    before = chosen("user.cpp")
    write("alone.cpp", "int i;\n")
    assert chosen("user.cpp") == before
    write("h.h", "int j;\n")
    assert chosen("user.cpp") != before
