// Times of threads, read from made-up files and from this process.
#include "kernels/cpu/host/thread_times.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "kernels/base/error.h"
#include "kernels/cpu/host/topology.h"
#include "tests/support/temporary_folder.h"

namespace parbench::cpu {
namespace {

class MadeThreads : public ::testing::Test {
 protected:
  void write(const char* name, const char* text) const { root_.write(name, text); }
  [[nodiscard]] std::optional<ThreadTimes> times(const std::vector<pid_t>& threads) const {
    return thread_times(threads, root_.path());
  }

  parbench::test::TemporaryFolder root_;
};

TEST_F(MadeThreads, AreAddedUp) {
  write("proc/self/task/7/schedstat", "900 2000000000 5\n");
  write("proc/self/task/7/stat", "7 (cpu:0/0) R 1 2 3 4 5 6 100 0 8 0 900 300 0 0 20 0 4\n");
  write("proc/self/task/9/schedstat", "900 500000000 5\n");
  write("proc/self/task/9/stat", "9 (a ) 1 (b) S 1 2 3 4 5 6 23 0 8 0 900 100 0 0 20 0 4\n");
  const auto both = times({7, 9});
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->threads, 2);
  EXPECT_DOUBLE_EQ(both->core_wait_seconds, 2.5);
  EXPECT_DOUBLE_EQ(both->kernel_seconds, 400.0 / static_cast<double>(sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(both->page_faults, 123);
}

TEST_F(MadeThreads, AreUnknownWhereTheSystemDoesNotShowThem) {
  EXPECT_FALSE(times({7}).has_value());
  write("proc/self/task/7/schedstat", "900 2000000000 5\n");
  EXPECT_FALSE(times({7}).has_value()) << "without stat";
  for (const char* const text :
       {"", "7 (cpu:0/0", "7 (cpu:0/0) R 1 2 3", "7 (x) R 1 2 3 4 5 6 a"}) {
    write("proc/self/task/7/stat", text);
    EXPECT_FALSE(times({7}).has_value()) << text;
  }
}

TEST(OwnThread, HasAPageFaultForEachPageThatItTouchesFirst) {
  const std::vector<pid_t> self{gettid()};
  const auto before = thread_times(self);
  if (!before) GTEST_SKIP() << "the kernel keeps no statistics of the scheduler";
  constexpr std::size_t pages = 100;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory =
      mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  auto* const bytes = static_cast<volatile char*>(memory);
  for (std::size_t i = 0; i < pages; ++i) bytes[i * page] = 1;
  const auto after = thread_times(self);
  munmap(memory, pages * page);
  ASSERT_TRUE(after.has_value());
  EXPECT_GE(after->page_faults - before->page_faults, 100);
}

TEST(TwoThreadsOnOneCore, WaitForEachOther) {
  if (!thread_times({gettid()})) GTEST_SKIP() << "the kernel keeps no statistics of the scheduler";
  const std::vector<int> core{usable_cores().front()};
  using Clock = std::chrono::steady_clock;
  const auto limit = Clock::now() + std::chrono::seconds(30);
  std::atomic<int> waited{0};
  const auto spin = [&] {
    bind_this_thread(core);
    bool counted = false;
    while (waited < 2 && Clock::now() < limit) {
      if (counted || thread_times({gettid()})->core_wait_seconds < 0.01) continue;
      counted = true;
      ++waited;
    }
  };
  std::thread first(spin);
  std::thread second(spin);
  first.join();
  second.join();
  EXPECT_EQ(waited, 2) << "threads that waited for 0.01 s, because the other one had the core";
}

TEST(Team, HasADifferentIdForEachThread) {
  const std::vector<pid_t> ids = team_ids(3);
  EXPECT_EQ(std::set<pid_t>(ids.begin(), ids.end()).size(), 3U);
  EXPECT_EQ(ids.front(), gettid());
}

TEST(Team, ThrowsIfAThreadCannotBeBound) {
  std::thread([] {
    const int beyond = CPU_SETSIZE;  // in no mask
    EXPECT_THROW(bind_team({usable_cores().front(), beyond}, 2), Error);
  }).join();
}

}  // namespace
}  // namespace parbench::cpu
