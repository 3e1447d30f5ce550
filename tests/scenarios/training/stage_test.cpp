// The memory that a stage borrows.
#include "scenarios/training/stage.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "scenarios/models/models.h"
#include "tests/support/cpu_devices.h"

namespace parbench {
namespace {

/// Bytes of a perceptron that holds the activations of so many micro-batches at once.
double borrowed_bytes(const std::vector<std::int64_t>& micro_batches, int slots) {
  const Network network = perceptron(3, 1024);
  Context context(test::cpu_devices(1), Context::Options{.seed = 5});
  context.begin_case();
  CaseParts parts(context);
  const Stage stage(
      parts,
      Stage::Options{.device = 0,
                     .range = {.network = &network,
                               .first = 0,
                               .last = static_cast<int>(network.layers.size()) - 1,
                               .batch = std::reduce(micro_batches.begin(), micro_batches.end())},
                     .micro_batches = micro_batches,
                     .slots = slots,
                     .optimizer = {}});
  return static_cast<double>(context.case_bytes(0));
}

TEST(StageMemory, HoldsEachMicroBatchInItsOwnSize) {
  const auto second_slot = [](const std::vector<std::int64_t>& micro_batches) {
    return borrowed_bytes(micro_batches, 2) - borrowed_bytes(micro_batches, 1);
  };
  const double of_four = second_slot({4, 4});
  ASSERT_GT(of_four, 0);
  EXPECT_LT(second_slot({6, 2}), 0.75 * of_four);
  EXPECT_GT(second_slot({2, 6}), 0);
}

}  // namespace
}  // namespace parbench
