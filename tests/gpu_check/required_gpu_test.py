"""PARBENCH_REQUIRE_CUDA=1: a test of a GPU that is missing fails, it is not skipped."""
import pytest

from support.process import run

GPU_TESTS = "*cuda*:*Cuda*:*Gpu*:*Partitions*:Autotune.*:Choices.*-*CpuDevices*:CudaWithoutGpu.*"


OF_CUDA = ["cuda_host_test", "cpu_cases_test"]  # whose tests of GPUs are in builds with CUDA alone


@pytest.fixture(params=["kernels_test", "runtime_test", "training_test", *OF_CUDA])
def gpu_tests(request, build):
    if request.param in OF_CUDA and not build.has_cuda:
        pytest.skip("this build has no CUDA backend")
    return [build.program(request.param), f"--gtest_filter={GPU_TESTS}"]


@pytest.mark.parametrize("required", [True, False], ids=["required", "optional"])
def test_a_missing_gpu_fails_tests_only_if_it_is_required(gpu_tests, required):
    env = {"PARBENCH_REQUIRE_CUDA": int(required), "CUDA_VISIBLE_DEVICES": "-1"}
    out = run(gpu_tests, code=int(required), env=env).out
    assert ("[  FAILED  ]" in out) == required
    assert ("[  SKIPPED ]" in out) != required
