"""Strategy all-cores with the real binary: what a user can do with any case, and devices that share cores."""
import json
import os

import pytest

from support.process import run

TINY = ["--scenario", "pipeline", "--model", "toy", "--batch", 8, "--split", 2, "--devices", "cpu:0,cpu:1", "--quiet",
        "--benchmark_repetitions=2"]
WHOLE = "cpu:all"


@pytest.fixture(scope="module")
def parbench(build):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core: no second device")
    return build.program("parbench")


@pytest.fixture(scope="module")
def on_two_cores():
    """Words before a command that keep it to two cores, which four devices share."""
    return ["taskset", "-c", ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))]


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))["parbench"]


@pytest.fixture(scope="module")
def measured(parbench, tmp_path_factory):
    """The folder of a run with its report, trace and page."""
    folder = tmp_path_factory.mktemp("all-cores")
    run([parbench, *TINY, "--report", folder / "r.json", "--trace", folder / "trace.json"])
    run([parbench, "html", folder / "r.json", "-o", folder / "page.html"])
    return folder


def test_the_case_is_verified_and_compared_with_the_baseline(measured):
    report = read(measured / "r.json")
    (case,) = (one for one in report["cases"] if one["strategy"] == "all-cores")
    assert case["verification"]["passed"] and case["verification"]["against"].startswith("pipeline/single/")
    assert case["speedup"]["baseline"].startswith("pipeline/single/")
    assert [held["device"] for held in case["memory"]] == [WHOLE]
    devices = {device["name"]: device for device in report["devices"]}
    assert devices[WHOLE]["cores"] == devices["cpu:0"]["cores"] + devices["cpu:1"]["cores"]
    assert devices[WHOLE]["combines"] == ["cpu:0", "cpu:1"]
    assert [device["device"] for device in case["profile"]["metrics"]["devices"]] == [WHOLE]


def test_traces_and_pages_name_the_device(measured):
    assert WHOLE in (measured / "trace.json").read_text(encoding="utf-8")
    assert WHOLE in (measured / "page.html").read_text(encoding="utf-8")


def test_a_run_is_repeated_and_compared(parbench, measured):
    report = measured / "again.json"
    run([parbench, "--rerun", measured / "r.json", "--report", report, "--quiet"])
    names = [case["name"] for case in read(measured / "r.json")["cases"]]
    assert [case["name"] for case in read(report)["cases"]] == names
    compared = run([parbench, "compare", measured / "r.json", report], code=None)
    assert compared.returncode in (0, 3) and "machine" not in compared.err


def test_a_run_is_resumed(parbench, tmp_path):
    report = tmp_path / "r.json"
    run([parbench, *TINY[:-1], "--max-total-time", 1, "--report", report])
    before = {case["name"]: len(case["samples"]) for case in read(report)["cases"]}
    run([parbench, "--resume", report, "--max-total-time", 2, "--quiet"])
    after = {case["name"]: len(case["samples"]) for case in read(report)["cases"]}
    assert any("/all-cores/" in name for name in after) and after.keys() == before.keys()
    assert all(after[name] >= count for name, count in before.items())


def test_the_strategy_is_chosen_alone(parbench, tmp_path):
    run([parbench, *TINY[:6], "--strategy", "all-cores", "--devices", 2, "--quiet", "--benchmark_repetitions=1",
         "--report", tmp_path / "r.json"])
    (case,) = read(tmp_path / "r.json")["cases"]
    assert case["status"] == "measured" and case["verification"]["passed"]


def test_devices_that_share_cores_have_no_such_case(parbench, on_two_cores):
    shared = ["--scenario", "data-parallel", "--model", "linear", "--batch", 64, "--devices", 4, "--oversubscribe"]
    done = run([*on_two_cores, parbench, *shared, "--strategy", "all-cores", "--dry-run"], code=2)
    assert "devices that have cores of their own" in done.err
    dry = run([*on_two_cores, parbench, *shared, "--dry-run"])
    assert "all-cores" not in dry.out and ", which share " in dry.out


def test_answers_and_findings_name_shared_cores(parbench, on_two_cores, tmp_path):
    run([*on_two_cores, parbench, "--scenario", "data-parallel", "--model", "mlp", "--hidden", 64, "--batch", 64,
         "--devices", 4, "--oversubscribe", "--strategy", "single,all-reduce", "--quiet", "--benchmark_repetitions=6",
         "--report", tmp_path / "r.json"])
    report = read(tmp_path / "r.json")
    (answer,) = report["answers"]
    assert any("share" in text and "do not apply" in text for text in answer["warnings"])
    rules = {finding["rule"] for finding in report["findings"]}
    assert "shared-cores" in rules
    assert not rules & {"losses", "batch-too-small", "exposed-communication", "launch-bound", "unbalanced"}
