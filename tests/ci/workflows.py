# What GitHub would refuse, or what would be unsafe, in the workflows of a folder:
#   tests/ci/workflows.py FOLDER ROOT
import pathlib
import re
import sys

import yaml

OWN_ACTIONS = re.compile(r"actions/(checkout|upload-artifact|download-artifact)@v\d+")


def problems(path, root):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    events = workflow.get("on", workflow.get(True))  # YAML 1.1 reads `on` as true
    if not events or "pull_request_target" in events:
        yield "events"
    if "permissions" not in workflow:
        yield "permissions are not limited"
    for name, job in workflow["jobs"].items():
        if "timeout-minutes" not in job:
            yield f"{name}: no time limit"
        for step in job["steps"]:
            if ("uses" in step) == ("run" in step):
                yield f"{name}: a step needs either uses or run"
            if "uses" in step and not OWN_ACTIONS.fullmatch(step["uses"]):
                yield f"{name}: {step['uses']} is no action of GitHub's own at a version"
            command = step.get("run", "")
            # What others have named is to come by the environment: here it would become code.
            if "${{" in command:
                yield f"{name}: an expression within a command: {command}"
            script = re.match(r"\.?/?((?:scripts/)?[\w/-]+)", command)
            if command.startswith(("scripts/", "./")) and not (root / script[1]).is_file():
                yield f"{name}: {script[1]} does not exist"


found = [f"{path.name}: {problem}" for path in sorted(pathlib.Path(sys.argv[1]).glob("*.yml"))
         for problem in problems(path, pathlib.Path(sys.argv[2]))]
print("\n".join(found) or "ok")
sys.exit(bool(found))
