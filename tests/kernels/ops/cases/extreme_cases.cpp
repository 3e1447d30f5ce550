// Rows of the conformance table whose inputs are extreme: what saturates an exponential, leaves no
// spread under a root, makes a denominator zero, or dominates a sum.
#include <cmath>

#include "tests/kernels/ops/cases.h"

namespace parbench::test {
namespace {

constexpr DType bf16 = DType::bf16;
constexpr DType f32 = DType::f32;
constexpr double tight = 2e-5;
constexpr double loose = 1e-2;
// The mean is 128 times the spread, so that rounding errors of the inputs' sums are, too.
constexpr double shifted = 1e-3;
// A score of 80 that is wrong by several units in its last place, 8e-6 each, has an exponential
// that is wrong by as many.
constexpr double of_scores = 1e-4;
// Distances of all from a far one, or their squares, are rounded to 2^-24 of the largest: with
// 24,576 of them a variance is wrong by up to 1.5e-3, and by 1.4e-4 as measured.
constexpr double of_squares = 1e-3;
using enum Pattern;

double replaced(Pattern pattern, double value, std::size_t index) {
  switch (pattern) {
    case large:
      return 128 * value;
    case sharp:
      return 8 * value;
    case rounded:
      return std::round(value);
    case equal:
      return 0.6875;
    case zero:
      return 0;
    case peaked:
      return index % 61 == 0 ? 16 : value;
    case dominated:
      return index % 61 == 0 ? 128 : value;
    case first_far:
      return index == 0 ? 1024 : value;
    case offset:
      return double{static_cast<float>(128 + value)};
  }
  return NAN;
}

using Cases = std::vector<OperationCase>;

void add_activations(Cases& cases) {
  const Shape shape{7, 33};
  const Shape image{3, 32, 7, 5};
  for (const auto& [name, kind] : {std::pair{"gelu", ActivationKind::gelu},
                                   {"gelu_tanh", ActivationKind::gelu_tanh},
                                   {"sigmoid", ActivationKind::sigmoid},
                                   {"tanh", ActivationKind::tanh}}) {
    const std::string forward = std::string(name) + "_of_large";
    const bool reads_source = backward_reads_source(kind);
    const std::map<std::string, Pattern> known{reads_source ? std::pair{"source", large}
                                                            : std::pair{"destination", rounded}};
    const std::string backward =
        std::string(name) + (reads_source ? "_backward_of_large" : "_backward_of_saturated");
    for (const DType dtype : {f32, bf16}) {
      const std::string type = dtype == bf16 ? "_bf16" : "";
      const double tolerance = dtype == bf16 ? loose : tight;
      const Shape& of_type = dtype == bf16 ? image : shape;
      cases.push_back({forward + type,
                       ActivationForward{of_type, dtype, kind},
                       tolerance,
                       {},
                       {{"source", large}}});
      cases.push_back(
          {backward + type, ActivationBackward{of_type, dtype, kind}, tolerance, {}, known});
    }
  }
}

void add_norms(Cases& cases) {
  const Shape image{3, 32, 7, 5};
  const Shape odd_image{2, 5, 9, 7};
  const Shape rows{6, 128};
  for (const auto& [name, pattern, tolerance] : {std::tuple{"equal", equal, tight},
                                                 {"zero", zero, tight},
                                                 {"large", large, tight},
                                                 {"dominated", dominated, tight},
                                                 {"offset", offset, shifted}}) {
    const std::map<std::string, Pattern> source{{"source", pattern}};
    const auto add = [&](const std::string& what, const OpDesc& desc, double relative) {
      cases.push_back({what + "_of_" + name, desc, relative, {}, source});
    };
    add("batch_norm", BatchNormForward{image, f32, true}, tolerance);
    add("batch_norm_plain", BatchNormForward{odd_image}, tolerance);
    add("batch_norm_backward", BatchNormBackward{image}, tolerance);
    add("layer_norm", LayerNormForward{rows}, tolerance);
    add("layer_norm_backward", LayerNormBackward{rows}, tolerance);
    if (pattern == offset) continue;  // bf16 has no numbers there that differ by less than 1
    add("batch_norm_bf16", BatchNormForward{image, bf16}, loose);
    add("layer_norm_bf16", LayerNormForward{rows, bf16}, loose);
  }
  // More pixels than are summed in f32 at once, one of which is far from all others.
  for (const Shape& many : {Shape{24, 16, 32, 32}, Shape{3, 64, 48, 40}}) {
    for (const DType dtype : {f32, bf16}) {
      cases.push_back({"batch_norm_of_a_far_pixel_in_" + std::to_string(many[1]) + "_channels" +
                           (dtype == bf16 ? "_bf16" : ""),
                       BatchNormForward{many, dtype},
                       dtype == bf16 ? loose : of_squares,
                       {},
                       {{"source", first_far}}});
    }
  }
  for (const auto& [name, pattern] :
       {std::pair{"equal", equal}, {"zero", zero}, {"large", large}}) {
    const std::map<std::string, Pattern> source{{"source", pattern}};
    cases.push_back({std::string("response_norm_of_") + name,
                     LocalResponseNormForward{image},
                     tight,
                     {},
                     source});
    cases.push_back({std::string("response_norm_backward_of_") + name,
                     LocalResponseNormBackward{image},
                     tight,
                     {},
                     source});
  }
}

void add_softmaxes(Cases& cases) {
  const AttentionForward causal{.batch = 2, .sequence = 13, .heads = 3, .head_size = 10};
  const AttentionForward blocks{
      .batch = 1, .sequence = 141, .heads = 1, .head_size = 16, .causal = false};
  const AttentionForward in_bf16{
      .batch = 2, .sequence = 24, .heads = 2, .head_size = 16, .dtype = bf16};
  const auto backward = [](const AttentionForward& forward) {
    return AttentionBackward{forward.batch,  forward.sequence, forward.heads, forward.head_size,
                             forward.causal, forward.dtype,    forward.math};
  };
  for (const auto& [name, pattern] :
       {std::pair{"large", large}, {"equal", equal}, {"zero", zero}, {"dominated", dominated}}) {
    const auto add = [&](const std::string& what, const OpDesc& desc, double relative,
                         const std::string& role) {
      cases.push_back({what + "_of_" + name, desc, relative, {}, {{role, pattern}}});
    };
    add("cross_entropy", SoftmaxCrossEntropy{7, 33, f32, 7}, tight, "logits");
    add("cross_entropy_vocabulary", SoftmaxCrossEntropy{3, 5003, f32, 3}, tight, "logits");
    add("cross_entropy_bf16", SoftmaxCrossEntropy{9, 1001, bf16, 9}, loose, "logits");
  }
  // Scores of thousands have no digits after the point, so that close ones cannot be compared.
  for (const auto& [name, pattern] :
       {std::pair{"sharp", sharp}, {"equal", equal}, {"zero", zero}, {"peaked", peaked}}) {
    const auto add = [&](const std::string& what, const OpDesc& desc, double relative) {
      cases.push_back({what + "_of_" + name, desc, relative, {}, {{"projections", pattern}}});
    };
    add("attention", causal, of_scores);
    add("attention_blocks", blocks, of_scores);
    add("attention_bf16", in_bf16, loose);
    add("attention_backward", backward(causal), of_scores);
    add("attention_backward_blocks", backward(blocks), of_scores);
  }
}

void add_lstms(Cases& cases) {
  constexpr LstmShape small{3, 5, 8, 16};
  constexpr LstmShape odd{2, 4, 5, 7};
  for (const auto& [name, patterns] :
       {std::pair{"saturated", std::map<std::string, Pattern>{{"source", large}}},
        {"closed", {{"bias", large}}},
        {"zero", {{"source", zero}, {"bias", zero}}}}) {
    const auto add = [&](const std::string& what, const OpDesc& desc, double relative) {
      cases.push_back({what + "_of_" + name, desc, relative, {}, patterns});
    };
    add("lstm", LstmForward{small}, tight);
    add("lstm_odd", LstmForward{odd}, tight);
    add("lstm_bf16", LstmForward{{6, 3, 16, 24}, bf16}, 2 * loose);
    add("lstm_data", LstmBackwardData{small}, tight);
    add("lstm_weights", LstmBackwardWeights{small}, tight);
  }
}

}  // namespace

Tensors OperationCase::inputs(const Trial& trial, std::uint64_t seed) const {
  Tensors inputs = trial.draw_inputs(seed);
  for (const auto& [role, pattern] : patterns) {
    Values& values = inputs.at(role);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = replaced(pattern, values[i], i);
  }
  return inputs;
}

std::vector<OperationCase> extreme_cases() {
  constexpr ConvolutionShape window{2, 16, 9, 7, 32, 3, 1, 1, 1};
  const PoolingShape pool{{2, 64, 13, 15}, 3, 2, 1};
  const Shape image{3, 32, 7, 5};
  const auto large_in = [](const char* role) {
    return std::map<std::string, Pattern>{{role, large}};
  };
  const auto dominated_in = [](const char* role) {
    return std::map<std::string, Pattern>{{role, dominated}};
  };
  Cases cases{
      {"max_pool_of_equal", MaxPoolForward{pool}, 0, {}, {{"source", equal}}},
      {"global_average_pool_of_dominated",
       GlobalAveragePoolForward{image},
       tight,
       {},
       dominated_in("source")},
      {"average_pool_of_dominated", AveragePoolForward{pool}, tight, {}, dominated_in("source")},
      {"sum_channels_of_dominated",
       SumChannels{image},
       tight,
       {},
       dominated_in("diff_destination")},
      {"convolution_of_dominated", ConvolutionForward{window}, tight, {}, dominated_in("source")},
      {"convolution_of_dominated_bf16",
       ConvolutionForward{window, bf16},
       loose,
       {},
       dominated_in("source")},
      {"convolution_weights_of_dominated",
       ConvolutionBackwardWeights{window},
       tight,
       {},
       dominated_in("source")},
      {"convolution_weights_of_dominated_bf16",
       ConvolutionBackwardWeights{window, bf16},
       1e-3,
       {},
       dominated_in("source")},
      {"linear_weights_of_dominated",
       LinearBackwardWeights{{50, 64, 40}},
       tight,
       {},
       dominated_in("source")},
      {"gemm_of_dominated", Gemm{33, 21, 470}, tight, {}, dominated_in("a")},
      {"linear_of_dominated", LinearForward{{5, 640, 40}}, tight, {}, dominated_in("source")},
      {"sum_repeats_of_dominated",
       SumRepeats{1500, 3},
       tight,
       {},
       dominated_in("diff_destination")},
      {"channel_sums_of_one_equal",
       SumChannels{{1, 1, 512, 512}},
       tight,
       {},
       {{"diff_destination", equal}}},
      {"channel_sums_of_many_equal",
       SumChannels{{2, 33, 128, 64}},
       tight,
       {},
       {{"diff_destination", equal}}},
      {"mse_of_large", MseLoss{{4, 1000}, f32, 4000}, tight, {}, large_in("prediction")},
      {"mse_of_equal",
       MseLoss{{4, 10}, f32, 40},
       tight,
       {},
       {{"prediction", equal}, {"target", equal}}},
      {"squared_norm_of_large", SquaredNorm{70003}, tight, {}, large_in("source")},
      {"squared_norm_of_dominated", SquaredNorm{70001}, tight, {}, dominated_in("source")},
      {"squared_norm_of_zero", SquaredNorm{1003}, tight, {}, {{"source", zero}}},
      {"clip_factor_of_zero", ClipFactor{0.25F, 5}, tight, {}, {{"squared_norms", zero}}},
      {"clip_factor_of_large", ClipFactor{0.25F, 5}, tight, {}, large_in("squared_norms")},
      {"adam_first",
       Adam{1001, 0.01F},
       tight,
       {},
       {{"gradients", zero}, {"first_moment", zero}, {"second_moment", zero}}},
      {"adam_no_variance", Adam{1001, 0.01F}, tight, {}, {{"second_moment", zero}}},
      {"adam_of_large", Adam{1003, 0.01F}, tight, {}, large_in("gradients")},
  };
  add_activations(cases);
  add_norms(cases);
  add_softmaxes(cases);
  add_lstms(cases);
  return cases;
}

}  // namespace parbench::test
