// A build with the CUDA backend where there is no GPU: it starts, says why, and computes on CPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace parbench::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CudaBuild, DoesNotNeedTheDriver) {
  const TemporaryFolder folder;
  const Finished finished = run({"readelf", "--dynamic", PARBENCH_BINARY}, {folder.path(), {}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("libcudnn.so"));
  EXPECT_THAT(finished.out, Not(HasSubstr("libcuda.so")));
}

TEST(CudaBuild, ListsTheBackendWithItsLibraries) {
  const TemporaryFolder folder;
  const Finished finished = run({PARBENCH_BINARY, "devices"}, {folder.path(), {}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("cuda: "));
  EXPECT_THAT(finished.out, HasSubstr("cuDNN 9."));
}

TEST(CudaBuild, ComputesOnCpuDevicesByTheirNames) {
  const TemporaryFolder folder;
  const Finished finished =
      run({PARBENCH_BINARY, "--scenario", "matmul", "--strategy", "alone", "--n", "32", "--count",
           "2", "--devices", "cpu:0", "--benchmark_repetitions=1", "--report",
           (folder / "report.json").string()},
          {folder.path(), {}});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("cpu:0"));
}

}  // namespace
}  // namespace parbench::test
