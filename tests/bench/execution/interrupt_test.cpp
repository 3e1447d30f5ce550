// Signals: the first is a request, the second ends the process.
#include "bench/execution/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

namespace parbench {
namespace {

volatile std::sig_atomic_t former_calls = 0;
void former_handler(int) { former_calls = former_calls + 1; }

TEST(Interrupt, TheFirstSignalIsARequest) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const InterruptHandler handler;
    EXPECT_FALSE(InterruptHandler::requested());
    EXPECT_EQ(std::raise(signal), 0);
    EXPECT_TRUE(InterruptHandler::requested());
    EXPECT_EQ(InterruptHandler::exit_code(), signal == SIGTERM ? 143 : 130);
  }
}

TEST(Interrupt, FormerHandlersComeBack) {
  former_calls = 0;
  const auto before = std::signal(SIGINT, former_handler);
  {
    const InterruptHandler handler;
    std::raise(SIGINT);
    EXPECT_EQ(former_calls, 0);
    EXPECT_TRUE(InterruptHandler::requested());
  }
  EXPECT_FALSE(InterruptHandler::requested());
  std::raise(SIGINT);
  EXPECT_EQ(former_calls, 1);
  std::signal(SIGINT, before);
}

TEST(Interrupt, AnIgnoredHangUpStaysIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    const InterruptHandler handler;
    std::raise(SIGHUP);
    EXPECT_FALSE(InterruptHandler::requested());
  }
  std::signal(SIGHUP, before);
}

void interrupt_twice(int first, int second) {
  const InterruptHandler handler;
  std::raise(first);
  std::raise(second);
}

TEST(InterruptDeathTest, TheSecondSignalEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(interrupt_twice(SIGINT, SIGINT), testing::ExitedWithCode(130), "Ctrl-C again");
  EXPECT_EXIT(interrupt_twice(SIGTERM, SIGINT), testing::ExitedWithCode(143), "");
  EXPECT_EXIT(interrupt_twice(SIGINT, SIGTERM), testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace parbench
