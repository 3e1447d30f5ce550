// Every backward operation against finite differences of its forward pass, taken in double
// precision on the naive loops: the loss is Σ seed·output, so the seed is the gradient that comes
// in.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/base/random.h"
#include "kernels/ops/gradients.h"
#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

struct GradientCase {
  std::string name;
  OpDesc backward;
  OpDesc forward;
  std::string output;                               // of forward, that the loss is made of
  std::map<std::string, std::string> gradients;     // backward's output → forward's input
  std::map<std::string, std::string> renamed = {};  // backward's input → forward's tensor or "seed"
  double relative = 1e-3;
};

constexpr double step = 1e-5;
constexpr std::size_t probes = 24;  // elements of a tensor that are moved

void PrintTo(const GradientCase& one, std::ostream* out) { *out << one.name; }

std::vector<GradientCase> gradients_to_check() {
  const ConvolutionShape convolution{2, 16, 5, 6, 16, 3, 2, 1, 1};
  const ConvolutionShape in_groups{1, 6, 5, 4, 4, 3, 1, 1, 2};
  const Shape image{2, 16, 3, 4};
  const PoolingShape pool{{2, 16, 7, 6}, 3, 2, 1};
  const LinearShape linear{4, 9, 6};
  const std::string y = "destination";
  const std::map<std::string, std::string> to_input{{"diff_source", "source"}};
  const std::map<std::string, std::string> to_addend{{"diff_source", "addend"}};
  const BatchNormForward add_to_norm{.shape = image, .relu = true, .add = true};
  const std::map<std::string, std::string> to_norm{
      {"diff_source", "source"}, {"diff_scale", "scale"}, {"diff_shift", "shift"}};
  const std::map<std::string, std::string> to_weights{{"diff_weights", "weights"},
                                                      {"diff_bias", "bias"}};
  constexpr DType single = DType::f32;
  constexpr auto gelu = ActivationKind::gelu;
  constexpr auto gelu_tanh = ActivationKind::gelu_tanh;
  constexpr auto sigmoid = ActivationKind::sigmoid;
  constexpr auto hyperbolic = ActivationKind::tanh;
  constexpr auto clip = ActivationKind::clip;
  const ConvolutionShape dilated{2, 16, 9, 8, 16, 3, 1, 2, 1, 2};
  const PoolingShape average{{2, 16, 7, 6}, 3, 2, 1, 1};
  const LocalResponseNormForward response{.shape = image, .alpha = 1.5F, .offset = 2};
  const ChannelRange channels{{2, 16, 3, 4}, 3, 6};
  const Edges edges{1, -2, 2, 1};
  const std::map<std::string, std::string> from_seed{{"source", "seed"}};
  const Dropout dropout{.shape = {5, 7}, .probability = 0.4F, .seed = 3, .first = 2};
  return {
      {"convolution_data", ConvolutionBackwardData{convolution}, ConvolutionForward{convolution}, y,
       to_input},
      {"convolution_data_grouped", ConvolutionBackwardData{in_groups},
       ConvolutionForward{in_groups}, y, to_input},
      {"convolution_weights", ConvolutionBackwardWeights{convolution, DType::f32, true},
       ConvolutionForward{convolution, DType::f32, true}, y, to_weights},
      {"batch_norm", BatchNormBackward{image}, BatchNormForward{image}, y, to_norm},
      {"batch_norm_relu", BatchNormBackward{image, DType::f32, true},
       BatchNormForward{image, DType::f32, true}, y, to_norm},
      {"relu", ActivationBackward{image}, ActivationForward{image}, y, to_input},
      {"gelu", ActivationBackward{image, single, gelu}, ActivationForward{image, single, gelu}, y,
       to_input},
      {"gelu_tanh", ActivationBackward{image, single, gelu_tanh},
       ActivationForward{image, single, gelu_tanh}, y, to_input},
      {"sigmoid", ActivationBackward{image, single, sigmoid},
       ActivationForward{image, single, sigmoid}, y, to_input},
      {"tanh", ActivationBackward{image, single, hyperbolic},
       ActivationForward{image, single, hyperbolic}, y, to_input},
      {"clip", ActivationBackward{image, single, clip, -0.5F, 0.25F},
       ActivationForward{image, single, clip, -0.5F, 0.25F}, y, to_input},
      {"layer_norm", LayerNormBackward{{3, 4, 9}}, LayerNormForward{{3, 4, 9}}, y, to_norm},
      {"dropout", dropout, dropout, y, {{"destination", "source"}}, {{"source", "seed"}}},
      {"add_relu",
       AddReluBackward{image},
       add_to_norm,
       y,
       to_addend,
       {{"a", "half_seed"}, {"b", "half_seed"}}},
      {"add_relu_of_one_gradient",
       AddReluBackward{image, DType::f32, false},
       add_to_norm,
       y,
       to_addend,
       {{"a", "seed"}}},
      {"max_pool", MaxPoolBackward{pool}, MaxPoolForward{pool}, y, to_input},
      {"global_average_pool", GlobalAveragePoolBackward{image}, GlobalAveragePoolForward{image}, y,
       to_input},
      {"linear_data", LinearBackwardData{linear}, LinearForward{linear}, y, to_input},
      {"linear_weights", LinearBackwardWeights{linear}, LinearForward{linear}, y, to_weights},
      {"gemm_a",
       Gemm{5, 7, 6, DType::f32, false, true},
       Gemm{5, 6, 7},
       "c",
       {{"c", "a"}},
       {{"a", "seed"}, {"b", "b"}}},
      {"gemm_b",
       Gemm{7, 6, 5, DType::f32, true, false},
       Gemm{5, 6, 7},
       "c",
       {{"c", "b"}},
       {{"a", "a"}, {"b", "seed"}}},
      {"mse",
       MseLoss{{3, 8}, DType::f32, 48},
       MseLoss{{3, 8}, DType::f32, 48},
       "loss",
       {{"diff_prediction", "prediction"}}},
      // Images.
      {"convolution_data_dilated", ConvolutionBackwardData{dilated}, ConvolutionForward{dilated}, y,
       to_input},
      {"convolution_weights_dilated", ConvolutionBackwardWeights{dilated, single, true},
       ConvolutionForward{dilated, single, true}, y, to_weights},
      {"max_pool_trailing", MaxPoolBackward{average}, MaxPoolForward{average}, y, to_input},
      {"average_pool", AveragePoolBackward{average}, AveragePoolForward{average}, y, to_input},
      {"average_pool_counting_padding", AveragePoolBackward{average, single, true},
       AveragePoolForward{average, single, true}, y, to_input},
      {"response_norm",
       LocalResponseNormBackward{image, single, response.size, response.alpha, response.beta,
                                 response.offset},
       response, y, to_input},
      {"insert_channels",
       SliceChannels{channels},
       InsertChannels{channels},
       y,
       {{"destination", "source"}},
       from_seed},
      {"shuffle_channels",
       ShuffleChannels{image, 8},
       ShuffleChannels{image, 2},
       y,
       {{"destination", "source"}},
       from_seed},
      {"channel_bias", SumChannels{image}, AddChannelBias{image}, y, {{"diff_bias", "bias"}}},
      {"pad_image",
       PadImage{{2, 16, 6, 3}, edges.reversed()},
       PadImage{image, edges},
       y,
       {{"destination", "source"}},
       from_seed},
      // Language models.
      {"embedding",
       EmbeddingBackward{6, 4, 9},
       EmbeddingForward{6, 4, 9},
       y,
       {{"diff_weights", "weights"}}},
      {"cross_entropy",
       SoftmaxCrossEntropy{5, 7, DType::f32, 8},
       SoftmaxCrossEntropy{5, 7, DType::f32, 8},
       "loss",
       {{"diff_logits", "logits"}}},
      {"attention",
       AttentionBackward{2, 5, 2, 3},
       AttentionForward{2, 5, 2, 3},
       y,
       {{"diff_projections", "projections"}}},
      {"attention_of_all_keys",
       AttentionBackward{1, 5, 2, 3, false},
       AttentionForward{1, 5, 2, 3, false},
       y,
       {{"diff_projections", "projections"}}},
      {"lstm_data", LstmBackwardData{{3, 4, 5, 6}}, LstmForward{{3, 4, 5, 6}}, y, to_input},
      {"lstm_weights",
       LstmBackwardWeights{{3, 4, 5, 6}},
       LstmForward{{3, 4, 5, 6}},
       y,
       {{"diff_weights", "weights"},
        {"diff_recurrent_weights", "recurrent_weights"},
        {"diff_bias", "bias"}}},
  };
}

