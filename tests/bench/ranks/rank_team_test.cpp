// Ranks agree: on numbers, on the clock, and on failures wherever one of them fails.
#include "bench/ranks/rank_team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "bench/execution/interrupt.h"
#include "bench/sampling/preparation.h"
#include "kernels/base/error.h"
#include "tests/bench/ranks/linked_ranks.h"

namespace parbench::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

TEST(RankTeam, MeetsWithWhatEachRankBrings) {
  run_ranks(3, [](RankTeam& team) {
    const std::string own(static_cast<std::size_t>(team.rank()) * 100000, 'x');
    const std::vector<std::string> all = team.meet(own);
    ASSERT_EQ(all.size(), 3U);
    for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_EQ(all[rank].size(), rank * 100000);
  });
}

TEST(RankTeam, AgreesOnTheLargestValuesAndOnThoseOfRankZero) {
  run_ranks(3, [](RankTeam& team) {
    const double rank = team.rank();
    EXPECT_THAT(team.largest({rank, -rank}), ElementsAre(2.0, 0.0));
    EXPECT_EQ(team.broadcast(10 + rank), 10.0);
    std::vector<int> numbers(1000, team.rank());
    team.share(1, numbers.data(), numbers.size() * sizeof(int));
    EXPECT_EQ(numbers, std::vector<int>(1000, 1));
  });
}

/// Every rank runs the work, of which rank `failing` fails before anything that the ranks do
/// together, and then goes on with the next piece. Returns what each rank caught.
template <class Failure>
std::vector<std::string> caught_texts(int failing, const Failure& failure) {
  std::vector<std::string> texts(3);
  run_ranks(3, [&](RankTeam& team) {
    try {
      team.together([&] {
        if (team.rank() == failing) throw failure;
        static_cast<void>(team.broadcast(1));
        static_cast<void>(team.meet({}));
        static_cast<void>(team.broadcast(2));
      });
    } catch (const Failure& error) {
      texts[static_cast<std::size_t>(team.rank())] = error.what();
    }
    bool done = false;
    team.together([&] {
      EXPECT_EQ(team.broadcast(team.rank() + 5.0), 5.0);
      done = true;
    });
    EXPECT_TRUE(done);
    EXPECT_THAT(team.largest({1.0 * team.rank()}), ElementsAre(2.0));
  });
  return texts;
}

TEST(RankTeam, ThrowsAFailureOfOneRankOnAllAndGoesOn) {
  for (int failing = 0; failing < 3; ++failing) {
    for (const std::string& text : caught_texts(failing, Unsupported("no such kernel"))) {
      EXPECT_THAT(text, HasSubstr("no such kernel")) << failing;
    }
  }
  EXPECT_THAT(caught_texts(2, OutOfMemory("too large"))[0], StartsWith("rank 2 ("));
}

TEST(RankTeam, KeepsTheTypesThatSessionsDistinguish) {
  EXPECT_EQ(caught_texts(1, OutOfTime())[2], OutOfTime().what());
  EXPECT_EQ(caught_texts(0, Interrupted())[1], Interrupted().what());
  EXPECT_THAT(caught_texts(1, UsageError("--x"))[0], HasSubstr("--x"));
}

TEST(RankTeam, ThrowsOnceWhereAllFailAlike) {
  run_ranks(2, [](RankTeam& team) {
    std::string text;
    try {
      team.together([] { throw Error("wrong flag"); });
    } catch (const Error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "wrong flag") << "without a rank, because it is that of rank 0";
    EXPECT_EQ(team.broadcast(team.rank() + 3.0), 3.0);
  });
}

TEST(RankTeam, AddsNothingToAFailureThatAllHaveAgreedOn) {
  run_ranks(2, [](RankTeam& team) {
    std::string text;
    try {
      team.together([&] {
        if (team.rank() == 1) throw Error("local");
        try {
          static_cast<void>(team.meet({}));
        } catch (const Error& error) {
          throw Error(std::string("its reference: ") + error.what());
        }
      });
    } catch (const Error& error) {
      text = error.what();
    }
    EXPECT_THAT(text, HasSubstr("local"));
    EXPECT_EQ(team.broadcast(team.rank() + 3.0), 3.0);
  });
}

TEST(RankTeam, NamesARankThatLivesButDoesNotCome) {
  std::promise<void> noticed;
  std::shared_future<void> released = noticed.get_future().share();
  run_ranks(3, [&](RankTeam& team) {
    if (team.rank() == 1) return released.wait();  // computes and never comes
    if (team.rank() == 2) {
      EXPECT_THROW(team.meet(), RunEnded);
      throw RunEnded();
    }
    team.expect_within(0.2);
    try {
      team.meet();
      ADD_FAILURE() << "rank 1 has not come";
    } catch (const RankLost& error) {
      EXPECT_THAT(error.what(), StartsWith("rank 1 ("));
      EXPECT_THAT(error.what(), HasSubstr("hangs: it did not reach"));
      EXPECT_THAT(error.what(), HasSubstr("within 0.2 s"));
    }
    noticed.set_value();
  });
}

/// Another rank sends both messages 50 ms after both threads have begun to wait.
TEST(RankTeam, CountsTheTimeInMessagesOnceHoweverManyThreadsWait) {
  std::latch waiting(2);
  run_ranks(2, [&](RankTeam& team) {
    std::byte data{1};
    if (!team.leads()) {
      waiting.wait();
      std::this_thread::sleep_for(50ms);
      for (const int tag : {1, 2}) team.link().send(0, tag, &data, 1);
      return;
    }
    static_cast<void>(team.link().take_times());
    const auto receive = [&](int tag) {
      std::byte received{0};
      waiting.count_down();
      team.link().receive(1, tag, &received, 1);
    };
    const auto begin = std::chrono::steady_clock::now();
    std::thread other(receive, 2);
    receive(1);
    other.join();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    const double waits = team.link().take_times().waits;
    EXPECT_GT(waits, 0);
    EXPECT_LE(waits, passed.count());
  });
}

TEST(RankTeam, EndsTheOthersInOrder) {
  std::atomic<int> ended = 0;
  run_ranks(3, [&](RankTeam& team) {
    if (team.leads()) return;
    EXPECT_THROW(static_cast<void>(team.broadcast(0)), RunEnded);
    ++ended;
    throw RunEnded();
  });
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace parbench::test
