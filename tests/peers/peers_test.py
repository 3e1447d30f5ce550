"""scripts/peers on tiny sizes: the JSON it writes, its exit codes, and what it refuses. How fast
anything is does not matter here."""
import json
import math
import os
import shutil

import pytest

from support.process import PYTHON, ROOT, SCRIPTS_LIB, missing, run, write_program


class Peers:
    def __init__(self, folder, build):
        self.folder, self.output = folder, folder / "peers.json"
        self.program = build.program("parbench-peers")
        assert build.program("parbench").parent == self.program.parent

    def __call__(self, *words, code=0, binaries=None):
        script = ROOT / "scripts/peers.d/compare.py"
        command = [PYTHON, "-B", script, "--binaries", binaries or self.program.parent, *words]
        env = {"PARBENCH_HOME": self.folder, "PYTHONPATH": SCRIPTS_LIB}
        return run(command, code=code, cwd=self.folder, env=env)

    def quick(self, only, *words, **options):
        return self("--quick", "--only", only, "-o", self.output, *words, **options)

    @property
    def content(self):
        return json.loads(self.output.read_text(encoding="utf-8"))


@pytest.fixture
def peers(tmp_path, build):
    return Peers(tmp_path, build)


@pytest.mark.skipif(os.cpu_count() < 2, reason="a pipeline needs two cores")
def test_measures_the_published_setting_with_either_partition(peers):
    peers.quick("seed")
    assert peers.content["failures"] == {}
    published, balanced = (row["details"]["case"] for row in peers.content["rows"])
    assert "partition:published" in published
    assert "partition:balanced" in balanced


def check_row(row):
    value, interval, target = row["value"], row["interval"], row["target"]
    assert math.isfinite(value) and value > 0
    if interval is not None:
        assert interval["low"] <= value <= interval["high"]
    at_least, at_most = target["at_least"], target["at_most"]
    assert (at_least is None) != (at_most is None)
    assert row["reached"] == (value >= at_least if at_most is None else value <= at_most)


def test_writes_a_row_for_every_figure(peers):
    ended = peers.quick("convolution,executor,recording,overlap", "--strict", code=None)
    content = peers.content
    assert content["schema_version"] == 1
    assert content["quick"] is True
    assert content["failures"] == {}
    assert content["machine"]["cores_online"] >= 1
    assert 0 <= content["busy_before"]["executor"] <= 1
    for row in content["rows"]:
        check_row(row)
        assert row["what"] in ended.out
    assert {row["name"] for row in content["rows"]} >= {
        "convolution/branch/cores:1",
        "convolution/resnet50/cores:1",
        "executor/cores:1",
        "recording/cores:1",
        "overlap/d2h/pinned",
    }
    # --strict: a missed target is a failure.
    assert ended.returncode == (0 if all(row["reached"] for row in content["rows"]) else 1)


def test_keeps_the_seconds_of_every_pair(peers):
    peers.quick("executor")
    assert peers.content["rows"]
    for row in peers.content["rows"]:
        assert len(row["details"]["ours_seconds"]) == len(row["details"]["peer_seconds"]) == 7
        assert row["value"] == row["details"]["ratio"]["value"]


@pytest.mark.parametrize(
    "words, messages",
    [
        (["--only", "executor,speed"], ["--only", "'speed'", "convolution, executor"]),
        (["--quick", "--only", "executor", "-o", "/no/such/folder/x.json"],
         ["-o", "/no/such/folder/x.json"]),
        (["--only", "train", "--python", "/no/such/python", "-o", "x.json"],
         ["torch cannot be used with"]),
    ],
    ids=["measurement", "output folder", "interpreter"],
)
def test_refuses_what_does_not_exist_before_it_measures(peers, words, messages):
    refused = peers(*words, code=2)
    assert refused.out == ""
    assert "Traceback" not in refused.err
    assert not missing(refused.err, *messages)