double loss_of(const GradientCase& one, const Tensors& inputs, const Values& seed) {
  const Tensors outputs = naive(one.forward, inputs);
  const Values& output = outputs.find(one.output)->second;
  double loss = 0;
  for (std::size_t i = 0; i < output.size(); ++i) loss += seed[i] * output[i];
  return loss;
}

double difference(const GradientCase& one, Tensors inputs, const Values& seed,
                  const std::string& role, std::size_t index) {
  double& value = inputs[role][index];
  const double middle = value;
  value = middle + step;
  const double above = loss_of(one, inputs, seed);
  value = middle - step;
  return (above - loss_of(one, inputs, seed)) / (2 * step);
}

/// What the backward operation reads: seeds, and the forward pass's tensors of the same names.
Tensors backward_inputs(const GradientCase& one, const Tensors& forward_inputs, const Values& seed,
                        const Tensors& drawn) {
  Tensors known = naive(one.forward, forward_inputs);
  known.insert(forward_inputs.begin(), forward_inputs.end());
  known["seed"] = seed;
  known["diff_destination"] = seed;
  known["half_seed"] = seed;
  for (double& value : known["half_seed"]) value /= 2;
  Tensors inputs = drawn;
  for (auto& [role, values] : inputs) {
    const auto renamed = one.renamed.find(role);
    const auto found = known.find(renamed == one.renamed.end() ? role : renamed->second);
    if (found != known.end()) values = found->second;
  }
  return inputs;
}

