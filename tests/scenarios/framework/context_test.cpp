// Memory of a run: what cases share, what they borrow, and how much it comes to.
#include "scenarios/framework/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include "kernels/base/error.h"
#include "kernels/machine/machine.h"
#include "tests/support/other_device.h"

namespace parbench {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::size_t page = 4096;

class ContextTest : public ::testing::Test {
 protected:
  Context context_{Machine().open("cpu:0"), {}};
};

TEST_F(ContextTest, AStreamThatCannotBeMadeLeavesNothingBehind) {
  context_.begin_case();
  EXPECT_THROW((void)context_.stream(0, StreamKind::compute, 2, 2), std::invalid_argument);
  context_.begin_case();
  EXPECT_EQ(context_.case_bytes(0), 0U);
}

TEST_F(ContextTest, SweepHoldsItsLargestCaseNotTheSum) {
  context_.begin_case();
  const BufferView large = context_.borrow(0, 10 * page);
  context_.commit();
  const std::byte* address = large.data();
  context_.begin_case();
  const BufferView small = context_.borrow(0, 3 * page);
  const BufferView other = context_.borrow(0, 1);
  context_.commit();
  EXPECT_EQ(small.data(), address);
  EXPECT_EQ(other.data(), address + 3 * page);
  EXPECT_EQ(context_.case_bytes(0), 4 * page);
}

TEST_F(ContextTest, ViewsOfEarlierCasesFollowTheArenaWhenItGrows) {
  context_.begin_case();
  const BufferView first = context_.borrow(0, page);
  context_.commit();
  context_.begin_case();
  const BufferView second = context_.borrow(0, 1000 * page);
  context_.commit();
  EXPECT_EQ(first.data(), second.data());
}

TEST_F(ContextTest, KindsOfMemoryAreArenasOfTheirOwn) {
  context_.begin_case();
  const BufferView device = context_.borrow(0, page, MemoryKind::device);
  const BufferView host = context_.borrow(0, page, MemoryKind::pageable);
  context_.commit();
  EXPECT_NE(device.data(), host.data());
  EXPECT_EQ(context_.case_bytes(0), 2 * page);
}

TEST_F(ContextTest, SharedMemoryIsFilledOnceAndKept) {
  int fills = 0;
  const auto ask = [&] {
    return context_.shared(0, "numbers", page, [&](BufferView view) {
      ++fills;
      view.data()[0] = std::byte{7};
    });
  };
  context_.begin_case();
  static_cast<void>(ask());
  context_.commit();
  context_.begin_case();
  context_.commit();
  EXPECT_EQ(context_.case_bytes(0), 0U);  // not asked for by this case
  context_.begin_case();
  const BufferView again = ask();
  context_.commit();
  EXPECT_EQ(fills, 1);
  EXPECT_EQ(again.data()[0], std::byte{7});
  EXPECT_EQ(context_.case_bytes(0), page);
  EXPECT_THROW(static_cast<void>(context_.shared(0, "numbers", 2 * page, {})), std::logic_error);
}

TEST_F(ContextTest, SharedMemoryThatCouldNotBeFilledIsFilledForTheNextCase) {
  int fills = 0;
  const auto ask = [&] {
    return context_.shared(0, "numbers", page, [&](BufferView view) {
      if (++fills == 1) throw OutOfMemory("staging", page, 0);
      view.data()[0] = std::byte{7};
    });
  };
  context_.begin_case();
  static_cast<void>(ask());
  EXPECT_THROW(context_.commit(), OutOfMemory);
  context_.begin_case();
  const BufferView numbers = ask();
  context_.commit();
  EXPECT_EQ(fills, 2);
  EXPECT_EQ(numbers.data()[0], std::byte{7});
}

TEST_F(ContextTest, ScratchCountsForTheCaseThatAskedForIt) {
  Stream& stream = context_.stream(0, StreamKind::compute);
  context_.begin_case();
  stream.reserve_scratch(10 * page);
  context_.stream(0, StreamKind::compute, 1, 2).reserve_scratch(page);
  EXPECT_EQ(context_.case_bytes(0), 11 * page);
  context_.begin_case();
  stream.reserve_scratch(2 * page);
  stream.reserve_scratch(page);
  EXPECT_EQ(context_.case_bytes(0), 2 * page);
  EXPECT_GE(stream.scratch_bytes(), 10 * page);  // the case before keeps what it needs
  context_.begin_case();
  EXPECT_EQ(context_.case_bytes(0), 0U);
}

TEST(ContextOfADryRun, CountsMemoryThatNoMachineHas) {
  constexpr std::size_t huge = std::size_t{1} << 50U;
  Context context(Machine().open("cpu:0"), {.measures = false});
  context.begin_case();
  static_cast<void>(context.borrow(0, huge));
  Stream& stream = context.stream(0, StreamKind::compute);
  stream.reserve_scratch(huge);
  context.hold_case();
  EXPECT_EQ(context.case_bytes(0), 2 * huge);
  EXPECT_EQ(context.held_bytes(0), 2 * huge);
  EXPECT_EQ(stream.scratch_bytes(), 0U);
}

TEST_F(ContextTest, ScratchOfWhatIsDoneOncePerRunCountsForNoCase) {
  Stream& stream = context_.stream(0, StreamKind::compute);
  context_.begin_case();
  stream.reserve_scratch(page);
  static_cast<void>(context_.measured("costs", 0, [&] {
    stream.reserve_scratch(5 * page);
    context_.stream(0, StreamKind::compute, 0, 2).reserve_scratch(page);
    return std::vector<double>{1};
  }));
  static_cast<void>(
      context_.shared(0, "numbers", page, [&](BufferView) { stream.reserve_scratch(7 * page); }));
  EXPECT_EQ(context_.case_bytes(0), 2 * page);
  context_.commit();
  EXPECT_EQ(context_.case_bytes(0), 2 * page);
  EXPECT_THROW(context_.uncounted([&] {
    stream.reserve_scratch(9 * page);
    throw Error("cannot be measured");
  }),
               Error);
  EXPECT_EQ(context_.case_bytes(0), 2 * page);
}

TEST_F(ContextTest, CaseThatIsTooLargeLeavesTheOthersUsable) {
  context_.begin_case();
  const BufferView small = context_.borrow(0, page);
  context_.commit();
  context_.begin_case();
  static_cast<void>(context_.borrow(0, std::size_t{1} << 50));
  EXPECT_THROW(context_.commit(), OutOfMemory);
  context_.begin_case();
  context_.commit();
  ASSERT_NE(small.data(), nullptr);
  small.data()[0] = std::byte{1};
}

TEST_F(ContextTest, StreamsAndMeasurementsAreMadeOnce) {
  EXPECT_EQ(&context_.stream(0, StreamKind::compute), &context_.stream(0, StreamKind::compute));
  EXPECT_EQ(&context_.stream(0, StreamKind::copy), &context_.stream(0, StreamKind::copy, 1, 2));
  int measured = 0;
  for (int i = 0; i < 2; ++i) {
    const auto& numbers = context_.measured("key", 0, [&] {
      ++measured;
      return std::vector<double>{1.5};
    });
    EXPECT_EQ(numbers, std::vector<double>{1.5});
  }
  EXPECT_EQ(measured, 1);
}

TEST_F(ContextTest, AsksForTheTimeOnlyWithinTheWorkThatHasALimit) {
  int asked = 0;
  context_.check_time();
  context_.with_check([&] { ++asked; }, [&] { context_.check_time(); });
  context_.check_time();
  EXPECT_EQ(asked, 1);
  const auto over = [] { throw Unsupported("out of time"); };
  EXPECT_THROW(context_.with_check(over, [&] { context_.check_time(); }), Unsupported);
  context_.check_time();
}

/// A CPU device's arena, which a device of another backend copies from and to.
class ContextOfTwoBackends : public ::testing::Test {
 protected:
  void SetUp() override {
    if (Machine().find("cpu")->device_limit() < 2) GTEST_SKIP() << "needs two CPU devices";
    context_.emplace(test::mixed_devices(2), Context::Options{});
  }

