// The memory that control groups grant, read from folders of made-up files.
#include "kernels/cpu/host/memory_grant.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/support/control_groups.h"

namespace parbench::cpu {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

class ControlGroupMemory : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { made_.write(name, text); }
  [[nodiscard]] MemoryGrant grant() const { return control_group_memory(made_.root()); }

  parbench::test::MadeControlGroups made_;
};

TEST_F(ControlGroupMemory, HasNoLimitWithoutGroups) {
  EXPECT_EQ(grant().limit, unlimited);
  EXPECT_EQ(grant().left, unlimited);
}

TEST_F(ControlGroupMemory, DoesNotCountFileCacheAsUsed) {
  made_.groups("0::/\n");
  made_.mount_version_2();
  write("sys/fs/cgroup/memory.max", "1000\n");
  write("sys/fs/cgroup/memory.current", "900\n");
  write("sys/fs/cgroup/memory.stat", "anon 100\nfile 800\ninactive_file 700\nactive_file 100\n");
  EXPECT_EQ(grant().limit, 1000U);
  EXPECT_EQ(grant().left, 800U);
}

TEST_F(ControlGroupMemory, IsThatOfTheTightestGroupOnTheWayToTheRoot) {
  made_.groups("0::/user.slice/session:1.scope/job\n");
  made_.mount_version_2();
  write("sys/fs/cgroup/user.slice/memory.max", "1000\n");
  write("sys/fs/cgroup/user.slice/memory.current", "950\n");
  write("sys/fs/cgroup/user.slice/session:1.scope/memory.max", "400\n");
  write("sys/fs/cgroup/user.slice/session:1.scope/memory.current", "100\n");
  write("sys/fs/cgroup/user.slice/session:1.scope/job/memory.max", "max\n");
  write("sys/fs/cgroup/other.slice/memory.max", "7\n");
  EXPECT_EQ(grant().limit, 400U);
  EXPECT_EQ(grant().left, 50U);
}

TEST_F(ControlGroupMemory, HasAHierarchyOfItsOwnInVersionOne) {
  made_.groups("9:cpu,cpuacct:/elsewhere\n4:memory:/jobs/a\n0::/init.scope\n");
  made_.mount_version_1("cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct");
  made_.mount_version_1("memory", "/sys/fs/cgroup/memory");
  made_.mount_version_2("/sys/fs/cgroup/unified");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes", "1000\n");
  write("sys/fs/cgroup/memory/jobs/a/memory.usage_in_bytes", "600\n");
  write("sys/fs/cgroup/memory/jobs/a/memory.stat", "inactive_file 1\ntotal_inactive_file 200\n");
  write("sys/fs/cgroup/cpu,cpuacct/elsewhere/memory.limit_in_bytes", "7\n");
  EXPECT_EQ(grant().limit, 1000U);
  EXPECT_EQ(grant().left, 600U);
}

TEST_F(ControlGroupMemory, IsThatOfTheMountWhereTheContainerDoesNotShowItsPath) {
  made_.groups("4:memory:/docker/0123abcd\n");
  made_.mount_version_1("memory", "/sys/fs/cgroup/memory");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "500\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "600\n");  // above a limit that was lowered
  EXPECT_EQ(grant().limit, 500U);
  EXPECT_EQ(grant().left, 0U);
}

TEST_F(ControlGroupMemory, StaysInsideTheMountWhereThePathLeavesTheNamespace) {
  made_.groups("0::/../sibling\n");
  made_.mount_version_2();
  write("sys/fs/cgroup/memory.max", "300\n");
  write("sys/fs/cgroup/sibling/memory.max", "8\n");
  write("sys/fs/sibling/memory.max", "7\n");
  EXPECT_EQ(grant().limit, 300U);
}

}  // namespace
}  // namespace parbench::cpu
