// What the operations of a long short-term memory take, count and refuse, and what padding behind a
// sequence does to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "kernels/base/error.h"
#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;

constexpr LstmShape small_lstm{2, 5, 3, 4};

std::string listed_roles(const Op& op) {
  std::string roles;
  for (const Argument& argument : op.arguments()) roles += std::string(argument.role) + " ";
  return roles;
}

class LstmOperations : public LaneTest {
 protected:
  [[nodiscard]] std::string refusal(const OpDesc& desc) const {
    try {
      (void)bench().prepare(desc);
    } catch (const Error& reason) {
      return reason.what();
    }
    return "none";
  }
};

TEST_P(LstmOperations, HasItsArguments) {
  const auto forward = bench().prepare(LstmForward{small_lstm});
  const auto data = bench().prepare(LstmBackwardData{small_lstm});
  const auto weights = bench().prepare(LstmBackwardWeights{small_lstm, DType::f32, true});
  EXPECT_EQ(listed_roles(*forward), "source weights recurrent_weights bias destination saved ");
  EXPECT_EQ(listed_roles(*data),
            "destination diff_destination weights recurrent_weights saved diff_source ");
  EXPECT_EQ(listed_roles(*weights),
            "source destination saved diff_weights diff_recurrent_weights diff_bias ");
  EXPECT_EQ(forward->tensor("source"), canonical({2, 5, 3}));
  EXPECT_EQ(forward->tensor("weights").shape, (Shape{16, 3}));
  EXPECT_EQ(weights->tensor("diff_recurrent_weights").shape, (Shape{16, 4}));
  EXPECT_EQ(forward->tensor("saved"), data->tensor("saved"));
  EXPECT_EQ(forward->tensor("saved"), weights->tensor("saved"));
}

TEST_P(LstmOperations, CountsTheProductsOfAllPositions) {
  const double with_source = 2.0 * (2 * 5) * 3 * 16;
  const double with_state = 2.0 * (2 * 4) * 4 * 16;  // the first position has none
  EXPECT_EQ(bench().prepare(LstmForward{small_lstm})->work().flops,
            with_source + with_state + 26.0 * 2 * 5 * 4);
  EXPECT_EQ(bench().prepare(LstmBackwardData{small_lstm})->work().flops,
            with_source + with_state + 23.0 * 2 * 5 * 4);
  EXPECT_EQ(bench().prepare(LstmBackwardWeights{small_lstm})->work().flops,
            with_source + with_state + 1.0 * 2 * 5 * 16);
}

TEST_P(LstmOperations, RefusesWhatMakesNoSense) {
  EXPECT_THAT(refusal(LstmForward{{0, 5, 3, 4}}), HasSubstr("batch is 0"));
  EXPECT_THAT(refusal(LstmBackwardData{{2, -1, 3, 4}}), HasSubstr("sequence is -1"));
  EXPECT_THAT(refusal(LstmBackwardWeights{{2, 5, 0, 4}}), HasSubstr("in_features is 0"));
  EXPECT_THAT(refusal(LstmForward{{2, 5, 3, 0}}), HasSubstr("hidden is 0"));
  if (GetParam().device.starts_with("cuda:")) return;
  EXPECT_THAT(refusal(LstmForward{small_lstm, DType::f32, MathMode::tf32}), HasSubstr("use f32"));
}

/// Changes the elements of the last positions of every sample.
void change_padding(Values& values, std::size_t positions, std::size_t width) {
  const auto sequence = static_cast<std::size_t>(small_lstm.sequence);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i / width % sequence >= sequence - positions) values[i] = 0.75 - values[i];
  }
}

/// Without the last positions of every sample.
Values without_padding(const Values& values, std::size_t positions, std::size_t width) {
  const auto sequence = static_cast<std::size_t>(small_lstm.sequence);
  Values first;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i / width % sequence < sequence - positions) first.push_back(values[i]);
  }
  return first;
}

TEST_P(LstmOperations, DoesNotSeeWhatLiesBehindAPosition) {
  constexpr std::size_t padding = 2;
  Trial trial(bench(), LstmForward{small_lstm});
  Tensors inputs = trial.draw_inputs(1);
  const Values before = trial.run(inputs).at("destination");
  change_padding(inputs["source"], padding, 3);
  const Values after = trial.run(inputs).at("destination");
  EXPECT_NE(before, after);
  EXPECT_EQ(without_padding(before, padding, 4), without_padding(after, padding, 4));
}

TEST_P(LstmOperations, HasNoGradientWhereTheLossIgnoresAllThatFollows) {
  Trial trial(bench(), LstmBackwardData{small_lstm});
  Tensors inputs = trial.draw_inputs(1);
  Values& seed = inputs["diff_destination"];
  for (std::size_t i = 0; i < seed.size(); ++i) {
    if (i / 4 % 5 >= 3) seed[i] = 0;
  }
  const Values gradient = trial.run(inputs).at("diff_source");
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_EQ(gradient[i] == 0, i / 3 % 5 >= 3) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, LstmOperations, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test
