// The targets of scripts/gpu-check on a stand-in GPU with a stand-in PyTorch: figures, verdicts and
// what is said of those that have no figure.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "tests/gpu_check/fixture.h"

namespace parbench::testing {
namespace {

using report::Json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Targets = GpuCheck;

TEST_F(Targets, AreReachedOrMissedByTheRatioOfRounds) {
  with_stand_in_parbench();
  const Finished finished = check(
      {"--output", "out", "--python", with_torch(), "--only", "matmul,copy,training"},
      {{"TORCH_SECONDS", R"({"matmul": 0.98, "copy_to_host": 0.96, "training_step": null})"}});
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  const Json product = target("matmul/tf32");
  EXPECT_EQ(product.at("value"), 0.98);  // PyTorch's time over parbench's
  EXPECT_EQ(product.at("reached"), true);
  EXPECT_EQ(product.at("interval").at("low"), 0.98);
  EXPECT_EQ(target("copy/d2h/pinned").at("reached"), false);

  // What PyTorch cannot do has no figure, and the others go on.
  const Json step = target("training/bf16/eager");
  EXPECT_EQ(step.at("reached"), nullptr);
  EXPECT_THAT(step.at("not_run").get<std::string>(), HasSubstr("training_step does not work"));
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("MISSED"), HasSubstr("reached"), HasSubstr("not run: ")));
  EXPECT_EQ(
      output("peers.json").at("matmul").at("figures")[0].at("details").at("ours_seconds").size(),
      7);
  EXPECT_EQ(output("summary.json").at("good"), false);
}

TEST_F(Targets, OfSchedulesComeFromParbenchAlone) {
  with_stand_in_parbench();
  const Finished finished =
      check({"--output", "out", "--python", without_torch(), "--only", "schedules"},
            {{"SECONDS_OF", R"({"copy": 2.0, "overlapped": 2.08, "concurrent": 1.25})"}});
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_EQ(target("overlap/d2h/pinned").at("value"), 1.04);  // over the longer part
  EXPECT_EQ(target("overlap/d2h/pinned").at("reached"), true);
  EXPECT_EQ(target("partitions/two").at("value"), 1.6);  // the work of two in 1.25 s
  EXPECT_EQ(target("partitions/two").at("reached"), false);
  EXPECT_THAT(folder_.read("log"), AllOf(HasSubstr("--devices cuda:0/0,cuda:0/1"),
                                         HasSubstr("--inner 4000 --count 50")));
}

TEST_F(Targets, OfATrialNameItsOwnSizesAndDevices) {
  with_stand_in_parbench();
  (void)check({"--devices", "cpu", "--output", "out", "--python", with_torch(), "--only",
               "matmul,convolution,training,copy,schedules"});
  const auto what = [&](const std::string& name) { return target(name).at("what").dump(); };
  EXPECT_THAT(what("matmul/f32"), HasSubstr("n = 128,"));
  EXPECT_THAT(what("convolution/f32/seed-128"), HasSubstr("2 convolutions, 1 image of 16×16"));
  EXPECT_THAT(what("training/f32/eager"), HasSubstr("2 images of 32×32"));
  EXPECT_THAT(what("copy/d2h/pinned"), HasSubstr("32 KiB"));
  EXPECT_THAT(what("partitions/two"), HasSubstr("two CPU devices"));
  EXPECT_THAT(output("summary.json").at("targets").dump(), Not(HasSubstr("tf32")))
      << "a processor need not have it";
  EXPECT_THAT(folder_.read("log"), AllOf(HasSubstr("--n 128 --count 2"), HasSubstr("--image 16"),
                                         Not(HasSubstr("--autotune"))));
}

