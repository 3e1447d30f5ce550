// Shares of cores, from files in the form of /proc/stat.
#include "bench/sampling/conditions/core_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <fstream>
#include <vector>

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
  EXPECT_DOUBLE_EQ(*used_by_others(before, CoreUse{13, 7.5}, 2), -0.25) << "ticks lag";
  EXPECT_FALSE(used_by_others(before, std::nullopt, 2));
  EXPECT_FALSE(used_by_others(before, CoreUse{13, 5}, 0));
}

/// A process that works until it has used so much CPU time, and then waits to be ended.
struct WorkingProcess {
  explicit WorkingProcess(double seconds) : pid(fork()) {
    if (pid != 0) return;
    while (static_cast<double>(std::clock()) / CLOCKS_PER_SEC < seconds) {
    }
    for (;;) pause();
  }
  ~WorkingProcess() { end(); }
  WorkingProcess(const WorkingProcess&) = delete;
  WorkingProcess& operator=(const WorkingProcess&) = delete;

  void end() {
    if (pid <= 0) return;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    pid = 0;
  }

  pid_t pid;
};

TEST(OwnProcesses, CountAsThisOneDoes) {
  constexpr double work = 0.02;
  WorkingProcess other(work);
  const std::vector<int> cores = report::cores_allowed();
  const auto own = [&cores, pid = other.pid](double share) {
    return core_use(cores, "/", {{.pid = pid, .share = share}});
  };
  ASSERT_TRUE(own(1));
  while (cpu_seconds_of(other.pid).value_or(work) < work) usleep(1000);
  const double without = core_use(cores)->own_seconds;
  EXPECT_GE(own(1)->own_seconds, without + work);
  EXPECT_GE(own(0.5)->own_seconds, without + work / 2);
  other.end();
  EXPECT_FALSE(own(1)) << "what has ended has no clock";
}

TEST(OwnProcesses, IncludeThoseThatHaveStartedThisOne) {
  const pid_t test = getpid();
  const pid_t child = fork();
  if (child == 0) {
    const std::vector<OwnProcess> found = starting_processes();
    const bool has_test = std::ranges::find(found, test, &OwnProcess::pid) != found.end();
    _exit(has_test ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  for (const OwnProcess& one : starting_processes()) EXPECT_NE(one.pid, test);
}

TEST(CoreUseOfThisMachine, IsKnown) { EXPECT_TRUE(core_use(report::cores_allowed())); }

}  // namespace
}  // namespace parbench
