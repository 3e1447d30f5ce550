// Shares of cores, from files in the form of /proc/stat.
#include "bench/sampling/conditions/core_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "reports/model/machine_info.h"
#include "tests/support/temporary_folder.h"

namespace parbench {
namespace {

struct CoreUseTest : testing::Test {
  CoreUseTest() {
    std::filesystem::create_directory(folder_ / "proc");
    std::ofstream(folder_ / "proc/stat")
        << "cpu  600 6 60 9000 90 6 6 6 0 0\n"
           "cpu0 100 1 10 4000 40 1 1 1 50 0\ncpu1 200 2 20 3000 30 2 2 2 0 0\n"
           "cpu10 300 3 30 2000 20 3 3 3 0 0\nintr 12345\n";
  }
  test::TemporaryFolder folder_;
};

TEST_F(CoreUseTest, AddsUpWhatIsNotIdle) {
  const auto tick = 1 / static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_NEAR(core_use({0}, folder_.path())->busy_seconds, 114 * tick, 1e-9);
  EXPECT_NEAR(core_use({1, 10}, folder_.path())->busy_seconds, (228 + 342) * tick, 1e-9);
}

TEST_F(CoreUseTest, IsUnknownWithoutAllCores) {
  EXPECT_FALSE(core_use({0, 7}, folder_.path()));
  EXPECT_FALSE(core_use({}, folder_.path()));
  EXPECT_FALSE(core_use({0}, folder_ / "nowhere"));
}

TEST(UsedByOthers, IsWhatThisProcessDidNotUse) {
  const CoreUse before{.busy_seconds = 10, .own_seconds = 4};
  EXPECT_DOUBLE_EQ(*used_by_others(before, CoreUse{13, 5}, 2), 1);
  EXPECT_DOUBLE_EQ(*used_by_others(before, CoreUse{13, 7.5}, 2), -0.25) << "ticks lag behind";
  EXPECT_FALSE(used_by_others(before, std::nullopt, 2));
  EXPECT_FALSE(used_by_others(before, CoreUse{13, 5}, 0));
}

TEST(CoreUseOfThisMachine, IsKnown) { EXPECT_TRUE(core_use(report::cores_allowed())); }

}  // namespace
}  // namespace parbench
