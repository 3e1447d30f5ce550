// The discard operation: pages are new afterwards, and what lies beside them is left alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "kernels/base/error.h"
#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

class DiscardOperation : public LaneTest {
 protected:
  void SetUp() override {
    LaneTest::SetUp();
    if (!has_bench()) return;
    memory_ = device().allocate(8 * page, MemoryKind::pageable);
    std::memset(memory_.data(), 0x5A, memory_.bytes());
  }

  /// Discards bytes [first, first + bytes).
  void discard(std::size_t first, std::size_t bytes) const {
    const auto op = bench().prepare(Discard{static_cast<std::int64_t>(bytes)});
    EXPECT_EQ(op->work().bytes, 0) << "nothing moves";
    bench().run(*op, {BufferView(memory_, first, bytes)});
  }

  [[nodiscard]] bool all(std::size_t first, std::size_t bytes, int value) const {
    const std::span part(memory_.data() + first, bytes);
    return std::ranges::all_of(part, [&](std::byte one) { return one == std::byte(value); });
  }

  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

 private:
  Buffer memory_;
};

// A page that the system hands out anew reads as zeros.
TEST_P(DiscardOperation, MakesWholePagesNew) {
  discard(2 * page, 3 * page);
  EXPECT_TRUE(all(0, 2 * page, 0x5A));
  EXPECT_TRUE(all(2 * page, 3 * page, 0));
  EXPECT_TRUE(all(5 * page, 3 * page, 0x5A));
}

TEST_P(DiscardOperation, LeavesPagesAloneThatItSharesWithOthers) {
  discard(page + 100, 2 * page);  // one whole page, the third, and parts of two
  EXPECT_TRUE(all(0, 2 * page, 0x5A));
  EXPECT_TRUE(all(2 * page, page, 0));
  EXPECT_TRUE(all(3 * page, 5 * page, 0x5A));
  discard(4 * page + 8, 100);
  EXPECT_TRUE(all(3 * page, 5 * page, 0x5A));
}

TEST_P(DiscardOperation, RefusesNonsense) {
  EXPECT_THROW((void)bench().prepare(Discard{0}), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Lanes, DiscardOperation, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test
