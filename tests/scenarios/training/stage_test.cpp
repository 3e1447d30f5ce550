// The memory that stages borrow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/framework/built_in.h"
#include "scenarios/models/models.h"
#include "scenarios/training/step/training_step.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/scenarios/training/step/grid_runs.h"
#include "tests/support/cpu_devices.h"

namespace parbench {
namespace {

/// Bytes of a perceptron on one device.
double borrowed_bytes(const std::vector<std::int64_t>& micro_batches,
                      const std::string& schedule = "one-at-a-time", int layers = 3,
                      const Optimizer& optimizer = {}) {
  Context context(test::cpu_devices(1), Context::Options{.seed = 5});
  context.begin_case();
  const auto step = prepare_step(context, perceptron(layers, 1024), {.optimizer = optimizer},
                                 {.schedule = schedule, .micro_batches = {micro_batches}});
  return static_cast<double>(context.case_bytes(0));
}

TEST(StageMemory, HoldsEachMicroBatchInItsOwnSize) {
  const auto second_slot = [](const std::vector<std::int64_t>& micro_batches) {
    return borrowed_bytes(micro_batches, "gpipe") - borrowed_bytes(micro_batches);
  };
  const double of_four = second_slot({4, 4});
  ASSERT_GT(of_four, 0);
  EXPECT_LT(second_slot({6, 2}), 0.75 * of_four);
  EXPECT_GT(second_slot({2, 6}), 0);
}

TEST(StageMemory, GradientsOfTheOnlyMicroBatchTakeThePlaceOfActivations) {
  constexpr int layers = 9;
  constexpr double output = 64.0 * 1024 * sizeof(float);  // bytes; each layer has one
  const double together = borrowed_bytes({64}, "gpipe", layers);
  // Norms read the padding between gradients too, which is zero in memory of their own.
  const double apart = borrowed_bytes({64}, "gpipe", layers, {.max_norm = 1});
  EXPECT_GE(apart - together, (layers - 4) * output)
      << "all but both sides of the last layer and two gradients";
  EXPECT_LE(apart - together, layers * output + 4096) << "the clip factor";
  const double in_turn = borrowed_bytes({64, 64}, "one-at-a-time", layers);
  EXPECT_GE(in_turn - together, (layers - 4 + 2) * output)
      << "images and target, and the second adds to the gradients of the first";
}

/// A perceptron of equal layers, one on each device.
struct EqualStages {
  static constexpr int count = 4;
  static constexpr std::int64_t samples = 8;  // of a micro-batch
  static constexpr std::int64_t hidden = 512;
  static constexpr std::int64_t boundary_bytes =
      samples * hidden * static_cast<std::int64_t>(sizeof(float));

  /// Returns the bytes of a case by device.
  static std::vector<std::int64_t> bytes(const std::string& schedule, int micro_batches) {
    const auto context = test::context_with_shared_cores(count);
    const auto scenario = make_pipeline();
    const auto prepared = test::ready_case(*scenario,
                                           test::spec_of(*scenario, "pipeline",
                                                         {{"model", "mlp"},
                                                          {"layers", std::int64_t{count}},
                                                          {"hidden", hidden},
                                                          {"batch", samples * micro_batches},
                                                          {"split", samples},
                                                          {"partition", "linear1+linear2+linear3"},
                                                          {"schedule", schedule}},
                                                         count),
                                           *context);
    std::vector<std::int64_t> bytes;
    for (int device = 0; device < count; ++device) {
      bytes.push_back(static_cast<std::int64_t>(context->case_bytes(device)));
    }
    return bytes;
  }
};

TEST(StageMemory, OneForwardOneBackwardHoldsWhatIsInFlight) {
  constexpr int micro_batches = 9;
  const std::vector<std::int64_t> gpipe = EqualStages::bytes("gpipe", micro_batches);
  const std::vector<std::int64_t> alternating = EqualStages::bytes("1f1b", micro_batches);
  std::vector<std::int64_t> saved;
  std::vector<std::int64_t> want;
  for (int stage = 0; stage < EqualStages::count; ++stage) {
    const auto s = static_cast<std::size_t>(stage);
    saved.push_back((gpipe[s] - alternating[s]) / EqualStages::boundary_bytes);
    const int held = EqualStages::count - stage;
    const int activations = micro_batches - held;  // outputs, one for each micro-batch
    const int inputs = stage > 0 ? micro_batches - (held + 1) : 0;
    const int output_gradients = stage + 1 < EqualStages::count ? micro_batches - held : 0;
    want.push_back(activations + 2 * inputs + output_gradients);  // inputs and their gradients
  }
  EXPECT_EQ(saved, want);
}

TEST(StageMemory, MoreMicroBatchesTakeNoMoreMemoryUnderOneForwardOneBackward) {
  // Bytes beyond a step of one micro-batch, in boundaries, without the images and the target of
  // the whole batch, which the first and the last stage have.
  const auto further = [](int micro_batches) {
    const std::vector<std::int64_t> one = EqualStages::bytes("1f1b", 1);
    const std::vector<std::int64_t> many = EqualStages::bytes("1f1b", micro_batches);
    std::vector<std::int64_t> bytes;
    for (std::size_t s = 0; s < many.size(); ++s) {
      const bool has_batch = s == 0 || s + 1 == many.size();
      bytes.push_back((many[s] - one[s]) / EqualStages::boundary_bytes -
                      (has_batch ? micro_batches - 1 : 0));
    }
    return bytes;
  };
  // Activations and received gradients; after the first stage also inputs and their gradients.
  const auto want = testing::ElementsAre(3 + 3, 2 + 2 + 3 + 3, 1 + 1 + 2 + 2, 0 + 1 + 1);
  EXPECT_THAT(further(6), want);
  EXPECT_THAT(further(12), want);
}

}  // namespace
}  // namespace parbench
