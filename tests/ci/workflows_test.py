"""What would be unsafe in the workflows; .ci/run checks their syntax with actionlint."""
import re

import pytest
import yaml

from support.process import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
OWN_ACTIONS = re.compile(r"actions/(checkout|upload-artifact|download-artifact)@v\d+")


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.stem)
def workflow(request):
    return yaml.safe_load(request.param.read_text(encoding="utf-8"))


@pytest.fixture
def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_there_are_workflows():
    assert WORKFLOWS


def test_code_of_others_has_no_rights(workflow):
    events = workflow.get("on", workflow.get(True))  # YAML 1.1 reads `on` as true
    assert events and "pull_request_target" not in events
    assert "permissions" in workflow


def test_every_job_has_a_time_limit(workflow):
    assert [name for name, job in workflow["jobs"].items() if "timeout-minutes" not in job] == []


def test_steps_use_actions_of_github_at_a_version(steps):
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert [step for step in steps if "uses" in step and not OWN_ACTIONS.fullmatch(step["uses"])] == []


def test_commands_take_foreign_text_from_the_environment(steps):
    assert [step for step in steps if "${{" in step.get("run", "")] == []


def test_scripts_exist(steps):
    commands = [step["run"].removeprefix("./").split()[0] for step in steps
                if step.get("run", "").startswith(("scripts/", "./"))]
    assert [command for command in commands if not (ROOT / command).is_file()] == []
