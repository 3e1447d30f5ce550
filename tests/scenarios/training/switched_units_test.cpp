// Inputs of ReLUs that are as good as zero: their gradients depend on the order of sums.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/framework/checks/agreement.h"
#include "scenarios/models/models.h"
#include "scenarios/training/checks/step_checks.h"
#include "scenarios/training/naive_perceptron.h"

namespace parbench {
namespace {

constexpr std::int64_t units = 64;
constexpr std::int64_t samples_of_batch = 64;

/// Numbers from −1 to 1 without a pattern.
std::vector<double> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<double> values(count);
  for (double& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<double>(seed >> 8U) * 0x1p-23 - 1;
  }
  return values;
}

/// A perceptron in which eight units of the first layer have an input of `input` for one sample.
NamedValues gradients_with(double input) {
  const Network network = perceptron(2, units);
  NamedValues parameters{{"linear0.weight", numbers(units * units, 1)},
                         {"linear0.bias", std::vector<double>(units)},
                         {"linear1.weight", numbers(units * units, 2)},
                         {"linear1.bias", std::vector<double>(units)}};
  const std::vector<double> images = numbers(samples_of_batch * units, 3);
  for (std::size_t unit = 0; unit < 8; ++unit) {
    double sum = 0;
    for (std::size_t i = 0; i < units; ++i) {
      sum += images[unit * units + i] * parameters["linear0.weight"][unit * units + i];
    }
    parameters["linear0.bias"][unit] = input - sum;
  }
  const NaivePerceptron naive(network, parameters,
                              {.images = images,
                               .target = numbers(samples_of_batch * units, 4),
                               .samples = samples_of_batch},
                              DType::f32);
  NamedValues gradients = naive.gradients();
  for (const auto& [name, values] : naive.switched_gradients(gradients, 0x1p-19)) {
    gradients["switched " + name] = values;
  }
  return gradients;
}

std::vector<float> narrowed(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

TEST(SwitchedUnits, AreAcceptedAndAPartThatIsLeftOutIsNot) {
  const NamedValues want = gradients_with(1e-7);
  const NamedValues other = gradients_with(-1e-7);
  const std::vector<float> weights = narrowed(want.at("linear0.weight"));
  const std::vector<float> switched = narrowed(other.at("linear0.weight"));
  const Tolerance tolerance = tolerance_of_step({DType::f32});
  Sensitivity sensitivity;
  sensitivity.add(narrowed(want.at("switched linear0.weight")), weights);
  EXPECT_FALSE(agreement(switched, weights, tolerance).holds());
  EXPECT_TRUE(agreement(switched, weights, tolerance, sensitivity).holds());
  std::vector<float> faulty = switched;
  for (std::size_t i = 0; i < faulty.size() / 4; ++i) faulty[i] /= 2;  // one of two replicas
  EXPECT_FALSE(agreement(faulty, weights, tolerance, sensitivity).holds());
}

TEST(SwitchedUnits, AreNoneWhereNoInputIsNearZero) {
  const NamedValues want = gradients_with(0.5);
  for (const std::string name : {"linear0.weight", "linear0.bias", "linear1.weight"}) {
    EXPECT_EQ(want.at("switched " + name), want.at(name)) << name;
  }
}

}  // namespace
}  // namespace parbench
