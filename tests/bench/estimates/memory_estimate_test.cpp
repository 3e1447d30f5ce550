// The memory that a dry run plans for all cases of a run, beside what a run allocates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "bench/estimates/estimate.h"
#include "scenarios/framework/all_cores.h"
#include "tests/bench/fake_scenario.h"
#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// Cases that borrow as many blocks as their parameter says, and share one.
class Borrowing : public fake::FakeScenario {
 public:
  Borrowing() {
    for (const char* strategy : {"base", "other"}) behaviours[strategy] = {};
  }
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override {
    const auto blocks = static_cast<std::size_t>(spec.parameters.integer("n"));
    (void)context.borrow(0, blocks * Context::alignment);
    (void)context.shared(0, "data", Context::alignment, [](BufferView) {});
    return FakeScenario::prepare(spec, context);
  }
};

class MemoryOfARun : public testing::Test {
 protected:
  [[nodiscard]] RunEstimate estimated(std::size_t available_blocks) const {
    Context context = test::fake_context(2, {.measures = false});
    for (test::FakeDevice* device : devices_of(context)) {
      device->computes_nothing = true;
      device->available = {"the host", available_blocks * Context::alignment};
    }
    return estimate(scenario_, context, cases_, SamplerOptions{});
  }

  /// Blocks of all devices once all cases are prepared, as a run does it.
  [[nodiscard]] std::size_t allocated() const {
    Context context = test::fake_context(2);
    std::vector<std::unique_ptr<Case>> prepared;
    for (const CaseSpec& spec : cases_) {
      Context& own = context_of(spec, context);
      own.begin_case();
      prepared.push_back(prepare_case(scenario_, spec, context));
      own.commit();
    }
    std::size_t bytes = 0;
    for (const test::FakeDevice* device : devices_of(context)) bytes += device->allocated_bytes();
    return bytes / Context::alignment;
  }

  [[nodiscard]] static std::vector<test::FakeDevice*> devices_of(Context& context) {
    return {&test::fake(context, 0), &test::fake(context, 1), &test::fake(*context.whole(), 0)};
  }

  Borrowing scenario_;
  std::vector<CaseSpec> cases_{
      fake::FakeScenario::spec("base", 5), fake::FakeScenario::spec("all-cores", 5),
      fake::FakeScenario::spec("other", 6), fake::FakeScenario::spec("other", 2)};
};

TEST_F(MemoryOfARun, IsThatOfAllCoresBesideThatOfTheOtherDevices) {
  const RunEstimate run = estimated(100);
  ASSERT_THAT(run.memory, SizeIs(1));
  EXPECT_EQ(run.memory[0].memory, "the host");
  EXPECT_EQ(run.memory[0].bytes, (6 + 1 + 5 + 1) * Context::alignment);
  EXPECT_EQ(run.memory[0].bytes, allocated() * Context::alignment);
  Context context = test::fake_context(2, {.measures = false});
  EXPECT_THAT(estimate_text(scenario_, context, run, 80),
              HasSubstr("\nmemory at once: 52.0 KiB on the host\n"));
}

TEST_F(MemoryOfARun, IsWhatACaseHasToFitInto) {
  for (const CaseEstimate& one : estimated(13).cases) EXPECT_EQ(one.error, "") << one.name;
  const RunEstimate run = estimated(12);
  EXPECT_EQ(run.cases[1].error, "") << "5 + 1 + 5 + 1 blocks";
  EXPECT_THAT(run.cases[2].error, HasSubstr("out of memory on the host")) << "6 instead of 5";
  EXPECT_EQ(run.cases[3].error, "") << "no more than are held";
  EXPECT_EQ(run.memory.at(0).bytes, 12 * Context::alignment) << "without the case that is skipped";
}

}  // namespace
}  // namespace parbench
