// What is found out about a machine, from files of machines that are not here.
#include "reports/model/machine_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>

#include "reports/views/table_parts.h"
#include "tests/support/temporary_folder.h"

namespace parbench::report {
namespace {

using parbench::test::TemporaryFolder;

TEST(MachineInfo, ReadsTheSystemsFiles) {
  const TemporaryFolder root;
  root.write("proc/cpuinfo",
             "processor\t: 0\nmodel name\t: A Processor @ 2.70GHz\ncpu MHz\t\t: 2000.500\n\n"
             "processor\t: 1\nmodel name\t: A Processor @ 2.70GHz\ncpu MHz\t\t: 3000.500\n");
  root.write("proc/meminfo", "MemTotal:       16384 kB\nMemFree:   1 kB\n");
  root.write("etc/os-release", "NAME=\"Some\"\nPRETTY_NAME=\"Some System 12 (name)\"\n");
  root.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  const Machine machine = machine_info({{"oneDNN", "2.6.3"}}, root.path());
  EXPECT_EQ(machine.cpu_model, "A Processor @ 2.70GHz");
  EXPECT_DOUBLE_EQ(machine.cpu_mhz.value(), 2500.5);
  EXPECT_EQ(machine.memory_bytes, 16'777'216U);
  EXPECT_EQ(machine.operating_system, "Some System 12 (name)");
  EXPECT_EQ(machine.governor, "powersave");
  EXPECT_EQ(machine.libraries, (NamedTexts{{"oneDNN", "2.6.3"}}));
}

TEST(MachineInfo, DoesWithoutThem) {
  const TemporaryFolder root;
  const Machine machine = machine_info({}, root.path());
  EXPECT_FALSE(machine.cpu_model.empty());
  EXPECT_FALSE(machine.operating_system.empty());
  EXPECT_FALSE(machine.cpu_mhz);
  EXPECT_FALSE(machine.governor);
  EXPECT_EQ(machine.memory_bytes, 0U);
}

TEST(MachineInfo, KnowsThisMachineAndBuild) {
  const Machine machine = machine_info({});
  EXPECT_FALSE(machine.host.empty());
  EXPECT_FALSE(machine.kernel.empty());
  EXPECT_FALSE(machine.compiler.empty());
  EXPECT_FALSE(machine.build_type.empty());
  EXPECT_GE(machine.cores_online, 1);
  EXPECT_GT(machine.memory_bytes, 0U);
}

TEST(MachineInfo, ListsTheCoresOfTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  const std::vector<int> all = machine_info({}).cores_allowed;
  ASSERT_FALSE(all.empty());
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(all.back()), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_THAT(machine_info({}).cores_allowed, ::testing::ElementsAre(all.back()));
  ::sched_setaffinity(0, sizeof before, &before);
}

TEST(MachineInfo, ListsTheVariablesThatLibrariesOfKernelsRead) {
  ::setenv("OMP_NUM_THREADS", "3", 1);
  ::setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
  ::setenv("OMPX", "1", 1);
  const NamedTexts set = machine_info({}).environment;
  EXPECT_THAT(set, ::testing::IsSupersetOf(
                       NamedTexts{{"DNNL_MAX_CPU_ISA", "AVX2"}, {"OMP_NUM_THREADS", "3"}}));
  EXPECT_THAT(set, ::testing::Not(::testing::Contains(::testing::Pair("OMPX", "1"))));
  EXPECT_TRUE(std::ranges::is_sorted(set));
  for (const char* name : {"OMP_NUM_THREADS", "DNNL_MAX_CPU_ISA", "OMPX"}) ::unsetenv(name);
}

TEST(MachineInfo, TakesTheCommitFromTheLauncher) {
  ::unsetenv("PARBENCH_COMMIT");
  ::setenv("PARBENCH_DIRTY", "1", 1);
  EXPECT_FALSE(machine_info({}).commit);
  EXPECT_FALSE(machine_info({}).dirty);
  ::setenv("PARBENCH_COMMIT", "0123abc", 1);
  EXPECT_EQ(machine_info({}).commit, "0123abc");
  EXPECT_EQ(machine_info({}).dirty, true);
  ::setenv("PARBENCH_DIRTY", "0", 1);
  EXPECT_EQ(machine_info({}).dirty, false);
  EXPECT_FALSE(machine_info({}).commit_subject);
  ::setenv("PARBENCH_COMMIT_SUBJECT", "Say more", 1);
  ::setenv("PARBENCH_COMMIT_AUTHOR", "A. Author", 1);
  EXPECT_EQ(machine_info({}).commit_subject, "Say more");
  EXPECT_EQ(machine_info({}).commit_author, "A. Author");
  ::unsetenv("PARBENCH_COMMIT_SUBJECT");
  ::unsetenv("PARBENCH_COMMIT_AUTHOR");
  ::unsetenv("PARBENCH_DIRTY");
  EXPECT_FALSE(machine_info({}).dirty);
  ::unsetenv("PARBENCH_COMMIT");
}

TEST(MachineItems, NamesNoLibrariesForGpusWithoutADriver) {
  Report report;
  report.machine.libraries = {{"oneDNN", "3.9"},   {"CUDA", "13.0"}, {"CUDA of the driver", "13.1"},
                              {"cuDNN", "9.19.0"}, {"NCCL", "none"}, {"NVTX", "on"}};
  EXPECT_THAT(
      machine_items(report),
      testing::IsSupersetOf({"oneDNN 3.9", "CUDA 13.0", "cuDNN 9.19.0", "NCCL none", "NVTX on"}));
  report.machine.libraries[2].second = "no driver";
  EXPECT_THAT(
      machine_items(report),
      testing::AllOf(testing::IsSupersetOf({"oneDNN 3.9", "NVTX on", "cuda: no NVIDIA driver"}),
                     testing::Not(testing::Contains(testing::StartsWith("CUDA"))),
                     testing::Not(testing::Contains(testing::StartsWith("cuDNN"))),
                     testing::Not(testing::Contains(testing::StartsWith("NCCL")))));
}

}  // namespace
}  // namespace parbench::report
