// What the operations of a long short-term memory take, count and refuse, and what padding after a
// sequence does to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/ops/flops.h"
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

TEST(LstmFlops, CountTheProductsOfAllPositions) {
  const double with_source = 2.0 * (2 * 5) * 3 * 16;
  const double with_state = 2.0 * (2 * 4) * 4 * 16;  // the first position has none
  const double products = with_source + with_state;
  EXPECT_EQ(flops_of(LstmForward{small_lstm}), products + 26.0 * 2 * 5 * 4);
  EXPECT_EQ(flops_of(LstmBackwardData{small_lstm}), products + 24.0 * 2 * 5 * 4);
  EXPECT_EQ(flops_of(LstmBackwardWeights{small_lstm}), products + 1.0 * 2 * 5 * 16);
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

// --- PyTorch's values ---

/// sin(0.7 · k + phase) for element k: what both sides compute from.
void set_wave(Values& values, double phase) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = std::sin(0.7 * static_cast<double>(k) + phase);
  }
}

/// The inputs of an operation and its companions.
Tensors waves(const Trial& trial) {
  Tensors inputs = trial.draw_inputs(1);
  for (const auto& [role, phase] :
       {std::pair("source", 1), std::pair("weights", 2), std::pair("recurrent_weights", 3),
        std::pair("bias", 4), std::pair("diff_destination", 5)}) {
    const auto found = inputs.find(role);
    if (found != inputs.end()) set_wave(found->second, phase);
  }
  return inputs;
}

constexpr LstmShape wave_lstm{2, 3, 2, 2};

// By torch.nn.LSTM(2, 2, batch_first=True) of PyTorch 1.13 in double precision, with zeros in its
// second bias, on the numbers of set_wave.
TEST_P(LstmOperations, ComputeWhatPyTorchDoes) {
  constexpr double close = 1e-5;
  Trial forward(bench(), LstmForward{wave_lstm});
  expect_close("destination", forward.run(waves(forward)).at("destination"),
               {0.1713237, 0.0412960, 0.2543940, 0.1033725, 0.1874202, 0.2403556, -0.0808956,
                0.1687721, 0.1711112, 0.1258500, 0.1758378, 0.0999952},
               close);
  Trial data(bench(), LstmBackwardData{wave_lstm});
  expect_close("diff_source", data.run(waves(data)).at("diff_source"),
               {0.0714565, 0.0999011, 0.0923973, 0.0110568, -0.1122411, -0.1487355, -0.0203203,
                0.1146668, -0.0095995, 0.0448825, 0.0229914, 0.0482431},
               close);
  Trial weights(bench(), LstmBackwardWeights{wave_lstm});
  const Tensors gradients = weights.run(waves(weights));
  expect_close("diff_weights", gradients.at("diff_weights"),
               {0.0498290, -0.0399759, 0.0564872, -0.0753990, -0.0368843, -0.0987392, -0.0125404,
                -0.0447160, -0.0359715, -0.1050478, 0.0551458, -0.1139925, -0.1967039, -0.2430196,
                -0.0137243, -0.0887966},
               close);
  expect_close(
      "diff_recurrent_weights", gradients.at("diff_recurrent_weights"),
      {0.0024441, -0.0197925, 0.0356070, 0.0059374, 0.0328750, 0.0128170, 0.0113437, -0.0007487,
       0.0302788, 0.0048841, 0.0455899, 0.0095599, 0.0000383, -0.0197548, 0.0223626, -0.0009886},
      close);
  expect_close(
      "diff_bias", gradients.at("diff_bias"),
      {-0.1166067, 0.0393851, 0.1480636, 0.0156782, 0.1156167, 0.0006709, -0.2452225, 0.0080868},
      close);
}

INSTANTIATE_TEST_SUITE_P(Lanes, LstmOperations, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test