TEST_F(Targets, WhoseCaseRanOnFallbackKernelsSaySo) {
  with_stand_in_parbench();
  const Finished finished =
      check({"--output", "out", "--python", with_torch(), "--only", "training"},
            {{"KERNELS", R"([{"operation": "convolution_forward", "count": 2,
                              "implementation": "CUDA kernel, direct"},
                             {"operation": "convolution_backward_weights", "count": 53,
                              "implementation": "cuDNN x on inputs widened to f32"},
                             {"operation": "convolution_backward_weights", "count": 20,
                              "implementation": "cuBLASLt on patches"},
                             {"operation": "convolution_backward_data", "count": 1,
                              "implementation": "cuDNN y; cuDNN failed: no memory"},
                             {"operation": "gemm", "count": 3, "implementation": "cuBLASLt",
                              "chosen_by": "heuristics"}])"}});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("training/bf16/eager: pipeline/single: direct kernels: 2× "
                              "convolution_forward: CUDA kernel, direct"),
                    HasSubstr("widened kernels: 53× convolution_backward_weights"),
                    HasSubstr("kernels where cuDNN failed: 1× convolution_backward_data: cuDNN y"),
                    HasSubstr("3 operations have kernels that were not measured")));
}

// Each starts PyTorch, which takes long; the first import most of all.
TEST_F(Targets, OfAllStepsAreMeasuredByOneProcessOfPyTorch) {
  with_stand_in_parbench();
  const Finished finished =
      check({"--output", "out", "--python", with_torch(), "--only", "matmul,copy,convolution"},
            {{"TORCH_IMPORTS_FOR", "3"}});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_EQ(std::ranges::count(folder_.read("log.servers"), '\n'), 1);
  EXPECT_EQ(output("summary.json").at("torch").at("torch"), "2");
}

TEST_F(Targets, AreMeasuredByAnotherProcessWhereThatEnds) {
  with_stand_in_parbench();
  (void)check({"--output", "out", "--python", with_torch(), "--only", "matmul,copy"},
              {{"TORCH_SECONDS", R"({"matmul": "ends"})"}});
  EXPECT_THAT(target("matmul/f32").at("not_run").get<std::string>(),
              HasSubstr("an illegal memory access"));
  EXPECT_EQ(target("copy/d2h/pinned").at("value"), 1);
}

TEST_F(Targets, HaveProfilesBesideThemWithKernelsAndCalls) {
  with_stand_in_parbench();
  (void)check(
      {"--output", "out", "--python", with_torch(), "--only", "profiles"},
      {{"KERNELS", R"([{"operation": "gemm", "implementation": "cuBLASLt"}])"},
       {"PROFILE",
        R"({"metrics": {"calls": [{"name": "gemm", "seconds": 1}]}, "timeline": [1, 2]})"}});
  const Json step_of_bf16 = step("profiles.json", "profiles").at("steps").at("bf16");
  EXPECT_EQ(step_of_bf16.at("parbench").at("kernels")[0].at("implementation"), "cuBLASLt");
  EXPECT_EQ(step_of_bf16.at("parbench").at("profile").at("metrics").at("calls")[0].at("name"),
            "gemm");
  EXPECT_FALSE(step_of_bf16.at("parbench").at("profile").contains("timeline"));
  EXPECT_EQ(step_of_bf16.at("torch")[0].at("name"), "gemm");
  EXPECT_EQ(step("profiles.json", "profiles").at("problems"), Json::array());
  EXPECT_THAT(folder_.read("log"), Not(HasSubstr("--no-timeline")));
}

TEST_F(Targets, HaveTheBandwidthOfOurKernelsWhereNsightComputeMay) {
  with_stand_in_parbench();
  program(
      "tools/ncu",
      "echo \"ncu $*\" >>\"$LOG\"\n[[ \"$*\" == *bf16* ]] || { echo '==ERROR== ERR_NVGPUCTRPERM'; "
      "exit 1; }\nwhile [[ $1 != --log-file ]]; do shift; done\ncat >\"$2\" <<'END'\n"
      "==PROF== Connected to process 7\n"
      "\"ID\",\"Kernel Name\",\"Grid Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
      "\"0\",\"parbench::cuda::relu\",\"(8, 1, 1)\",\"gpu__time_duration.sum\",\"ns\",\"3,000\"\n"
      "\"0\",\"parbench::cuda::relu\",\"(8, 1, 1)\","
      "\"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed\",\"%\",\"80\"\n"
      "\"1\",\"parbench::cuda::relu\",\"(8, 1, 1)\",\"gpu__time_duration.sum\",\"ns\",\"1,000\"\n"
      "\"1\",\"parbench::cuda::relu\",\"(8, 1, 1)\","
      "\"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed\",\"%\",\"40\"\n"
      "END\n");
  const Finished finished =
      check({"--output", "out", "--python", without_torch(), "--only", "ncu"});
  const Json kernel = step("tools.json", "ncu").at("ncu").at("bf16")[0];
  EXPECT_EQ(kernel.at("kernel"), "parbench::cuda::relu grid (8, 1, 1)");
  EXPECT_EQ(kernel.at("launches"), 2);
  EXPECT_EQ(kernel.at("seconds"), 4e-6);
  EXPECT_EQ(kernel.at("share_of_bandwidth"), 0.7) << "by the time of each launch";
  EXPECT_THAT(folder_.read("log"), AllOf(HasSubstr("--clock-control none"),
                                         HasSubstr("--kernel-name regex:parbench::")));
  EXPECT_THAT(finished.out, HasSubstr("ncu: f32: no metrics: ERR_NVGPUCTRPERM"));
}

