"""The targets of scripts/gpu-check on a stand-in GPU with a stand-in PyTorch: figures, verdicts, and
the reasons of targets without a figure."""
import contextlib
import json
import multiprocessing.connection
import signal
import subprocess

from support.googletest import ran
from support.process import PYTHON, TIME_LIMIT, missing, start


def test_the_ratio_of_rounds_decides_about_targets(check):
    seconds = {"matmul": 0.98, "copy_to_host": 0.96, "training_step": None}
    out = check.steps("matmul,copy,training", torch=True, code=1, TORCH_SECONDS=json.dumps(seconds)).out
    product = check.target("matmul/tf32")
    assert product["value"] == product["interval"]["low"] == 0.98, "PyTorch's time over parbench's"
    assert product["reached"] is True
    assert check.target("copy/d2h/pinned")["reached"] is False

    # What PyTorch cannot do has no figure; the others are measured.
    step = check.target("training/bf16/eager")
    assert step["reached"] is None
    assert "training_step does not work" in step["not_run"]
    assert not missing(out, "MISSED", "reached", "not run: ")
    figures = check.output("peers.json")["matmul"]["figures"]
    assert len(figures[0]["details"]["ours_seconds"]) == 7
    assert check.summary["good"] is False


def test_schedules_need_no_pytorch(check):
    seconds = {"copy": 2.0, "overlapped": 2.08, "concurrent": 1.25}
    check.steps("schedules", code=1, SECONDS_OF=json.dumps(seconds))
    overlap, partitions = check.target("overlap/d2h/pinned"), check.target("partitions/two")
    assert (overlap["value"], overlap["reached"]) == (1.04, True)  # relative to the longer part
    assert (partitions["value"], partitions["reached"]) == (1.6, False)  # the work of two in 1.25 s
    assert not missing(check.log, "--devices cuda:0/0,cuda:0/1", "--inner 4000 --count 50")


def test_every_scenario_runs_on_two_parts_without_and_with_graphs(check):
    check.steps("pair,scenarios")
    runs = [line for line in check.log.splitlines() if "--no-timeline" in line]
    assert len(runs) == 24
    assert len([line for line in runs if line.endswith(" --graph")]) == 12
    on_parts = [line for line in runs if "--devices cuda:0/0,cuda:0/1 " in line]
    assert len(on_parts) == 22
    assert {"inter-op"} == {line.split()[4] for line in runs if line not in on_parts}
    assert "--scenario launch --max-time 0.2 --devices cuda:0" in check.log


def test_a_trial_names_its_own_sizes_and_devices(check):
    steps = "matmul,convolution,training,copy,schedules"
    check.steps(steps, "--devices", "cpu", torch=True, code=None)
    for name, what in {
        "matmul/f32": "n = 128,",
        "convolution/f32/seed-128": "2 convolutions, 1 image of 16×16",
        "training/f32/eager": "2 images of 32×32",
        "copy/d2h/pinned": "32 KiB",
        "partitions/two": "two CPU devices",
    }.items():
        assert what in check.target(name)["what"]
    assert "tf32" not in str(check.summary["targets"]), "a processor need not have it"
    assert not missing(check.log, "--n 128 --count 2", "--image 16")
    assert "--autotune" not in check.log


def test_fallback_kernels_are_reported(check):
    kernels = [
        ("convolution_forward", 2, "CUDA kernel, direct"),
        ("convolution_backward_weights", 53, "cuDNN x on inputs widened to f32"),
        ("convolution_backward_weights", 20, "cuBLASLt on patches"),
        ("convolution_backward_data", 1, "cuDNN y; cuDNN failed: no memory"),
        ("gemm", 3, "cuBLASLt"),
    ]
    found = [dict(zip(("operation", "count", "implementation"), kernel)) for kernel in kernels]
    found[-1]["chosen_by"] = "heuristics"
    out = check.steps("training", torch=True, code=1, KERNELS=json.dumps(found)).out
    direct = "direct kernels: 2× convolution_forward: CUDA kernel, direct"
    assert not missing(
        out,
        f"training/bf16/eager: pipeline/single: {direct}",
        "widened kernels: 53× convolution_backward_weights",
        "kernels where cuDNN failed: 1× convolution_backward_data: cuDNN y",
        "3 operations have kernels that were not measured",
    )


def test_one_process_of_pytorch_serves_all_steps(check):
    """Each process imports PyTorch, which takes long, the first import most of all."""
    check.steps("matmul,copy,convolution", torch=True, TORCH_IMPORTS_FOR="3")
    assert len(check.read("log.servers").splitlines()) == 1
    assert check.summary["torch"]["torch"] == "2"


