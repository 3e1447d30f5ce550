// Memory of a run: what cases share, what they borrow, and how much it comes to.
#include "scenarios/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "kernels/error.h"
#include "kernels/machine.h"
#include "tests/support/other_device.h"

namespace parbench {
namespace {

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

TEST_F(ContextTest, ScratchOfWhatIsDoneOncePerRunCountsForNoCase) {
  Stream& stream = context_.stream(0, StreamKind::compute);
  context_.begin_case();
  stream.reserve_scratch(page);
  static_cast<void>(context_.measured("costs", [&] {
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
    const auto& numbers = context_.measured("key", [&] {
      ++measured;
      return std::vector<double>{1.5};
    });
    EXPECT_EQ(numbers, std::vector<double>{1.5});
  }
  EXPECT_EQ(measured, 1);
}

TEST(ContextOfTwoBackends, HostMemoryIsPageLockedForOtherBackendsAsItGrows) {
  if (Machine().find("cpu")->device_limit() < 2) GTEST_SKIP() << "needs two CPU devices";
  Context context(test::mixed_devices(2), {});
  const auto& other = dynamic_cast<const test::OtherDevice&>(context.device(1));
  context.begin_case();
  const BufferView first = context.borrow(0, 4096);
  static_cast<void>(context.borrow(0, 4096, MemoryKind::pageable));
  static_cast<void>(context.borrow(1, 4096));
  context.commit();
  EXPECT_THAT(other.locked, testing::ElementsAre(first.data()));
  EXPECT_EQ(other.locks, 1);
  context.commit();
  EXPECT_EQ(other.locks, 1) << "what is locked was locked again";
  context.begin_case();
  const BufferView larger = context.borrow(0, std::size_t{1} << 20);
  context.commit();
  EXPECT_THAT(other.locked, testing::ElementsAre(larger.data()));
  EXPECT_EQ(other.locks, 2);
}

}  // namespace
}  // namespace parbench
