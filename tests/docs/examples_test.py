"""The files of examples/ and the workflows: their commands are accepted, what they name exists, and a
gate of continuous integration decides. No container, cluster or CI system is at hand."""
import re
import shlex

import pytest
import yaml

from support.process import ROOT, run, text_of

from acceptance import check
from guide_commands import Command, commands_of_lines

EXAMPLES = ROOT / "examples"
GITLAB = EXAMPLES / "ci/gitlab-ci.yml"
JENKINS = EXAMPLES / "ci/Jenkinsfile"
SLURM = EXAMPLES / "cluster/slurm.sh"
KUBERNETES = EXAMPLES / "cluster/mpi-operator.yaml"
CONTAINERS = sorted((EXAMPLES / "containers").glob("Containerfile.*"))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
COMMENTED = re.compile(r"^#   +(podman .*)$", re.MULTILINE)


def yaml_of(path):
    return yaml.safe_load(text_of(path))


def joined_lines(text):
    """The lines of a shell script or a Containerfile, those that a backslash joins as one."""
    return re.sub(r"\\\n\s*", "", text).splitlines()


def gitlab_jobs():
    content = yaml_of(GITLAB)
    return {name: job for name, job in content.items()
            if isinstance(job, dict) and "script" in job}


def lines_of_gitlab():
    return [line for job in gitlab_jobs().values() for line in job["script"]]


def lines_of_jenkins():
    return re.findall(r"\bsh '([^']*)'", text_of(JENKINS))


def lines_of_workflows():
    steps = [step for path in WORKFLOWS for job in yaml_of(path)["jobs"].values() for step in job["steps"]]
    return [line for step in steps for line in step.get("run", "").splitlines()]


def lines_of_kubernetes():
    replicas = yaml_of(KUBERNETES)["spec"]["mpiReplicaSpecs"]
    containers = [container for part in replicas.values()
                  for container in part["template"]["spec"]["containers"]]
    lines = [shlex.join(container["command"]) for container in containers if "command" in container]
    (path,) = instructions(EXAMPLES / "containers/Containerfile.cpu", "ENV")
    programs = path.removeprefix("PATH=").split(":")[0]
    return [line.replace(f"{programs}/parbench ", "parbench ") for line in lines]


def instructions(path, name):
    """What follows an instruction of a Containerfile."""
    return [line[len(name) + 1:] for line in joined_lines(text_of(path)) if line.startswith(name + " ")]


LINES = {
    GITLAB: lines_of_gitlab(),
    JENKINS: lines_of_jenkins(),
    SLURM: joined_lines(text_of(SLURM)),
    KUBERNETES: lines_of_kubernetes(),
    **{path: instructions(path, "RUN") for path in CONTAINERS},
}
CI_LINES = {"GitLab": lines_of_gitlab(), "Jenkins": lines_of_jenkins(), "GitHub": lines_of_workflows()}


def commands(name, lines):
    return list(commands_of_lines(name, enumerate(lines, 1)))


@pytest.mark.parametrize("path", LINES, ids=lambda path: path.name)
def test_commands_are_accepted(path, parbench, build):
    found = commands(path.name, LINES[path])
    assert found
    for command in found:
        if command.words != ("--version",):
            check(parbench, build, command)


def test_every_file_is_linked_from_the_guide():
    guide = "".join(text_of(page) for page in (ROOT / "docs/guide").rglob("*.md"))
    files = [path for folder in ("ci", "cluster", "containers") for path in (EXAMPLES / folder).iterdir()]
    assert len(files) == len(LINES)
    missing = [path.name for path in files if f"../{path.relative_to(ROOT)})" not in guide]
    assert missing == []


@pytest.mark.parametrize("lines", CI_LINES.values(), ids=CI_LINES)
def test_a_gate_has_six_processes_and_requires_decided_cases(lines):
    words = {command.program: command.words for command in commands("CI", lines)}
    measuring = words["scripts/ci/run"]
    assert int(measuring[measuring.index("--processes") + 1]) >= 6, "for intervals of 95%"
    comparing = words["scripts/ci/compare"]
    assert float(comparing[comparing.index("--require-decided") + 1]) >= 50
    assert "scripts/ci/publish" in words and "scripts/ci/reports" in words