  test::OtherDevice& other() { return dynamic_cast<test::OtherDevice&>(context_->device(1)); }

  BufferView prepare(std::size_t bytes) {
    context_->begin_case();
    const BufferView view = context_->borrow(0, bytes);
    context_->commit();
    return view;
  }

  void refuse_locks_beyond(std::size_t limit) {
    other().on_page_lock = [limit](BufferView memory) {
      if (memory.bytes > limit) throw OutOfMemory("other:1", memory.bytes, limit);
    };
  }

  [[nodiscard]] auto locks(const BufferView& view) const {
    return ElementsAre(Pair(view.data(), view.bytes));
  }

  static constexpr std::size_t too_large = std::size_t{1} << 50;
  std::optional<Context> context_;
};

TEST_F(ContextOfTwoBackends, HostMemoryIsPageLockedForTheOtherAsItGrows) {
  context_->begin_case();
  const BufferView first = context_->borrow(0, page);
  static_cast<void>(context_->borrow(0, page, MemoryKind::pageable));
  static_cast<void>(context_->borrow(1, page));
  context_->commit();
  EXPECT_THAT(other().locked, locks(first));
  EXPECT_EQ(other().locks, 1);
  context_->commit();
  EXPECT_EQ(other().locks, 1) << "what is locked was locked again";
  const BufferView larger = prepare(256 * page);
  EXPECT_THAT(other().locked, locks(larger));
  EXPECT_EQ(other().locks, 2);
  static_cast<void>(prepare(page));
  EXPECT_EQ(other().locks, 2);
}

TEST_F(ContextOfTwoBackends, ArenaThatCannotGrowStaysPageLocked) {
  const BufferView first = prepare(page);
  EXPECT_THROW(static_cast<void>(prepare(too_large)), OutOfMemory);
  EXPECT_THAT(other().locked, locks(first));
}

TEST_F(ContextOfTwoBackends, CaseWhoseMemoryCannotBePageLockedLeavesTheOthersTheirs) {
  const BufferView first = prepare(page);
  refuse_locks_beyond(10 * page);
  EXPECT_THROW(static_cast<void>(prepare(20 * page)), OutOfMemory);
  EXPECT_THAT(other().locked, locks(first));
  const BufferView later = prepare(10 * page);
  EXPECT_THAT(other().locked, locks(later)) << "locked beyond what the case uses";
}

TEST_F(ContextOfTwoBackends, LocksThatCannotBeHadAgainEndWhatTheOtherHasToCopy) {
  static_cast<void>(prepare(page));
  refuse_locks_beyond(0);
  try {
    static_cast<void>(prepare(too_large));
    FAIL() << "earlier cases are unlocked without a report";
  } catch (const DeviceLost& error) {
    EXPECT_EQ(error.backend(), "other");
  }
}

TEST_F(ContextOfTwoBackends, LostDeviceNeedsNoLocks) {
  other().on_page_lock = [](BufferView) { throw DeviceLost("other", "it fell off"); };
  EXPECT_NO_THROW(static_cast<void>(prepare(page)));
  EXPECT_NO_THROW(static_cast<void>(prepare(2 * page)));
}

}  // namespace
}  // namespace parbench
