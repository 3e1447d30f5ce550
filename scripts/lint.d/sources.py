"""Chooses the sources that clang-tidy reads, most urgent first, and names the state of each.

    sources.py DATABASE all | since [COMMIT] | FILE…

`since` chooses the files changed after COMMIT, committed or not, and all that include them: first the
changed sources, latest change first, then one source for each changed header that those do not include,
then the others, which are all sources if the checks changed. Default of COMMIT: where the branch left
origin's main branch; on the main branch itself, 8 hours before its last commit, but at least that one.
Without a history: all sources.

Prints a line for users, then one for each source: FILE, a tab, and a hash of everything that clang-tidy's
verdict depends on: the source, the repository's headers that it includes, its command in DATABASE
(compile_commands.json), the checks and the version.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys

HOURS = 8
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# Only the build of the preset cuda-stand-in has commands for these, which need headers of CUDA.
LEFT_OUT = "tests/cuda_stand_in/"
CHECKS = (".clang-tidy", "scripts/packages/lint-wheels.txt")


def git(*words):
    """Returns git's output; empty if git fails."""
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def tracked(*patterns):
    names = git("ls-files", "--cached", "--others", "--exclude-standard", *patterns).splitlines()
    return [name for name in names if pathlib.Path(name).is_file()]


class Includes:
    """The repository files that each file includes, directly or indirectly, with itself."""

    def __init__(self):
        self.direct = {}
        self.closures = {}

    def of_one(self, name):
        if name not in self.direct:
            text = pathlib.Path(name).read_text(encoding="utf-8")
            beside = pathlib.PurePath(name).parent
            found = ((pathlib.Path(include), beside / include) for include in INCLUDE.findall(text))
            self.direct[name] = [str(path) for pair in found for path in pair
                                 if pathlib.Path(path).is_file()]
        return self.direct[name]

    def closure(self, name):
        if name not in self.closures:
            seen, waiting = {name}, [name]
            while waiting:
                new = set(self.of_one(waiting.pop())) - seen
                seen |= new
                waiting += new
            self.closures[name] = seen
        return self.closures[name]


def base_of_change():
    """Returns the commit before a change; empty if there is none."""
    for branch in ("refs/remotes/origin/HEAD", "refs/remotes/origin/main"):
        base = git("merge-base", "HEAD", branch)
        if base and base != git("rev-parse", "HEAD"):
            return base
    last = git("show", "-s", "--format=%ct", "HEAD")
    if not last:
        return ""
    early = git("rev-list", "-1", f"--before={int(last) - HOURS * 3600}", "HEAD")
    return early or git("rev-list", "--max-parents=0", "-1", "HEAD~1")


def changed_since(base):
    """Returns the names of changed files, latest change first."""
    uncommitted = git("diff", "--name-only", "HEAD").splitlines()
    committed = git("log", "--format=", "--name-only", "-m", "--first-parent", f"{base}..HEAD").splitlines()
    names = dict.fromkeys(uncommitted + git("ls-files", "--others", "--exclude-standard").splitlines()
                          + committed)
    return [name for name in names if name and pathlib.Path(name).is_file()]


def affected(changed, sources, includes):
    """Returns the sources affected by `changed`, in the order described above."""
    chosen = {name: None for name in changed if name in sources}
    covered = set().union(*(includes.closure(name) for name in chosen)) if chosen else set()
    touched = {name: includes.closure(name) & set(changed) for name in sources}
    for header in changed:
        if header in covered:
            continue
        source = next((name for name in sources if header in touched[name]), None)
        if source:
            chosen[source] = None
            covered |= includes.closure(source)
    checks_changed = bool(set(changed) & set(CHECKS))
    chosen.update({name: None for name in sources if checks_changed or touched[name]})
    return list(chosen)


def choose(words, sources, includes):
    """Returns the chosen sources, and the reason as text."""
    if words[0] == "all":
        return sources, "all were requested"
    if words[0] != "since":
        return words, "these were requested"
    base = words[1] if len(words) > 1 else base_of_change()
    if not base or not git("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"):
        if len(words) > 1:
            sys.exit(f"parbench: error: --since '{base}' is not a commit of this clone")
        return sources, "this clone has no earlier commit to compare with"
    subject = git("show", "-s", "--format=%h of %ci", base)
    return affected(changed_since(base), sources, includes), f"changes since {subject}"


def main():
    commands = {}  # commands by file; both commands of a file that is compiled twice
    for entry in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")):
        commands[entry["file"]] = commands.get(entry["file"], "") + entry["command"]
    sources = [name for name in tracked("*.cpp") if not name.startswith(LEFT_OUT)]
    includes = Includes()
    chosen, reason = choose(sys.argv[2:], sources, includes)
    print(f"{len(chosen)} of {len(sources)} sources: {reason}")
    texts = {}
    common = "".join(pathlib.Path(name).read_text(encoding="utf-8")
                     for name in [*tracked("*.clang-tidy"), CHECKS[1]])
    for name in chosen:
        state = hashlib.sha256(common.encode())
        state.update(commands.get(str(pathlib.Path(name).resolve()), "").encode())
        for part in sorted(includes.closure(name)):
            if part not in texts:
                texts[part] = hashlib.sha256(pathlib.Path(part).read_bytes()).digest()
            state.update(part.encode() + texts[part])
        print(f"{name}\t{state.hexdigest()[:40]}")


main()
