// Compute Sanitizer in scripts/gpu-check: findings, refusals, absence.
#include <gmock/gmock.h>

#include "tests/gpu_check/fixture.h"

namespace parbench::testing {
namespace {

using report::Json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Sanitizer : public GpuCheck {
 protected:
  void SetUp() override {
    GpuCheck::SetUp();
    with_stand_in_parbench();
    test_program("kernels_test",
                 "echo \"kernels_test $* $PARBENCH_REQUIRE_CUDA\" >>\"$LOG\"\n"
                 "echo '[ RUN      ] Conformance.Adds/cuda_0'\n"
                 "echo '[       OK ] Conformance.Adds/cuda_0 (3 ms)'\n");
  }

  /// A compute-sanitizer that says this about each tool, and runs the program.
  void tool_says(const std::string& memcheck, const std::string& racecheck,
                 const std::string& place = "tools/compute-sanitizer") const {
    program(place,
            "echo \"sanitizer $*\" >>\"$LOG\"\n"
            "[[ $1 != --version ]] || exit 0\n"
            "tool=$2\nwhile [[ $1 != */kernels_test ]]; do shift; done\n\"$@\"\n"
            "[[ $tool == memcheck ]] && echo '========= " +
                memcheck + "' || echo '========= " + racecheck + "'\n");
  }

  [[nodiscard]] Finished sanitize(const Environment& extra = {}) const {
    return check({"--output", "out", "--python", without_torch(), "--only", "sanitizer"}, extra);
  }

  static constexpr auto no_errors = "ERROR SUMMARY: 0 errors";
  static constexpr auto no_hazards =
      "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)";
};

TEST_F(Sanitizer, RunsBothToolsOverTheTestsOfGpus) {
  tool_says(no_errors, no_hazards);
  const Finished finished = sanitize();
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  const Json runs = step("tools.json", "sanitizer").at("runs");
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].at("passed"), 1);
  EXPECT_THAT(
      folder_.read("log"),
      AllOf(HasSubstr("--tool memcheck"), HasSubstr("--tool racecheck"),
            HasSubstr("--kernel-name kns=parbench"), HasSubstr("*cuda*"), HasSubstr(" 1\n")));
  std::vector<std::string> order;
  for (const Json& run : runs)
    order.push_back(run.at("tool").get<std::string>() + run.at("what").get<std::string>());
  EXPECT_THAT(order,
              ElementsAre("memcheckour kernels", "racecheckour kernels", "memcheckall kernels"));
}

TEST_F(Sanitizer, LooksAtFailedTestsFirstAndAtAllTheirKernels) {
  test_program("kernels_test",
               "echo \"kernels_test $*\" >>\"$LOG\"\n"
               "echo '[ RUN      ] Conformance.Adds/cuda_0'\n"
               "echo '[  FAILED  ] Conformance.Adds/cuda_0 (3 ms)'\nexit 1\n");
  tool_says(no_errors, no_hazards);
  (void)check({"--output", "out", "--python", without_torch(), "--only", "tests,sanitizer"});
  const Json first = step("tools.json", "sanitizer").at("runs")[0];
  EXPECT_EQ(first.at("what"), "all kernels of failed tests");
  EXPECT_THAT(
      folder_.read("log"),
      HasSubstr("97 " + (folder_ / "libexec/tests/kernels_test").string() +
                " --gtest_filter=Conformance.Adds/cuda_0-Autotune.KeepsNoMemoryOfItsOwn\n"));
}

TEST_F(Sanitizer, FindingsAreProblems) {
  tool_says("ERROR SUMMARY: 12 errors", no_hazards);
  const Finished finished = sanitize();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out,
              HasSubstr("memcheck over kernels_test, our kernels: ERROR SUMMARY: 12 errors"));
}

TEST_F(Sanitizer, ARefusalIsToldInItsWords) {
  test_program("kernels_test", "exit 1\n");
  tool_says("Error: Device not supported.", "Error: Device not supported.");
  EXPECT_EQ(sanitize().exit_code, 1);
  EXPECT_EQ(step("tools.json", "sanitizer").at("runs")[0].at("status"),
            "not run: Error: Device not supported.");
}

TEST_F(Sanitizer, IsFoundInTheToolkitThatTheEnvironmentNames) {
  tool_says(no_errors, no_hazards, "toolkit/compute-sanitizer/compute-sanitizer");
  const Finished finished = sanitize({{"CUDA_HOME", (folder_ / "toolkit").string()}});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
}

TEST_F(Sanitizer, IsFoundInTheToolkitOfTheCompiler) {
  tool_says(no_errors, no_hazards, "toolkit/bin/compute-sanitizer");
  program("toolkit/bin/nvcc", "exit 1\n");
  link("tools/nvcc", folder_ / "toolkit/bin/nvcc");
  const Finished finished = sanitize();
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
}

TEST_F(Sanitizer, IsFoundInPythonsPackages) {
  tool_says(no_errors, no_hazards, "packages/nvidia/cu13/bin/compute-sanitizer");
  const Finished finished = sanitize({{"PYTHONPATH", (folder_ / "packages").string()}});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
}

TEST_F(Sanitizer, ItsAbsenceIsTold) {
  if (std::filesystem::exists("/usr/local/cuda/bin/compute-sanitizer")) {
    GTEST_SKIP() << "this machine has compute-sanitizer";
  }
  const Finished finished = sanitize();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(step("tools.json", "sanitizer").at("not_run"), "compute-sanitizer is not installed");
  EXPECT_THAT(finished.out, HasSubstr("sanitizer: not run: compute-sanitizer is not installed"));
}

}  // namespace
}  // namespace parbench::testing
