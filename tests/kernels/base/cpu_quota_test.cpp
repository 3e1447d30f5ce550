// CPU quotas of control groups, read from folders of made-up files.
#include "kernels/base/cpu_quota.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "tests/support/control_groups.h"

namespace parbench {
namespace {

using ::testing::DoubleEq;
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

class CpuQuotaTest : public ::testing::Test {
 protected:
  [[nodiscard]] CpuQuota quota() const { return CpuQuota(made_.root()); }

  test::MadeControlGroups made_;
};

TEST_F(CpuQuotaTest, IsNoneWithoutGroups) {
  EXPECT_FALSE(quota().limit(2));
  EXPECT_THAT(quota().read(), IsEmpty());
}

TEST_F(CpuQuotaTest, IsReadInTheNamespaceOfAContainer) {
  made_.groups("0::/\n");
  made_.mount_version_2();
  made_.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  made_.write("sys/fs/cgroup/cpu.stat", "usage_usec 7000000\nthrottled_usec 2500000\n");
  EXPECT_THAT(quota().limit(2), Optional(0.5));
  ASSERT_THAT(quota().read(), SizeIs(1));
  EXPECT_DOUBLE_EQ(quota().read()[0].used, 7);
  EXPECT_DOUBLE_EQ(quota().read()[0].withheld, 2.5);
}

TEST_F(CpuQuotaTest, IsThatOfTheTightestGroupOnTheWayToTheRoot) {
  made_.groups("0::/system.slice/ci.service/job\n");
  made_.mount_version_2();
  made_.write("sys/fs/cgroup/system.slice/cpu.max", "300000 200000\n");
  made_.write("sys/fs/cgroup/system.slice/cpu.stat", "usage_usec 90000000\nthrottled_usec 4000000");
  made_.write("sys/fs/cgroup/system.slice/ci.service/cpu.max", "150000 200000\n");
  made_.write("sys/fs/cgroup/system.slice/ci.service/cpu.stat", "usage_usec 1\nthrottled_usec 2");
  made_.write("sys/fs/cgroup/system.slice/ci.service/job/cpu.max", "max 100000\n");
  made_.write("sys/fs/cgroup/other.slice/cpu.max", "1000 100000\n");
  EXPECT_THAT(quota().limit(2), Optional(0.75));
  ASSERT_THAT(quota().read(), SizeIs(2)) << "each group that has one may withhold time";
  EXPECT_DOUBLE_EQ(quota().read()[1].withheld, 4);
}

TEST_F(CpuQuotaTest, IsReadWhereVersionOneHasTheControllersTogether) {
  made_.groups("5:memory:/other\n3:cpuacct,cpu:/docker/0123abcd/job\n1:name=systemd:/x\n0::/x\n");
  made_.mount_version_2("/sys/fs/cgroup/unified");
  made_.mount_version_1("name=systemd", "/sys/fs/cgroup/systemd");
  made_.mount_version_1("cpuset", "/sys/fs/cgroup/cpuset");
  made_.mount_version_1("cpuacct,cpu", "/sys/fs/cgroup/cpuacct,cpu", "/docker/0123abcd");
  const std::string folder = "sys/fs/cgroup/cpuacct,cpu/";
  made_.write(folder + "cpu.cfs_quota_us", "120000\n");
  made_.write(folder + "cpu.cfs_period_us", "100000\n");
  made_.write(folder + "cpuacct.usage", "3500000000\n");
  made_.write(folder + "cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 1250000000\n");
  made_.write(folder + "job/cpu.cfs_quota_us", "-1\n");
  made_.write(folder + "job/cpu.cfs_period_us", "100000\n");
  made_.write("sys/fs/cgroup/cpuset/cpu.cfs_quota_us", "1000\n");
  made_.write("sys/fs/cgroup/cpuset/cpu.cfs_period_us", "100000\n");
  EXPECT_THAT(quota().limit(2), Optional(1.2));
  ASSERT_THAT(quota().read(), SizeIs(1));
  EXPECT_DOUBLE_EQ(quota().read()[0].used, 3.5);
  EXPECT_DOUBLE_EQ(quota().read()[0].withheld, 1.25);
  made_.write(folder + "job/cpu.cfs_quota_us", "20000\n");
  EXPECT_THAT(quota().limit(2), Optional(0.2)) << "of a group inside of the container";
}

TEST_F(CpuQuotaTest, CountsTheTimeOfTheProcessWhereVersionOneHasNoneOfTheGroup) {
  made_.groups("2:cpuacct:/\n1:cpu:/job\n");
  made_.mount_version_1("cpuacct", "/sys/fs/cgroup/cpuacct");
  made_.mount_version_1("cpu", "/sys/fs/cgroup/cpu");
  made_.write("sys/fs/cgroup/cpuacct/cpuacct.usage", "999000000000\n");
  made_.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n");
  made_.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  const CpuQuota one = quota();
  const double before = one.read().at(0).used;
  constexpr double seconds = 0.01;
  const std::clock_t end = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
  while (std::clock() < end) {  // processor time
  }
  const double used = one.read().at(0).used - before;
  EXPECT_GE(used, 0.9 * seconds);
  EXPECT_LT(used, 100) << "not that of the whole machine";
}

TEST_F(CpuQuotaTest, HasNoEffectFromTheNumberOfCoresOn) {
  for (const auto& [cores, limits] : {std::pair(1.99, true), {2.0, false}, {16.0, false}}) {
    made_.make_job(cores);
    EXPECT_EQ(quota().limit(2).has_value(), limits) << cores;
  }
}

std::optional<double> share(const std::vector<CoreTime>& before,
                            const std::vector<CoreTime>& after) {
  return withheld_share(before, after);
}

TEST(WithheldShare, IsThatOfTheCoreTimeWanted) {
  EXPECT_THAT(share({{7, 2}}, {{7.05, 2.15}}), Optional(::testing::DoubleNear(0.75, 1e-9)))
      << "50 ms of 200 ms on two cores";
  EXPECT_THAT(share({{7, 2}}, {{9, 2}}), Optional(0.0));
  EXPECT_THAT(share({{7, 2}}, {{7, 2}}), Optional(0.0)) << "nothing was wanted";
  EXPECT_THAT(share({{7, 2}}, {{7, 3}}), Optional(1.0));
  EXPECT_THAT(share({{7, 2}}, {{1, 0}}), Optional(0.0)) << "another group by the same name";
  EXPECT_THAT(share({}, {}), Eq(std::nullopt));
}

TEST(WithheldShare, IsTheLargestOfAnyGroup) {
  EXPECT_THAT(share({{0, 0}, {0, 0}, {0, 0}}, {{9, 1}, {4, 6}, {9, 0}}), Optional(DoubleEq(0.6)));
}

}  // namespace
}  // namespace parbench
