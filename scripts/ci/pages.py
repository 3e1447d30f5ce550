"""The branch with the dashboard: its working tree, and commits to it."""
import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

import common

AUTHOR = {"GIT_AUTHOR_NAME": "parbench", "GIT_AUTHOR_EMAIL": "parbench@localhost",
          "GIT_COMMITTER_NAME": "parbench", "GIT_COMMITTER_EMAIL": "parbench@localhost"}


def git(folder, *words, check=True):
    """Returns standard output; None if git fails and `check` is false."""
    process = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True,
                             check=False, env={**AUTHOR, **os.environ})
    if process.returncode == 0:
        return process.stdout.strip()
    if check:
        common.fail(f"git {' '.join(words)}: {process.stderr.strip()}", 1)
    common.say(process.stderr.strip())
    return None


class Pages:
    """A branch of a repository's remote. Only `push` changes the remote."""

    def __init__(self, repository, remote, branch):
        self.repository, self.remote, self.branch = repository, remote, branch

    def exists(self):
        return git(self.repository, "ls-remote", self.remote, f"refs/heads/{self.branch}") != ""

    @contextlib.contextmanager
    def tree(self):
        """Yields the newest commit's files in a temporary folder, which is empty if there is no branch."""
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "pages"
            if self.exists():
                git(self.repository, "fetch", "--depth=1", self.remote, f"refs/heads/{self.branch}")
                git(self.repository, "worktree", "add", "--detach", str(tree), "FETCH_HEAD")
            else:
                self.add_empty(tree)
            try:
                yield tree
            finally:
                git(self.repository, "worktree", "remove", "--force", str(tree))

    def add_empty(self, tree):
        empty = git(self.repository, "hash-object", "-t", "tree", "-w", os.devnull)
        root = git(self.repository, "commit-tree", empty, "-m", "A dashboard")
        git(self.repository, "worktree", "add", "--detach", str(tree), root)

    def push(self, tree, message):
        """Returns False if another push came first."""
        git(tree, "add", "--all", "--force")
        git(tree, "commit", "--allow-empty", "--quiet", "-m", message)
        return git(tree, "push", self.remote, f"HEAD:refs/heads/{self.branch}", check=False) is not None
