// PARBENCH_REQUIRE_CUDA=1: a test of a GPU that is not there fails, it is not skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/process.h"

namespace parbench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class RequiredGpu : public ::testing::TestWithParam<std::string> {
 protected:
  /// Runs the tests of GPUs with none in sight.
  [[nodiscard]] static Finished without_gpu(const std::string& required) {
    return run({GetParam(),
                "--gtest_filter=*cuda*:*Cuda*:*Gpu*:*Partitions*:Autotune.*:Choices.*-*CpuDevices*:"
                "CudaWithoutGpu.*"},
               {{}, {{"PARBENCH_REQUIRE_CUDA", required}, {"CUDA_VISIBLE_DEVICES", "-1"}}});
  }
};

TEST_P(RequiredGpu, IsMissedByEveryTestOfIt) {
  const Finished finished = without_gpu("1");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, AllOf(HasSubstr("[  FAILED  ]"), Not(HasSubstr("[  SKIPPED ]"))));
}

TEST_P(RequiredGpu, IsSkippedVisiblyWhereItIsNot) {
  const Finished finished = without_gpu("0");
  EXPECT_EQ(finished.exit_code, 0) << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("[  SKIPPED ]"));
}

INSTANTIATE_TEST_SUITE_P(Programs, RequiredGpu, ::testing::Values(PROGRAMS_WITH_GPU_TESTS),
                         [](const auto& program) {
                           return program.param.substr(program.param.rfind('/') + 1);
                         });

}  // namespace
}  // namespace parbench::testing