TEST_F(Targets, AllReachedIsSuccess) {
  with_stand_in_parbench();
  const Finished finished =
      check({"--output", "out", "--python", with_torch(), "--only", "schedules,matmul"},
            {{"SECONDS_OF", R"({"concurrent": 1.02})"}});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_EQ(output("summary.json").at("good"), true);
}

TEST_F(Targets, AreMeasuredWithTheFlagsThatTheyName) {
  with_stand_in_parbench();
  (void)check({"--output", "out", "--python", with_torch(), "--only", "training,matmul",
               "--time-limit", "120"});
  const std::string log = folder_.read("log");
  EXPECT_THAT(log, HasSubstr("--n 8192 --count 4 --dtype tf32"));
  EXPECT_THAT(log, HasSubstr("--batch 120 --image 128 --dtype bf16 --autotune"));
  EXPECT_THAT(log,
              HasSubstr("--autotune --min-samples 30 --no-timeline --devices cuda:0 --max-time 2"))
      << "many samples for each time that kernels are chosen";
}

TEST_F(Targets, ThatTheTimeIsTooShortForAreNotBegun) {
  with_stand_in_parbench();
  (void)check(
      {"--output", "out", "--python", with_torch(), "--only", "training", "--time-limit", "24"},
      {{"WORKS_FOR", "4"}});
  EXPECT_EQ(target("training/f32/eager").at("value"), 1);
  EXPECT_EQ(target("training/bf16/eager").at("not_run"), "time");
  EXPECT_THAT(folder_.read("log"), Not(HasSubstr("bf16")));
}