def test_a_new_process_replaces_a_pytorch_that_ended(check):
    check.steps("matmul,copy", torch=True, code=None, TORCH_SECONDS='{"matmul": "ends"}')
    assert "an illegal memory access" in check.target("matmul/f32")["not_run"]
    assert check.target("copy/d2h/pinned")["value"] == 1


def test_profiles_contain_kernels_and_calls(check):
    profile = {"metrics": {"calls": [{"name": "gemm", "seconds": 1}]}, "timeline": [1, 2]}
    kernels = [{"operation": "gemm", "implementation": "cuBLASLt"}]
    env = {"KERNELS": json.dumps(kernels), "PROFILE": json.dumps(profile)}
    check.steps("profiles", torch=True, code=None, **env)
    profiles = check.output("profiles.json")["profiles"]
    ours, torch = profiles["steps"]["bf16"]["parbench"], profiles["steps"]["bf16"]["torch"]
    assert ours["kernels"][0]["implementation"] == "cuBLASLt"
    assert ours["profile"]["metrics"]["calls"]["rows"][0][0] == "gemm"
    assert "timeline" not in ours["profile"]
    assert torch[0]["name"] == "gemm"
    assert profiles["problems"] == []
    assert "--no-timeline" not in check.log


NCU = """echo "ncu $*" >>"$LOG"
while [[ $1 != --log-file ]]; do shift; done
cat >"$2" <<'END'
==PROF== Connected to process 7
"ID","Kernel Name","Grid Size","Metric Name","Metric Unit","Metric Value"
"0","parbench::cuda::relu","(8, 1, 1)","gpu__time_duration.sum","ns","3,000"
"0","parbench::cuda::relu","(8, 1, 1)","gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed","%","80"
"1","parbench::cuda::relu","(8, 1, 1)","gpu__time_duration.sum","ns","1,000"
"1","parbench::cuda::relu","(8, 1, 1)","gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed","%","40"
END
"""


def test_nsight_compute_measures_the_bandwidth_of_our_kernels(check):
    check.tool("ncu", NCU)
    check.steps("ncu")
    profile = check.output("profiles.json")["ncu"]
    assert profile["dtype"] == "bf16"
    kernel = profile["kernels"][0]
    assert kernel["kernel"] == "parbench::cuda::relu grid (8, 1, 1)"
    assert kernel["launches"] == 2
    assert kernel["seconds"] == 4e-6
    assert kernel["share_of_bandwidth"] == 0.7, "weighted by the time of each launch"
    flags = ["--clock-control none", "--kernel-name regex:parbench::", "--launch-count 150 "]
    assert not missing(check.log, *flags)


def test_the_words_of_nsight_compute_are_kept_where_the_platform_denies_counters(check):
    check.tool("ncu", "echo '==ERROR== ERR_NVGPUCTRPERM'; exit 1\n")
    assert "ncu: no metrics: ERR_NVGPUCTRPERM" in check.steps("ncu", code=1).out


def test_reaching_all_targets_is_success(check):
    check.steps("schedules,matmul", torch=True, SECONDS_OF='{"concurrent": 1.02}')
    assert check.summary["good"] is True


def test_parbench_gets_the_flags_that_targets_name(check):
    check.steps("training,matmul", "--time-limit", "120", torch=True, code=None)
    assert not missing(
        check.log,
        "--n 8192 --count 4 --dtype tf32 --autotune",
        "--batch 120 --image 128 --dtype bf16 --autotune",
        # Many samples for each time that kernels are chosen.
        "--autotune --min-samples 30 --no-timeline --devices cuda:0 --max-time 2",
    )


def test_bf16_is_measured_first_and_has_the_largest_share(check):
    """The time is too short for seven rounds of each type."""
    check.steps("training", "--time-limit", "34", torch=True, code=None, WORKS_FOR="0.7")
    order = [line.partition("--dtype ")[2].split()[0] for line in check.log.splitlines()]
    assert order == sorted(order, key=["bf16", "tf32", "f32"].index)
    assert order.count("bf16") > order.count("tf32") >= 1
    assert order.count("f32") >= 1


def test_rounds_without_enough_time_are_not_begun(check):
    """The first round takes 8 of 16 seconds, so there is none for the next type."""
    check.steps("training", "--time-limit", "30", torch=True, code=None, WORKS_FOR="6")
    assert check.target("training/bf16/eager")["value"] == 1
    assert check.target("training/f32/eager")["not_run"] == "time"
    assert "--dtype f32" not in check.log