class Gradients : public testing::TestWithParam<std::tuple<Lane, GradientCase>> {};

TEST_P(Gradients, EqualFiniteDifferences) {
  const auto& [lane, one] = GetParam();
  std::string why;
  const auto bench = Bench::open(lane, why);
  if (!bench) SKIP_WITHOUT_DEVICES(std::get<0>(GetParam()).device, why);

  const Tensors forward_inputs = Trial(*bench, one.forward).draw_inputs(11);
  const std::size_t outputs = naive(one.forward, forward_inputs).find(one.output)->second.size();
  std::vector<float> drawn(outputs, 1.0F);
  if (one.output != "loss") generate_uniform(drawn, 0, {12, 0}, -1, 1);
  const Values seed(drawn.begin(), drawn.end());

  Trial trial(*bench, one.backward);
  const Tensors got = trial.run(backward_inputs(one, forward_inputs, seed, trial.draw_inputs(13)));
  for (const auto& [gradient, input] : one.gradients) {
    const Values& all = got.find(gradient)->second;
    const std::size_t stride = std::max<std::size_t>(1, all.size() / probes);
    Values picked;
    Values want;
    for (std::size_t i = 0; i < all.size(); i += stride) {
      picked.push_back(all[i]);
      want.push_back(difference(one, forward_inputs, seed, input, i));
    }
    expect_close(gradient, picked, want, one.relative, 1e-5);
  }
}

std::string label_of_gradient(const testing::TestParamInfo<std::tuple<Lane, GradientCase>>& info) {
  return name_of(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(Backward, Gradients,
                         testing::Combine(testing::ValuesIn(lanes()),
                                          testing::ValuesIn(gradients_to_check())),
                         label_of_gradient);

TEST(GradientsOf, RefuseOperationsWithoutOne) {
  const ConvolutionShape shape{1, 4, 5, 5, 4, 3, 1, 1, 1};
  EXPECT_EQ(gradients_of(ConvolutionForward{.shape = shape}, false).size(), 2);
  EXPECT_THROW((void)gradients_of(ConvolutionForward{.shape = shape, .relu = true}, false),
               std::logic_error);
  EXPECT_THROW((void)gradients_of(ConvolutionBackwardWeights{.shape = shape}, false),
               std::logic_error);
}

}  // namespace
}  // namespace parbench::test
