"""scripts/nsys-capture with stand-ins for nsys and parbench that log how they are called."""
import pytest

from support.process import SYSTEM_PATH, missing, run, text_of, write_program

NSYS = """if [[ $2 == --help ]]; then echo 'traces: cuda, nvtx, cudnn, cublas'; exit 0; fi
echo "nsys $*" >>"$LOG"
[[ $1 == profile ]] || exit 0
while [[ $1 != -o ]]; do shift; done
[[ -n ${NO_TRACE:-} ]] || touch "$2.nsys-rep"
shift 3
"$@"
"""
PARBENCH = """if [[ $1 == devices ]]; then
  printf '%s\\n' "cuda: ${GPUS:-1 GPU: made up}" "NVTX: ${NVTX:-3}"
  exit 0
fi
echo "parbench $*" >>"$LOG"
exit "${CODE:-0}"
"""


class Capture:
    def __init__(self, folder):
        self.folder, self.trace = folder, folder / "traces/one"
        write_program(folder / "parbench", PARBENCH)
        self.branch = ["--output", self.trace, "--", "--scenario", "branch"]

    def install_nsys(self):
        write_program(self.folder / "tools/nsys", NSYS)

    def __call__(self, *words, code=0, **env):
        env = {"PATH": f"{self.folder / 'tools'}:{SYSTEM_PATH}", "LOG": self.folder / "log", **env}
        script = self.folder / "scripts/nsys-capture"
        return run([script, *words], code=code, cwd=self.folder, env=env)

    @property
    def log(self):
        return text_of(self.folder / "log")


@pytest.fixture
def bare(clone):
    """Without nsys."""
    return Capture(clone)


@pytest.fixture
def capture(bare):
    bare.install_nsys()
    return bare


def test_captures_between_start_and_stop_of_the_profiler(capture):
    ended = capture(*capture.branch)
    assert not missing(
        capture.log,
        "--trace=cublas,cudnn,cuda,nvtx",
        "--sample=none",
        "--cpuctxsw=none",
        "--cuda-graph-trace=node",
        "--capture-range=cudaProfilerApi --capture-range-end=stop",
        "\nparbench --for-profiler --scenario branch\n",
        "nsys stats --force-export=true",
        "nvtx_gpu_proj_sum,cuda_gpu_kern_sum,cuda_gpu_mem_time_sum",
        f"{capture.trace}.nsys-rep",
    )
    assert f"trace: {capture.trace}.nsys-rep" in ended.err


def test_traces_a_whole_run_without_a_gpu(capture):
    capture(*capture.branch, GPUS="no NVIDIA driver")
    assert "nsys profile" in capture.log
    assert "--capture-range" not in capture.log


def test_warns_of_a_trace_without_ranges(capture):
    assert "NVTX" not in capture(*capture.branch).err
    err = capture(*capture.branch, NVTX="not in this build").err
    assert not missing(err, "NVTX", "scripts/nvtx")


def test_exits_as_parbench_does_and_still_shows_the_trace(capture):
    capture(*capture.branch, code=1, CODE=1)
    assert "nsys stats" in capture.log


def test_needs_nsys(bare):
    err = bare("--", "--scenario", "branch", code=2).err
    assert not missing(err, "nsys is not on the PATH", "install")


@pytest.mark.parametrize(
    "words, message",
    [
        (["--scenario", "branch"], "after '--'"),
        (["--"], "no command after"),
        (["--output"], "--output needs a name"),
        (["--", "devices"], "'devices' measures nothing"),
    ],
)
def test_refuses_words_that_measure_nothing(capture, words, message):
    err = capture(*words, code=2).err
    assert message in err
    assert "--for-profiler" not in err


def test_reports_a_trace_that_was_not_written(capture):
    assert "has left no" in capture("--output", capture.trace, "--", "x", code=2, NO_TRACE=1).err


def test_shows_its_help(bare):
    assert "scripts/nsys-capture [--output NAME] --" in bare("--help").out
