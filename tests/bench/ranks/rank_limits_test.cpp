// No state of the ranks waits without a limit: not for messages, meetings, rank 0 or the end of
// MPI.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "bench/ranks/control/watchdog.h"
#include "bench/ranks/rank_team.h"
#include "tests/bench/ranks/linked_ranks.h"

namespace parbench::test {
namespace {

using namespace std::chrono_literals;

/// Runs three ranks with limits of 2 s. A lost rank ends the process, as it does in the program.
void run_impatient_ranks(const std::function<void(RankTeam& team)>& body) {
  ::setenv("PARBENCH_RANK_PATIENCE", "2", 1);  // NOLINT(concurrency-mt-unsafe)
  ::setenv("PARBENCH_RANK_SILENCE", "2", 1);   // NOLINT(concurrency-mt-unsafe)
  run_ranks(3, [&](RankTeam& team) {
    try {
      body(team);
    } catch (const RankLost& error) {
      end_run(error.what());
    }
  });
}

[[noreturn]] void never_return() {
  std::promise<void>().get_future().wait();
  std::abort();
}

void wait_for_message(RankTeam& team, int from) {
  std::byte data{};
  team.exchange([&] { team.link().receive(from, 1, &data, 1); });
}

/// The two ends of a terminal.
struct PseudoTerminal {
  PseudoTerminal() {
    ::grantpt(controller);
    ::unlockpt(controller);
    terminal = ::open(::ptsname(controller), O_RDWR | O_NOCTTY);  // NOLINT(concurrency-mt-unsafe)
  }
  ~PseudoTerminal() {
    ::close(terminal);
    ::close(controller);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  int controller = ::posix_openpt(O_RDWR | O_NOCTTY);
  int terminal = -1;
};

TEST(RankLimitsDeathTest, EraseTheProgressOnATerminalBeforeTheErrorThatEndsTheRun) {
  GTEST_FLAG_SET(death_test_style, "fast");
  const PseudoTerminal pair;
  ASSERT_GE(pair.terminal, 0);
  const auto end_on_terminal = [&] {
    ::setenv("TERM", "xterm", 1);  // NOLINT(concurrency-mt-unsafe)
    ::dup2(pair.terminal, STDERR_FILENO);
    std::fputs("Measuring  12%", stderr);
    end_run("rank 1 is lost");
  };
  EXPECT_EXIT(end_on_terminal(), ::testing::ExitedWithCode(1), "");
  std::string shown(4096, '\0');
  shown.resize(static_cast<std::size_t>(
      std::max<ssize_t>(0, ::read(pair.controller, shown.data(), shown.size()))));
  EXPECT_EQ(shown.find("Measuring  12%\r\x1b[Kparbench: error: rank 1 is lost"), 0U) << shown;
}

TEST(RankLimitsDeathTest, EndAFirstExecutionInWhichAMessageDoesNotCome) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_impatient_ranks([](RankTeam& team) {
                if (team.rank() == 1) never_return();
                team.leads() ? wait_for_message(team, 1) : team.meet();
              }),
              ::testing::ExitedWithCode(1), "rank 1 .* hangs: .* within 2 s");
}

TEST(RankLimitsDeathTest, EndRanksThatHaveDecidedDifferently) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_impatient_ranks(
                  [](RankTeam& team) { team.leads() ? team.meet() : wait_for_message(team, 0); }),
              ::testing::ExitedWithCode(1), "rank 1 .* or rank 2 .* hangs");
}

TEST(RankLimitsDeathTest, NameTheLaterOfTwoRanksWhereTheFirstHasCome) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_impatient_ranks([](RankTeam& team) {
                if (team.rank() == 2) never_return();
                team.meet();
              }),
              ::testing::ExitedWithCode(1), "error: rank 2 .* hangs");
}

TEST(RankLimitsDeathTest, DoNotNameARankThatWaitsForTheOneThatHangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_impatient_ranks([](RankTeam& team) {
                if (team.rank() == 2) never_return();
                team.leads() ? team.meet() : wait_for_message(team, 2);
              }),
              ::testing::ExitedWithCode(1), "error: rank 2 .* hangs");
}

TEST(RankLimitsDeathTest, EndTheOthersWhereRankZeroComputesForever) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_impatient_ranks([](RankTeam& team) {
                if (team.leads()) never_return();
                wait_for_message(team, 3 - team.rank());
              }),
              ::testing::ExitedWithCode(1), "rank 0 .* hangs");
}

TEST(RankLimitsDeathTest, EndARankOfWhichOneThreadNoticesAndAnotherNeverReturns) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_impatient_ranks([](RankTeam& team) {
                if (!team.leads()) never_return();
                team.exchange([&] {
                  std::byte data{};
                  EXPECT_THROW(team.link().receive(1, 1, &data, 1), RankLost);
                  never_return();
                });
              }),
              ::testing::ExitedWithCode(1), "rank 1 .* or rank 2 .* hangs");
}

TEST(RankLimitsDeathTest, LetRankZeroWriteItsOutputs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    run_impatient_ranks([](RankTeam& team) {
      if (team.leads()) std::this_thread::sleep_for(3s);
    });
    std::exit(0);  // NOLINT(concurrency-mt-unsafe)
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

TEST(RankLimitsDeathTest, EndARunWhoseMpiWaitsForARank) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_impatient_ranks([](RankTeam& team) {
                if (team.rank() == 1) never_return();
              }),
              ::testing::ExitedWithCode(1),
              "rank [02] .* has ended its run, but another rank did not end");
}

/// Rank 1 comes 0.4 s after rank 0, which waits ten times the 0.6 s that it has taken itself.
TEST(RankLimits, AreLongerForWorkThatTakesLong) {
  run_ranks(2, [](RankTeam& team) {
    team.together([&] {
      team.expect_within(0.1);
      std::this_thread::sleep_for(team.leads() ? 600ms : 1s);
      team.meet();
    });
  });
}

}  // namespace
}  // namespace parbench::test