TEST_F(Targets, AreCompiledForBesideTheSanitizerNotBesideTheTests) {
  with_stand_in_parbench();
  const std::string test =
      "echo '[ RUN      ] Sum.IsRight'; echo '[       OK ] Sum.IsRight (0 ms)'\n";
  test_program("runtime_test", "[[ -z $SANITIZED && -e $LOG.torch ]] && exit 1\n" + test);
  program("tools/compute-sanitizer",
          "[[ $1 != --version ]] || exit 0\n"
          "until grep -q compiled \"$LOG.torch\"; do sleep 0.1; done 2>/dev/null\n"
          "while [[ $1 != */runtime_test ]]; do shift; done\nSANITIZED=1 \"$@\"\n"
          "echo '========= ERROR SUMMARY: 0 errors'\n");
  const Finished finished = check({"--output", "out", "--python", with_torch(), "--only",
                                   "tests,sanitizer,training-compiled", "--time-limit", "90"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_EQ(target("training/bf16/compiled").at("value"), 1);
}

// As a step does whose time is up while PyTorch works.
TEST_F(Targets, AClientThatLeavesBeforeItsAnswerEndsNoPyTorch) {
  folder_.write(
      "modules/torch.py",
      "from types import SimpleNamespace as Some\n"
      "__version__, float32, bfloat16, inference_mode = '2', 0, 1, lambda: lambda run: run\n"
      "version = Some(cuda=None)\n"
      "matmul = Some(allow_tf32=False)\n"
      "cudnn = Some(allow_tf32=False, benchmark=False, version=lambda: 9)\n"
      "backends = Some(cuda=Some(matmul=matmul), cudnn=cudnn)\n");
  folder_.write(
      "modules/resnet50.py",
      "import time\n"
      "def training_step(*_, **__):\n    time.sleep(0.5)\n    raise ValueError('late')\n");
  const std::string client =
      folder_
          .write("client.py",
                 "import json, multiprocessing.connection, subprocess, sys, time\n"
                 "address = 'socket'\n"
                 "command = [sys.executable, '-B', sys.argv[1], 'cpu', address]\n"
                 "server = subprocess.Popen(command, stdin=subprocess.PIPE)\n"
                 "arguments = {'dtype': 'f32', 'batch': 1, 'image': 8, 'compiled': False}\n"
                 "request = json.dumps({'work': 'training_step', 'arguments': arguments, "
                 "'seconds': 0})\n"
                 "def ask():\n"
                 "    while server.poll() is None:\n"
                 "        try:\n"
                 "            connection = multiprocessing.connection.Client(address, 'AF_UNIX')\n"
                 "            connection.send_bytes(request.encode())\n"
                 "            return connection\n"
                 "        except OSError:\n"
                 "            time.sleep(0.05)\n"
                 "    sys.exit('the server has ended')\n"
                 "ask().close()\n"
                 "print(ask().recv_bytes().decode())\n"
                 "server.kill()\n")
          .string();
  const Finished finished = run(
      {PARBENCH_PYTHON, "-B", client, (folder_ / "scripts/gpu-check.d/torch_server.py").string()},
      {folder_.path(), {{"PYTHONPATH", (folder_ / "modules").string()}}});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("ValueError: late"));
}

TEST_F(Targets, OfAPyTorchThatHangsAreNotRunAndItsStepEnds) {
  with_stand_in_parbench();
  (void)check({"--output", "out", "--python", with_torch(), "--only", "copy", "--time-limit", "20"},
              {{"TORCH_SECONDS", R"({"copy_to_host": "never"})"}});
  EXPECT_THAT(target("copy/d2h/pinned").at("not_run").get<std::string>(),
              HasSubstr("no answer to copy_to_host"));
  EXPECT_EQ(output("summary.json").at("steps").at("copy"), "done");
}

TEST_F(Targets, AStepThatIsAskedToEndWaitsForNoAnswer) {
  with_stand_in_parbench();
  const Json setting{{"root", folder_.path().string()},
                     {"device", "cuda:0"},
                     {"pair", "cuda:0/0,cuda:0/1"},
                     {"dtypes", {"f32"}},
                     {"autotune", false},
                     {"library_path", ""},
                     {"plain_environment", Json::object()},
                     {"torch_python", with_torch()},
                     {"torch_address", (folder_ / "torch").string()},
                     {"torch_process", 0},
                     {"torch_began", 0},
                     {"sanitizer", ""},
                     {"sanitizer_missing", "not installed"},
                     {"ncu", ""},
                     {"ncu_missing", "not installed"},
                     {"scratch", folder_.path().string()}};
  Process step(
      {PARBENCH_PYTHON, "-B", (folder_ / "scripts/gpu-check.d/step.py").string(), "copy",
       setting.dump(), "3600", (folder_ / "result.json").string()},
      {folder_.path(),
       {{"LOG", (folder_ / "log").string()}, {"TORCH_SECONDS", R"({"copy_to_host": "never"})"}}});
  while (step.running() && folder_.read("log.torch").empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  step.signal(SIGTERM);
  for (int tries = 0; step.running() && tries < 300; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_FALSE(step.running());
}

TEST_F(Targets, WithoutPyTorchAreNotRunWhichIsSaidOnce) {
  with_stand_in_parbench();
  const Finished finished =
      check({"--output", "out", "--python", without_torch(), "--only", "convolution,copy"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out,
              HasSubstr("! convolution (12 figures), copy/d2h/pinned: not run: no PyTorch "
                        "(--python names an interpreter that has it): no module named torch\n"));
  EXPECT_EQ(finished.out.find("no PyTorch"), finished.out.rfind("no PyTorch"));
  EXPECT_THAT(target("convolution/f32/seed-128").at("not_run").get<std::string>(),
              AllOf(HasSubstr("no PyTorch"), HasSubstr("no module named torch")));
}

}  // namespace
}  // namespace parbench::testing
