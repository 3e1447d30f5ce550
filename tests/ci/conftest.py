"""A git repository of a test's own."""
import pytest

from support.process import run


class Repository:
    def __init__(self, folder):
        self.folder = folder

    def git(self, *words):
        author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return run(["git", "-C", self.folder, *author, *words]).out

    def commit(self):
        self.git("add", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "Change")


@pytest.fixture
def repository(tmp_path):
    """An empty repository on branch main."""
    made = Repository(tmp_path / "repository")
    made.folder.mkdir()
    made.git("init", "-q", "-b", "main")
    return made
