// Limits of control groups, read from folders of made-up files.
#include "kernels/cpu/host/control_group.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/support/temporary_folder.h"

namespace parbench::cpu {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

class ControlGroup : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { root_.write(name, text); }
  [[nodiscard]] MemoryGrant grant() const { return control_group_memory(root_.path()); }

  parbench::test::TemporaryFolder root_;
};

TEST_F(ControlGroup, NoGroupsNoLimit) {
  EXPECT_EQ(grant().limit, unlimited);
  EXPECT_EQ(grant().left, unlimited);
}

TEST_F(ControlGroup, FileCacheIsNotUsed) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "1000\n");
  write("sys/fs/cgroup/memory.current", "900\n");
  write("sys/fs/cgroup/memory.stat", "anon 100\nfile 800\ninactive_file 700\nactive_file 100\n");
  EXPECT_EQ(grant().limit, 1000U);
  EXPECT_EQ(grant().left, 800U);
}

TEST_F(ControlGroup, TightestGroupOnTheWayToTheRootCounts) {
  write("proc/self/cgroup", "0::/user.slice/session:1.scope/job\n");
  write("sys/fs/cgroup/user.slice/memory.max", "1000\n");
  write("sys/fs/cgroup/user.slice/memory.current", "950\n");
  write("sys/fs/cgroup/user.slice/session:1.scope/memory.max", "400\n");
  write("sys/fs/cgroup/user.slice/session:1.scope/memory.current", "100\n");
  write("sys/fs/cgroup/user.slice/session:1.scope/job/memory.max", "max\n");
  write("sys/fs/cgroup/other.slice/memory.max", "7\n");
  EXPECT_EQ(grant().limit, 400U);
  EXPECT_EQ(grant().left, 50U);
}

TEST_F(ControlGroup, VersionOneHasItsOwnHierarchyForMemory) {
  write("proc/self/cgroup", "9:cpu,cpuacct:/elsewhere\n4:memory:/jobs/a\n0::/init.scope\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes", "1000\n");
  write("sys/fs/cgroup/memory/jobs/a/memory.usage_in_bytes", "600\n");
  write("sys/fs/cgroup/memory/jobs/a/memory.stat", "inactive_file 1\ntotal_inactive_file 200\n");
  EXPECT_EQ(grant().limit, 1000U);
  EXPECT_EQ(grant().left, 600U);
}

TEST_F(ControlGroup, ContainerWhosePathIsTheHostsReadsItsMountedRoot) {
  write("proc/self/cgroup", "4:memory:/docker/0123abcd\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "500\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "600\n");  // above a limit that was lowered
  EXPECT_EQ(grant().limit, 500U);
  EXPECT_EQ(grant().left, 0U);
}

TEST_F(ControlGroup, PathOutsideTheNamespaceStaysInsideTheMount) {
  write("proc/self/cgroup", "0::/../sibling\n");
  write("sys/fs/cgroup/memory.max", "300\n");
  write("sys/fs/sibling/memory.max", "7\n");
  EXPECT_EQ(grant().limit, 300U);
}

}  // namespace
}  // namespace parbench::cpu