def test_reports_what_could_not_be_measured(peers):
    (peers.folder / "parbench-peers").symlink_to(peers.program)  # parbench itself is missing
    ended = peers.quick("overlap,executor", binaries=peers.folder, code=1)
    assert "overlap could not be measured" in ended.out
    assert "overlap" in peers.content["failures"]
    assert peers.content["rows"]


def test_an_unreadable_answer_fails_its_measurement_only(peers):
    write_program(
        peers.folder / "parbench-peers",
        f"[[ $1 != convolution ]] || {{ echo nonsense; exit 0; }}\nexec '{peers.program}' \"$@\"\n",
    )
    ended = peers.quick("convolution,executor", binaries=peers.folder, code=1)
    assert "did not answer in JSON" in ended.out
    assert "convolution" in peers.content["failures"]
    assert peers.content["rows"]


def served(peers, command, *words):
    """What a server said when it was ready, and the seconds of two requests."""
    ended = run([peers.program, command, *words], text="\n\n")
    ready, *seconds = ended.out.splitlines()
    assert [float(one) > 0 for one in seconds] == [True, True]
    return json.loads(ready)


def test_serves_training_steps_of_the_whole_model(peers):
    ready = served(peers, "train", "--batch", 2, "--image", 32)
    assert ready["parameters"] == 25_557_032
    assert ready["threads"] >= 1
    assert ready["planning_seconds"] > 0


@pytest.mark.parametrize("model", ["gpt-tiny", "rnn-lm-tiny"])
def test_serves_training_steps_of_language_models_with_their_first_loss(peers, model):
    words = ["--model", model, "--batch", 3]
    ready = served(peers, "train", *words, "--executions", 2)
    described = json.loads(run([peers.program, "model", *words]).out)
    assert described["parameters"] == ready["parameters"]
    assert len(described["lengths"]) == 3
    # Initial weights are small: all 256 tokens are nearly equally likely.
    assert abs(ready["loss"] - math.log(256)) < 0.25


@pytest.mark.skipif(os.cpu_count() < 2, reason="two devices need two cores")
def test_serves_steps_and_exchanges_of_several_devices(peers):
    ready = served(peers, "train", "--batch", 4, "--image", 32, "--devices", 2)
    assert ready["parameters"] == 25_557_032
    assert "data-parallel/all-reduce-buckets" in ready["name"]
    assert ready["threads"] >= 1
    ready = served(peers, "all-reduce", "--bytes", 4096, "--devices", 2)
    assert ready["bytes"] == 4096
    refused = run([peers.program, "all-reduce", "--devices", 1], code=2)
    assert "at least two devices" in refused.err


def over_ranks(*command):
    asked = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1}
    mpirun = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", 2]
    ready, *seconds = run([*mpirun, *command], text="\n\n", env=asked).out.splitlines()
    assert [float(one) > 0 for one in seconds] == [True, True]
    return json.loads(ready)


def test_serves_steps_and_exchanges_of_ranks(peers, build):
    if build.cached("PARBENCH_HAS_MPI") != "ON" or shutil.which("mpirun") is None:
        pytest.skip("this build has no MPI, or there is no mpirun")
    ready = over_ranks(peers.program, "train", "--batch", 4, "--image", 32)
    assert ready["ranks"] == 2
    assert "data-parallel/all-reduce-buckets" in ready["name"]
    words = ["--bytes", 4096, "--calls", 3, "--executions", 2]
    ready = over_ranks(peers.program, "all-reduce", *words)
    assert (ready["ranks"], ready["bytes"], ready["threads"]) == (2, 4096, 1)
    assert "collectives/shared-memory" in ready["name"]
    loop = over_ranks(build.program("parbench-mpi-loop"), 4096, 3, 2)
    assert {key: loop[key] for key in ("ranks", "bytes", "threads")} == {
        key: ready[key] for key in ("ranks", "bytes", "threads")
    }
    peers.quick("one-rank")
    assert peers.content["failures"] == {}
    assert [row["name"] for row in peers.content["rows"]] == ["one-rank"]