def test_compiling_runs_beside_the_sanitizer_but_not_beside_the_tests(check):
    check.test_program(
        "runtime_test",
        "[[ -z $SANITIZED && -e $LOG.torch ]] && exit 1",
        ran("Sum.IsRight"),
    )
    check.tool(
        "compute-sanitizer",
        "[[ $1 != --version ]] || exit 0\n"
        'until grep -q compiled "$LOG.torch"; do sleep 0.1; done 2>/dev/null\n'
        'while [[ $1 != */runtime_test ]]; do shift; done\nSANITIZED=1 "$@"\n'
        "echo '========= ERROR SUMMARY: 0 errors'\n",
    )
    check.steps("tests,sanitizer,training-compiled", "--time-limit", "90", torch=True)
    assert check.target("training/bf16/compiled")["value"] == 1


TORCH = """from types import SimpleNamespace as Some
__version__, float32, bfloat16, inference_mode = '2', 0, 1, lambda: lambda run: run
version = Some(cuda=None)
matmul = Some(allow_tf32=False)
cudnn = Some(allow_tf32=False, benchmark=False, version=lambda: 9)
backends = Some(cuda=Some(matmul=matmul), cudnn=cudnn)
"""
RESNET50 = """import pathlib, time
def training_step(*_, **__):
    while not pathlib.Path('client-left').exists():
        time.sleep(0.02)
    raise ValueError('late')
"""


def ask_for_training_step(server, address):
    """Returns the connection of a client that has sent a request."""
    connections = []

    def connect():
        with contextlib.suppress(OSError):
            connections.append(multiprocessing.connection.Client(str(address), "AF_UNIX"))
        return connections

    server.wait_until(connect)
    arguments = {"dtype": "f32", "batch": 1, "image": 8, "compiled": False}
    request = {"work": "training_step", "arguments": arguments, "seconds": 0}
    connections[0].send_bytes(json.dumps(request).encode())
    return connections[0]


def test_a_client_that_leaves_early_does_not_end_pytorch(check):
    """A step leaves when its time is up while PyTorch works."""
    check.write("modules/torch.py", TORCH)
    check.write("modules/resnet50.py", RESNET50)
    address = check.folder / "socket"
    command = [PYTHON, "-B", check.folder / "scripts/gpu-check.d/torch_server.py", "cpu", address]
    env = {"PYTHONPATH": check.folder / "modules"}
    with start(command, cwd=check.folder, env=env, stdin=subprocess.PIPE) as server:
        ask_for_training_step(server, address).close()
        check.write("client-left", "")
        with ask_for_training_step(server, address) as client:
            assert client.poll(TIME_LIMIT)
            assert "ValueError: late" in client.recv_bytes().decode()


def test_a_pytorch_that_hangs_does_not_block_its_step(check):
    never = '{"copy_to_host": "never"}'
    check.steps("copy", "--time-limit", "20", torch=True, code=None, TORCH_SECONDS=never)
    assert "no answer to copy_to_host" in check.target("copy/d2h/pinned")["not_run"]
    assert check.summary["steps"]["copy"] == "done"


def test_a_terminated_step_does_not_wait_for_pytorch(check):
    setting = {
        "root": str(check.folder),
        "device": "cuda:0",
        "pair": "cuda:0/0,cuda:0/1",
        "dtypes": ["f32"],
        "is_trial": False,
        "autotune": False,
        "library_path": "",
        "plain_environment": {},
        "torch_python": str(check.torch),
        "torch_address": str(check.folder / "torch"),
        "torch_process": 0,
        "torch_began": 0,
        "sanitizer": "",
        "sanitizer_missing": "not installed",
        "ncu": "",
        "ncu_missing": "not installed",
        "scratch": str(check.folder),
    }
    script = check.folder / "scripts/gpu-check.d/step.py"
    command = [PYTHON, "-B", script, "copy", json.dumps(setting), 3600, check.folder / "result.json"]
    env = {
        "LOG": check.folder / "log",
        "PYTHONPATH": check.folder / "scripts/lib",
        "TORCH_SECONDS": '{"copy_to_host": "never"}',
    }
    with start(command, cwd=check.folder, env=env) as step:
        step.wait_until(lambda: check.read("log.torch"))
        step.send_signal(signal.SIGTERM)
        step.finish(code=143, seconds=60)


def test_missing_pytorch_is_reported_once(check):
    out = check.steps("convolution,copy", code=1).out
    assert (
        "! convolution (12 figures), copy/d2h/pinned: not run: no PyTorch "
        "(--python names an interpreter that has it): no module named torch\n"
    ) in out
    assert out.count("no PyTorch") == 1
    reason = check.target("convolution/f32/seed-128")["not_run"]
    assert not missing(reason, "no PyTorch", "no module named torch")