def test_the_page_on_ci_lists_the_workflows():
    page = text_of(ROOT / "docs/guide/continuous-integration.md")
    assert set(re.findall(r"^\| `([\w-]+\.yml)` \|", page, re.MULTILINE)) == {path.name for path in WORKFLOWS}


def test_nothing_advises_fewer_than_six_processes():
    """In help, messages, scripts and pages."""
    paths = [path for top in ("bench", "reports", "scripts", "docs/guide", "examples", ".github")
             for path in (ROOT / top).rglob("*")
             if path.suffix in (".cpp", ".h", ".md", ".yml", "") and path.is_file()]
    found = [f"{path.relative_to(ROOT)}: {match[0]}" for path in paths if "reference" not in path.parts
             for match in re.finditer(r"--processes[ =][2-5]\b", text_of(path))]
    assert found == []


def test_gitlab_jobs_have_a_stage_and_a_time_limit():
    stages = yaml_of(GITLAB)["stages"]
    jobs = gitlab_jobs()
    assert set(jobs) == {"measure", "compare", "publish"}
    for job in jobs.values():
        assert job["stage"] in stages and re.fullmatch(r"\d+ minutes", job["timeout"])
    assert yaml_of(GITLAB)["default"]["image"] == "debian:12"


def test_the_jenkinsfile_is_balanced_and_has_a_time_limit():
    code = re.sub(r"'[^']*'|//.*", "", text_of(JENKINS))
    for opening, closing in ("{}", "()", "[]"):
        assert code.count(opening) == code.count(closing) > 0
    assert "timeout(time: 90" in text_of(JENKINS) and "image 'debian:12'" in text_of(JENKINS)


def test_the_batch_file_is_a_script_with_a_time_limit():
    run(["bash", "-n", SLURM])
    assert re.search(r"^#SBATCH --time=\d\d:\d\d:\d\d$", text_of(SLURM), re.MULTILINE)
    tasks = re.search(r"^#SBATCH --cpus-per-task=(\d+)$", text_of(SLURM), re.MULTILINE)[1]
    assert f"--cpus-per-task={tasks} " in text_of(SLURM).split("srun ", 1)[1], "srun does not inherit it"


def test_the_job_of_kubernetes_has_as_many_ranks_as_workers():
    spec = yaml_of(KUBERNETES)["spec"]
    words = shlex.split(lines_of_kubernetes()[0])
    ranks = int(words[words.index("-n") + 1])
    assert ranks == spec["slotsPerWorker"] * spec["mpiReplicaSpecs"]["Worker"]["replicas"]


@pytest.mark.parametrize("path", CONTAINERS, ids=lambda path: path.name)
def test_an_image_has_a_pinned_base_and_what_it_copies(path, parbench, build):
    (base,) = instructions(path, "FROM")
    assert re.fullmatch(r"[a-z]+(/[a-z]+)?:[\w.-]+", base) and not base.endswith(":latest")
    (target,) = instructions(path, "WORKDIR")
    assert instructions(path, "COPY") == [f". {target}"]
    (entry,) = instructions(path, "ENTRYPOINT")
    program = yaml.safe_load(entry)[0].removeprefix(f"{target}/")
    assert (ROOT / program).is_file()
    building, running = map(shlex.split, COMMENTED.findall(text_of(path)))
    assert building[building.index("-f") + 1] == str(path.relative_to(ROOT)) and building[-1] == "."
    image = building[building.index("-t") + 1]
    arguments = running[running.index(image) + 1:]
    check(parbench, build, Command(path.name, "parbench", tuple(arguments), {}))


def test_images_take_no_build_of_this_machine():
    assert {"build/", "reports/runs/"} <= set(text_of(ROOT / ".dockerignore").splitlines())
