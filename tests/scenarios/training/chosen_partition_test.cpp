// Balanced partitions of the cases of a run: by costs that a test says, and by those of earlier
// runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/machine/machine.h"
#include "scenarios/models/models.h"
#include "scenarios/training/partition.h"
#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// Two devices that do not measure.
Context estimating_context(std::map<std::string, std::string> known_cuts = {}) {
  Context context = test::fake_context(2, {.measures = false, .known_cuts = std::move(known_cuts)});
  for (int i = 0; i < 2; ++i) test::fake(context, i).computes_nothing = true;
  return context;
}

/// A case of a pipeline with a balanced partition.
CaseSpec balanced_case(std::int64_t split = 1, const std::string& partition = "balanced") {
  CaseSpec spec{.scenario = "pipeline", .strategy = "pipeline", .parameters = {}, .hidden = {}};
  spec.parameters.set("split", split);
  spec.parameters.set("recompute", std::string("none"));
  spec.parameters.set("partition", partition);
  return spec;
}

std::vector<int> partition_of(Context& context, const Network& network, std::int64_t split,
                              const std::vector<int>& devices = {0, 1},
                              const std::string& partition = "balanced") {
  constexpr std::int64_t batch = 16;
  const std::vector<std::int64_t> micro_batches(static_cast<std::size_t>(batch / split), split);
  return chosen_partition(context, network, balanced_case(split, partition), devices,
                          micro_batches);
}

/// Two devices whose operations take equally long, up to half as long again by noise.
class NoisyDevices {
 public:
  explicit NoisyDevices(std::uint32_t seed) : random_(seed) {
    for (int i = 0; i < 2; ++i) {
      test::FakeDevice& device = test::fake(context, i);
      device.computes_nothing = true;
      device.on_elapsed = [this, &device, known = std::size_t{0}]() mutable {
        constexpr double seconds_of_operation = 0.01;
        const auto operations = static_cast<double>(device.log.size() - known);
        known = device.log.size();
        return operations * seconds_of_operation * factor_(random_);
      };
    }
  }

  Context context = test::fake_context(2);

 private:
  std::mt19937 random_;
  std::uniform_real_distribution<double> factor_{1.0, 1.5};
};

TEST(ChosenPartition, IsTheSameForAllSplitsAndRunsInSpiteOfNoise) {
  const Network network = perceptron(41, 4);
  std::set<std::vector<int>> found;
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    NoisyDevices devices(seed);
    for (const std::int64_t split : {16, 1, 4, 8}) {
      found.insert(partition_of(devices.context, network, split));
    }
  }
  EXPECT_THAT(found, SizeIs(1));
}

/// The first units of the second stages of a sweep in one run of a model, by estimates. Its head
/// takes a larger share of the time with more samples, which adds to the gradients only once.
std::vector<int> cuts_of_sweep(int layers, int vocabulary,
                               const std::vector<std::int64_t>& splits) {
  Context context{Machine().open("cpu:0"), Context::Options{.measures = false}};
  const Network network =
      gpt({.layers = layers, .hidden = 8, .heads = 2, .sequence = 4, .vocabulary = vocabulary});
  std::vector<int> cuts;
  for (const std::int64_t split : splits) {
    cuts.push_back(partition_of(context, network, split, {0, 0}).front());
  }
  return cuts;
}

TEST(ChosenPartition, IsThatOfAnEarlierCaseUnlessAnotherOneIsClearlyFaster) {
  EXPECT_THAT(cuts_of_sweep(30, 2048, {4}), ElementsAre(22));
  EXPECT_THAT(cuts_of_sweep(30, 2048, {1, 4, 16}), ElementsAre(21, 21, 22))
      << "about as fast with 4 samples, slower with 16";
  EXPECT_THAT(cuts_of_sweep(8, 512, {16, 1, 2}), ElementsAre(7, 6, 6)) << "a block of few";
}

TEST(ChosenPartition, IsThatOfAnEarlierRunOfTheCase) {
  const Network network = perceptron(4, 4);
  const std::string cut = network.units.at(3);
  Context context = estimating_context({{balanced_case(4).name(), cut}});
  EXPECT_THAT(partition_of(context, network, 4), ElementsAre(3));
  EXPECT_THAT(partition_of(context, network, 8), ElementsAre(2)) << "another case";
  EXPECT_THAT(partition_of(context, network, 4, {0, 1}, network.units.at(1)), ElementsAre(1))
      << "the user names one";
}

TEST(ChosenPartition, IsChosenAnewWhereTheNetworkHasNoSuchUnit) {
  Context context = estimating_context({{balanced_case(4).name(), "layer9.9"}});
  EXPECT_THAT(partition_of(context, perceptron(4, 4), 4), ElementsAre(2));
}

}  // namespace
}  // namespace parbench
