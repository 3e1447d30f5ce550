// The spin operation: counts, and never ends early.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>

#include "kernels/base/error.h"
#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

class SpinOperation : public LaneTest {
 protected:
  void SetUp() override {
    LaneTest::SetUp();
    if (!has_bench()) return;
    counter_ = device().allocate(sizeof(std::uint64_t), MemoryKind::pinned);
    std::memset(counter_.data(), 0, counter_.bytes());
  }

  [[nodiscard]] const Buffer& counter() const { return counter_; }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t value = 0;
    std::memcpy(&value, counter_.data(), sizeof(value));
    return value;
  }

 private:
  Buffer counter_;
};

TEST_P(SpinOperation, CountsExecutions) {
  const auto op = bench().prepare(Spin{microseconds(1)});
  for (int i = 0; i < 5; ++i) bench().run(*op, {counter()});
  EXPECT_EQ(count(), 5U);
}

TEST_P(SpinOperation, KnowsHowLongItTakes) {
  EXPECT_DOUBLE_EQ(bench().prepare(Spin{microseconds(2000), 0.5})->work().seconds, 0.002);
}

TEST_P(SpinOperation, LastsAtLeastItsDuration) {
  const auto op = bench().prepare(Spin{microseconds(2000)});
  const auto begin = Clock::now();
  for (int i = 0; i < 3; ++i) bench().run(*op, {counter()});
  EXPECT_GE(Clock::now() - begin, microseconds(6000));
}

TEST_P(SpinOperation, NoiseShortensByItsFractionAtMost) {
  const auto op = bench().prepare(Spin{microseconds(1000), 0.5, 7});
  const auto begin = Clock::now();
  for (int i = 0; i < 4; ++i) bench().run(*op, {counter()});
  EXPECT_GE(Clock::now() - begin, microseconds(2000));
}

TEST_P(SpinOperation, RefusesNonsense) {
  EXPECT_THROW((void)bench().prepare(Spin{microseconds(-1)}), UsageError);
  EXPECT_THROW((void)bench().prepare(Spin{microseconds(1), 1.5}), UsageError);
  EXPECT_THROW((void)bench().prepare(Spin{microseconds(1), -0.1}), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Lanes, SpinOperation, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test
