// scripts/gpu-check as its users run it: on CPU devices for real, with programs that crash and
// hang, and where something is missing.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <map>
#include <regex>
#include <string>
#include <thread>

#include "tests/gpu_check/fixture.h"

namespace parbench::testing {
namespace {

using report::Json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

constexpr auto passes =
    "echo '[ RUN      ] Sum.IsRight'\n"
    "echo '[       OK ] Sum.IsRight (0 ms)'\n"
    "echo '[ RUN      ] Lanes/Sum.IsRight/cuda_0'\n"
    "echo 'sum_test.cpp:3: Skipped'\n"
    "echo 'no GPU'\n"
    "echo '[  SKIPPED ] Lanes/Sum.IsRight/cuda_0 (0 ms)'\n";

TEST_F(GpuCheck, WithoutAGpuSaysSoAndMeasuresNothing) {
  with_real_parbench();
  const Finished finished =
      check({"--output", "out", "--python", without_torch()}, {{"CUDA_VISIBLE_DEVICES", "-1"}});
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("gpu-check: error: "));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST_F(GpuCheck, TriesItsStepsOnCpuDevices) {
  with_real_parbench();
  test_program("sum_test", passes);
  const Finished finished = check(
      {"--devices", "cpu", "--output", "out", "--python", without_torch(), "--only",
       "smoke,facts,tests,schedules,matmul,scenarios,peaks,ncu,sanitizer", "--time-limit", "120"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("matmul (2 figures): not run: no PyTorch"));
  EXPECT_THAT(finished.out, HasSubstr("A trial on tiny sizes"));
  const Json summary = output("summary.json");
  EXPECT_EQ(summary.at("trial"), true);
  EXPECT_EQ(summary.at("tests"), Json({{"passed", 1}, {"failed", 0}, {"skipped", 1}}));
  EXPECT_FALSE(summary.at("steps").contains("ncu")) << "it is for GPUs";
  for (const auto& [step, status] : summary.at("steps").items()) EXPECT_EQ(status, "done") << step;
  EXPECT_GT(target("overlap/d2h/pinned").at("value"), 0);
  EXPECT_EQ(target("overlap/d2h/pinned").at("reached"), nullptr) << "a trial reaches no target";
  EXPECT_THAT(summary.at("facts").at("parbench_devices").dump(), HasSubstr("cpu:0"));

  const Json smoke = step("machine.json", "smoke");
  for (const Json& check : smoke.at("checks")) {
    EXPECT_EQ(check.at("status"), "passed") << check.dump();
    EXPECT_FALSE(check.at("lines").empty()) << check.dump();
  }
  EXPECT_THAT(step("machine.json", "peaks").at("devices").dump(), HasSubstr("gemm f32"));
  EXPECT_EQ(step("tests.json", "tests").at("programs")[0].at("skipped"), Json({{"no GPU", 1}}));
  const Json reports = step("scenarios.json", "scenarios").at("reports");
  EXPECT_GE(reports.size(), 5U);
  EXPECT_FALSE(reports[0].at("cases").empty());
  EXPECT_THAT(reports.dump(), Not(HasSubstr("\"samples\":")));
  std::ptrdiff_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "out")) {
    EXPECT_LE(file.file_size(), 200U * 1024) << file.path();
    EXPECT_THAT(file.path().filename().string(), MatchesRegex("[A-Za-z0-9._-]+"));
    ++files;
  }
  EXPECT_LE(files, 8);
}

TEST_F(GpuCheck, ACrashHidesNoOtherTest) {
  with_stand_in_parbench();
  test_program("crash_test",
               "case \"$*\" in\n"
               "*-) echo '[ RUN      ] A.One'; echo '[       OK ] A.One (1 ms)'\n"
               "    echo '[ RUN      ] A.Two'; echo 'about to fall'; kill -SEGV $$ ;;\n"
               "*A.One:A.Two) echo '[ RUN      ] A.Three'; echo '[       OK ] A.Three (1 ms)' ;;\n"
               "esac\n");
  test_program("sum_test", passes);
  const Finished finished =
      check({"--output", "out", "--python", without_torch(), "--only", "tests"});
  EXPECT_EQ(finished.exit_code, 1);
  const Json crashed = step("tests.json", "tests").at("programs")[0];
  EXPECT_EQ(crashed.at("program"), "crash_test");
  EXPECT_EQ(crashed.at("passed"), 2);
  EXPECT_EQ(crashed.at("failed").at("A.Two"), "ended by SIGSEGV: about to fall");
  EXPECT_EQ(step("tests.json", "tests").at("programs")[1].at("status"), "passed");
  EXPECT_THAT(finished.out, HasSubstr("crash_test: 1 failed, first A.Two: ended by SIGSEGV"));
}

// After an error that stays with the context every later test of the process fails for its sake.
TEST_F(GpuCheck, ALostGpuFailsNoOtherTest) {
  with_stand_in_parbench();
  test_program(
      "lose_test",
      "case \"$*\" in\n"
      "*-) echo '[ RUN      ] A.One/cuda_0'; echo '[       OK ] A.One/cuda_0 (1 ms)'\n"
      "    echo '[ RUN      ] A.Two/cuda_0'; echo 'no GPU can be used again before'\n"
      "    echo '[  FAILED  ] A.Two/cuda_0 (1 ms)'; echo '[ RUN      ] A.Three/cuda_0'\n"
      "    echo 'no GPU can be used again before'; echo '[  FAILED  ] A.Three/cuda_0 (1 ms)'\n"
      "    sleep 1000 ;;\n"
      "*-A.One/cuda_0:A.Two/cuda_0)\n"
      "    echo '[ RUN      ] A.Three/cuda_0'; echo '[       OK ] A.Three/cuda_0 (1 ms)' ;;\n"
      "esac\n");
  EXPECT_EQ(check({"--output", "out", "--python", without_torch(), "--only", "tests"}).exit_code,
            1);
  const Json program = step("tests.json", "tests").at("programs")[0];
  EXPECT_EQ(program.at("passed"), 2);
  EXPECT_EQ(program.at("failed"), Json({{"A.Two/cuda_0", "no GPU can be used again before"}}));
  EXPECT_EQ(program.at("processes"), 2);
}

TEST_F(GpuCheck, TestsOfGpusComeFirstThenThoseOfAPartitionThenTheOthers) {
  with_stand_in_parbench();
  test_program("kernels_test",
               "echo \"$1 $PARBENCH_TEST_GPU $CUDNN_LOGLEVEL_DBG\" >>\"$LOG\"\n"
               "echo 'an error of cuDNN' >>\"$CUDNN_LOGDEST_DBG\"\n");
  (void)check(
      {"--output", "out", "--python", without_torch(), "--only", "other-tests,partition,tests"});
  EXPECT_EQ(folder_.read("log"),
            "--gtest_filter=*cuda*:*Cuda*:*Gpu*:*Partitions*:Autotune.*:Choices.*-  1\n"
            "--gtest_filter=*Conformance*cuda*- cuda:0/1 1\n"
            "--gtest_filter=*-*cuda*:*Cuda*:*Gpu*:*Partitions*:Autotune.*:Choices.*  1\n");
  EXPECT_THAT(folder_.read("out/cudnn.log"), HasSubstr("an error of cuDNN"));
}

TEST_F(GpuCheck, ASubsystemThatCrashesOrHangsHidesNoOther) {
  with_stand_in_parbench();
  std::filesystem::remove(folder_ / "libexec/parbench-smoke");
  program("libexec/parbench-smoke",
          "echo \"$1 of $2\"\n[[ $1 != graph ]] || kill -SEGV $$\n"
          "[[ $1 != condition ]] || sleep 1000\n");
  const Finished finished = check(
      {"--output", "out", "--python", without_torch(), "--only", "smoke", "--time-limit", "24"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("smoke: partition: partition of cuda:0\n"));
  std::map<std::string, std::string> status;
  const Json smoke = step("machine.json", "smoke");
  for (const Json& one : smoke.at("checks")) {
    status[one.at("check")] = one.at("status");
  }
  EXPECT_EQ(status.at("context"), "passed");
  EXPECT_EQ(status.at("graph"), "ended by SIGSEGV");
  EXPECT_THAT(status.at("condition"), HasSubstr("ended at its limit"));
  EXPECT_EQ(status.at("convolution-bf16"), "passed");
  EXPECT_THAT(finished.out, HasSubstr("! smoke: graph: ended by SIGSEGV: graph of cuda:0"));
}

TEST_F(GpuCheck, WithoutAContextNothingElseIsTried) {
  with_stand_in_parbench();
  std::filesystem::remove(folder_ / "libexec/parbench-smoke");
  program("libexec/parbench-smoke", "echo \"FAILED: no device\"; exit 1\n");
  (void)check({"--output", "out", "--python", without_torch(), "--only", "smoke"});
  const Json checks = step("machine.json", "smoke").at("checks");
  EXPECT_EQ(checks[0].at("status"), "exited 1");
  EXPECT_EQ(checks[1].at("status"), "not begun");
}

TEST_F(GpuCheck, FailuresKeepTheirWords) {
  with_stand_in_parbench();
  test_program(
      "sum_test",
      "echo '[ RUN      ] Sum.IsRight'\necho 'sum_test.cpp:7: Failure'\n"
      "echo 'which is 5'\necho '[  FAILED  ] Sum.IsRight (1 ms)'\n"
      "echo '[  FAILED  ] 1 test, listed below:'\necho '[  FAILED  ] Sum.IsRight'\nexit 1\n");
  EXPECT_EQ(check({"--output", "out", "--python", without_torch(), "--only", "tests"}).exit_code,
            1);
  EXPECT_EQ(step("tests.json", "tests").at("programs")[0].at("failed"),
            Json({{"Sum.IsRight", "sum_test.cpp:7: Failure | which is 5"}}));
  EXPECT_EQ(output("summary.json").at("tests").at("failed"), 1);
}

bool gone(int process) {
  for (int tries = 0; tries < 100; ++tries) {
    if (kill(process, 0) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

TEST_F(GpuCheck, WhatHangsIsEndedAtItsLimitAndSummedUp) {
  with_stand_in_parbench();
  test_program("wait_test",
               "echo '[ RUN      ] Wait.ForEver'\ntrap '' TERM\necho $$ >\"$LOG.process\"\n"
               "while :; do sleep 1; done\n");
  const Finished finished = check({"--output", "out", "--python", without_torch(), "--only",
                                   "tests,schedules,sanitizer", "--time-limit", "28"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(step("tests.json", "tests").at("programs")[0].at("status").get<std::string>(),
              AllOf(HasSubstr("ended at its limit"), HasSubstr("in Wait.ForEver")));
  EXPECT_TRUE(gone(std::stoi(folder_.read("log.process"))));
  EXPECT_EQ(target("overlap/d2h/pinned").at("value"), 1) << "later steps run all the same";
}

TEST_F(GpuCheck, AStepWithoutTimeIsNotRun) {
  with_stand_in_parbench();
  test_program("wait_test", "trap '' TERM\nwhile :; do sleep 1; done\n");
  const Finished finished = check({"--output", "out", "--python", without_torch(), "--only",
                                   "tests,schedules", "--time-limit", "20"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(target("partitions/two").at("not_run"), "not run: time");
}

TEST_F(GpuCheck, AskedToEndItLeavesASummaryAndNobodyBehind) {
  with_stand_in_parbench();
  test_program("wait_test",
               "echo '[ RUN      ] Wait.ForEver'\necho $$ >\"$LOG.process\"\nsleep 1000\n");
  Process process({(folder_ / "scripts/gpu-check").string(), "--output", "out", "--python",
                   without_torch(), "--only", "tests"},
                  {folder_.path(), {{"LOG", (folder_ / "log").string()}}});
  while (process.running() && folder_.read("log.process").empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_EQ(output("summary.json").at("steps").at("tests"), "interrupted");
  EXPECT_TRUE(gone(std::stoi(folder_.read("log.process"))));
}

TEST_F(GpuCheck, KilledItHasWrittenWhatItKnew) {
  with_stand_in_parbench();
  test_program("sum_test", passes);
  test_program("wait_test",
               "echo '[ RUN      ] Wait.ABit'\necho '[       OK ] Wait.ABit (1 ms)'\n"
               "echo '[ RUN      ] Wait.ForEver'\necho $$ >\"$LOG.process\"\nsleep 1000\n");
  Process process({(folder_ / "scripts/gpu-check").string(), "--output", "out", "--python",
                   without_torch(), "--only", "tests,schedules"},
                  {folder_.path(), {{"LOG", (folder_ / "log").string()}}});
  const auto written = [&] {
    return folder_.read("out/tests.json").find("\"running\"") != std::string::npos;
  };
  for (int tries = 0; tries < 600 && process.running(); ++tries) {
    if (written() && !folder_.read("log.process").empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  process.signal(SIGKILL);
  (void)process.wait();
  kill(std::stoi(folder_.read("log.process")), SIGKILL);
  ASSERT_TRUE(written());
  EXPECT_EQ(step("tests.json", "tests").at("programs")[0].at("passed"), 1);
  EXPECT_EQ(step("tests.json", "tests").at("programs")[1].at("passed"), 1) << "of one that runs";
  EXPECT_EQ(output("summary.json").at("steps"),
            Json({{"tests", "not finished"}, {"schedules", "not begun"}}));
}

TEST_F(GpuCheck, NamesTheLibrariesThatAreMissing) {
  with_stand_in_parbench();
  folder_.write("libexec/needs", "libcudnn.so.9 libcublasLt.so.13\n");
  const Finished finished = check({"--output", "out", "--only", "schedules"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("libcudnn.so.9 is missing"), HasSubstr("cudnn-cu13==9"),
                                  HasSubstr("libcublasLt.so.13 is missing")));
}

TEST_F(GpuCheck, FindsLibrariesBesidePyTorch) {
  with_stand_in_parbench();
  folder_.write("libexec/needs", "libcudnn.so.9\n");
  folder_.write("packages/nvidia/cudnn/lib/libcudnn.so.9", "");
  const Finished finished =
      check({"--output", "out", "--python", PARBENCH_PYTHON, "--only", "schedules"},
            {{"PYTHONPATH", (folder_ / "packages").string()}});
  EXPECT_THAT(finished.exit_code, Not(2)) << finished.err;
}

TEST_F(GpuCheck, RefusesWhatDoesNotExist) {
  with_stand_in_parbench();
  const auto refusal = [&](const std::vector<std::string>& words) {
    const Finished finished = check(words);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, AllOf(StartsWith("gpu-check: error: "), Not(HasSubstr("Traceback"))));
    return finished.err;
  };
  EXPECT_THAT(refusal({"--only", "speed"}),
              AllOf(HasSubstr("'speed' does not exist"), HasSubstr("matmul")));
  EXPECT_THAT(refusal({"--output", "/proc/no", "--python", without_torch()}),
              HasSubstr("/proc/no"));
  EXPECT_THAT(refusal({"--python", "/no/such/python"}),
              AllOf(HasSubstr("--python: '/no/such/python'"), HasSubstr("No such file")));
  EXPECT_THAT(refusal({"--python", folder_.write("text", "no program").string()}),
              HasSubstr("Permission denied"));
  for (const std::string limit : {"nan", "inf", "0", "-5", "1e9", "soon"}) {
    EXPECT_THAT(refusal({"--time-limit", limit}),
                HasSubstr("'" + limit + "' is not a number of seconds from 20 to 86400"));
  }
}

TEST_F(GpuCheck, AnswersInAFreshCloneBeforeAnythingIsBuilt) {
  std::filesystem::remove_all(folder_ / "libexec");  // no bundle, and no CMakeLists.txt
  const Finished help = check({"--time-limit", "30", "--help"});
  EXPECT_EQ(help.exit_code, 0) << help.err;
  EXPECT_THAT(help.out, HasSubstr("--time-limit SECONDS"));
  const Finished unknown = check({"fast"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("fast"), HasSubstr("--help")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "build"));
}

TEST_F(GpuCheck, StepsThatCannotRunKeepNoTimeFromOthers) {
  with_stand_in_parbench();
  const auto share_of_tests = [&](const std::string& python) {
    const Finished finished =
        check({"--output", "out", "--python", python, "--only", "tests,training"});
    std::smatch found;
    EXPECT_TRUE(std::regex_search(finished.err, found, std::regex("tests, at most ([0-9]+) s")));
    return std::stoi(found[1]);
  };
  test_program("sum_test", passes);
  EXPECT_LT(share_of_tests(with_torch()), 300);
  EXPECT_GT(share_of_tests(without_torch()), 400) << "of 480 s, as training has no PyTorch";
}

TEST_F(GpuCheck, TestsOfKernelsComeFirst) {
  with_stand_in_parbench();
  for (const char* name : {"alpha_test", "kernels_test", "training_test"}) {
    test_program(name, passes);
  }
  (void)check({"--output", "out", "--python", without_torch(), "--only", "tests"});
  const Json programs = step("tests.json", "tests").at("programs");
  ASSERT_EQ(programs.size(), 3U);
  EXPECT_EQ(programs[0].at("program"), "kernels_test");
  EXPECT_EQ(programs[1].at("program"), "training_test");
}

// Of a program that did not end in its share, the tests that had not ended run in what others left.
TEST_F(GpuCheck, TestsGetTheTimeThatOthersLeave) {
  with_stand_in_parbench();
  test_program("kernels_test",
               "case \"$*\" in\n"
               "*-) echo '[ RUN      ] A.One'; echo '[       OK ] A.One (1 ms)'\n"
               "    echo '[ RUN      ] A.Two'; sleep 1000 ;;\n"
               "*-A.One) echo '[ RUN      ] A.Two'; echo '[       OK ] A.Two (1 ms)' ;;\n"
               "esac\n");
  test_program("training_test", passes);
  const Finished finished = check(
      {"--output", "out", "--python", without_torch(), "--only", "tests", "--time-limit", "34"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  const Json kernels = step("tests.json", "tests").at("programs")[0];
  EXPECT_EQ(kernels.at("status"), "passed");
  EXPECT_EQ(kernels.at("passed"), 2);
  EXPECT_EQ(kernels.at("processes"), 2);
}

}  // namespace
}  // namespace parbench::testing