def test_serves_forward_passes(peers):
    ready = served(peers, "infer", "--model", "googlenet", "--batch", 2, "--image", 32)
    assert ready["outputs"] == 1000
    assert ready["loss"] is None


@pytest.mark.parametrize(
    "words, message",
    [
        (["--model", "gpt-tiny", "--image", 32], "is not a size of model gpt-tiny"),
        (["--model", "resnet50", "--image", 31], "--image"),
        (["--model", "no-such-model"], "no-such-model"),
        (["--dtype", "f8"], "--dtype"),
    ],
)
def test_refuses_models_and_sizes_that_it_does_not_have(peers, words, message):
    refused = run([peers.program, "train", *words], code=None)
    assert refused.returncode != 0
    assert message in refused.err


def has_torch():
    return (ROOT / "build/torch/torch").exists()


@pytest.mark.skipif(not has_torch(), reason="scripts/peers fetches PyTorch into build/torch")
@pytest.mark.parametrize(
    "words",
    [["gpt", "--batch", 2], ["llama", "--batch", 2], ["rnn-lm", "--batch", 3],
     ["vit", "--batch", 2, "--image", 32]],
    ids=["gpt", "llama", "rnn-lm", "vit"],
)
def test_trains_in_pytorch_what_it_trains_itself(peers, words):
    words = ["--model", *words]
    ours = served(peers, "train", *words)
    lengths = json.loads(run([peers.program, "model", *words]).out)["lengths"]
    script = [PYTHON, "-B", ROOT / "scripts/peers.d/torch_step.py", "--threads", 1, *words]
    script += ["--lengths", ",".join(map(str, lengths))] if lengths else []
    packages = {"PYTHONPATH": f"{ROOT / 'build/torch'}:{SCRIPTS_LIB}"}
    theirs = json.loads(run(script, text="\n", env=packages).out.splitlines()[0])
    assert theirs["parameters"] == ours["parameters"]
    if "--image" in words:
        assert theirs["loss"] is None, "both sides draw other initial values"
    else:
        assert theirs["loss"] == pytest.approx(ours["loss"], rel=0.02)


@pytest.mark.skipif(not has_torch(), reason="scripts/peers fetches PyTorch into build/torch")
@pytest.mark.skipif(os.cpu_count() < 2, reason="two devices need two cores")
def test_measures_several_devices_beside_processes_of_pytorch(peers):
    peers.quick("data-parallel,all-reduce")
    assert peers.content["failures"] == {}
    names = [row["name"] for row in peers.content["rows"]]
    assert names == ["data-parallel/gloo", "data-parallel/copies", "all-reduce/gloo"]


def test_takes_the_median_of_paired_ratios(peers):
    pairs = {"peer": [7, 6, 5, 4, 3, 2, 1], "ours": [1] * 7}
    ratio = json.loads(run([peers.program, "ratio"], text=json.dumps(pairs) + "\n").out)
    assert ratio["value"] == 4
    assert (ratio["interval"]["low"], ratio["interval"]["high"]) == (1, 7)


@pytest.mark.parametrize(
    "words, needs_torch",
    [
        ([], True),
        (["--only", "train"], True),
        (["--only", "executor,rnn-lm"], True),
        (["--only", "executor"], False),
    ],
)
def test_needs_pytorch_only_to_measure_it(clone, words, needs_torch):
    lists = {"packages": "libc6", "packages-peers": "libc6", "packages-torch": "no-such-torch"}
    for name, package in lists.items():
        (clone / f"scripts/packages/{name}.txt").write_text(f"{package}\n", encoding="utf-8")
    ended = run([clone / "scripts/peers", *words], code=2, cwd="/", env={"PARBENCH_NO_INSTALL": 1})
    assert ("no-such-torch" in ended.err) == needs_torch
    # There is no CMakePresets.json to configure with.
    assert ("apt-get install" if needs_torch else "could not configure") in ended.err
