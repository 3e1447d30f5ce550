// Operators that reduce dimensions: reductions, normalisations and losses.
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/models/layers/norms.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::Axes;
using enum ElementOp;

Axes dimensions_from(std::size_t first, std::size_t rank) {
  refuse_if(first > rank, fmt::format("its input needs {} dimensions and has {}", first, rank));
  return general::axes_between(first, rank);
}

// --- reductions ---

Term summed(Term x, const Axes& axes) { return x.sum(axes); }
Term averaged(Term x, const Axes& axes) { return x.mean(axes); }
Term max_over(Term x, const Axes& axes) { return x.reduce(Reduction::maximum, axes); }
Term min_over(Term x, const Axes& axes) { return x.reduce(Reduction::minimum, axes); }
Term multiplied(Term x, const Axes& axes) { return x.reduce(Reduction::product, axes); }
Term sum_of_sizes(Term x, const Axes& axes) { return x.abs().sum(axes); }
Term sum_of_squares(Term x, const Axes& axes) { return x.squared().sum(axes); }
Term root_of_squares(Term x, const Axes& axes) { return sum_of_squares(x, axes).sqrt(); }
Term log_of_sum(Term x, const Axes& axes) { return x.sum(axes).log(); }

/// Returns the maximum rounded up, through which no gradient is propagated.
Term ceiling_of(Term x, const Axes& axes) { return max_over(x, axes).apply(ceiling); }

Term log_of_powers(Term x, const Axes& axes) {
  const Term shift = ceiling_of(x, axes);
  return log_of_sum((x - shift).exp(), axes) + shift;
}

Term log_softmax_over(Term x, const Axes& axes) { return x - log_of_powers(x, axes); }

template <Term (*formula)(Term, const Axes&)>
Outputs reduced(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Axes axes = arguments.integers("axes", 1).value_or(Axes());
  if (axes.empty() && arguments.flag("noop_with_empty_axes", false)) return {x};
  const Axes all = axes.empty() ? dimensions_from(0, x.rank()) : axes;
  const Term result = formula(x, all);
  return {arguments.flag("keepdims", true) ? result : squeezed(result, all)};
}

// --- softmax ---

bool has_joined_axes(Arguments& arguments) { return arguments.translator().opset() < 13; }

/// Applies a formula over an axis or, before operator set 13, over all dimensions from the axis on.
template <Term (*formula)(Term, const Axes&)>
Outputs over_axis(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const bool is_joined = has_joined_axes(arguments);
  const std::size_t first = arguments.axis(is_joined ? 1 : -1, x.rank());
  return {formula(x, is_joined ? dimensions_from(first, x.rank()) : Axes{signed_size(first)})};
}

/// Returns 1 at the first of the largest elements, otherwise 0.
Outputs hardmax(Arguments& arguments) {
  Term x = arguments.operand(0);
  const Extents shape = x.shape();
  const bool is_joined = has_joined_axes(arguments);
  std::size_t axis = arguments.axis(is_joined ? 1 : -1, shape.size());
  if (is_joined) {
    x = divided_at(x, axis);
    axis = 1;
  }
  const Axes axes{signed_size(axis)};
  const Term positions = x.coordinate(axis);
  const Term hit = x.equal(max_over(x, axes));
  const auto beyond = static_cast<float>(x.shape()[axis].size);
  return {positions.equal(min_over(hit.choose(positions, beyond), axes)).reshape(shape)};
}

// --- normalisations ---

/// Returns (x − mean)/sqrt(variance + epsilon) over dimensions.
Term normalised(Term x, const Axes& axes, float epsilon) {
  const Term centred = x - x.mean(axes);
  const Term variance = centred.squared().mean(axes);
  return centred / (variance + epsilon).sqrt();
}

/// Returns x/sqrt(mean(x²) + epsilon) over dimensions.
Term by_root_mean_square(Term x, const Axes& axes, float epsilon) {
  return x / (x.squared().mean(axes) + epsilon).sqrt();
}

float epsilon_of(const Arguments& arguments) { return arguments.real("epsilon", 1e-5); }

Term scaled_by_channel(Arguments& arguments, Term x) {
  const Term scaled = x * along(arguments.operand(1), 1, x.rank());
  return scaled + along(arguments.operand(2), 1, x.rank());
}

/// Appends a layer of `kind` with inputs 1 and 2 as scale and shift.
Term norm_layer(Arguments& arguments, std::shared_ptr<const LayerKind> kind, Term x) {
  const int scale = arguments.constant(1, "scales");
  return arguments.add_layer(std::move(kind), {x},
                             {{"scale", scale}, {"shift", arguments.constant(2, "shifts")}}, scale);
}

Outputs layer_norm(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Extents shape = x.shape();
  const float epsilon = epsilon_of(arguments);
  const std::size_t axis = arguments.axis(-1, shape.size());
  const auto is_row = [&](std::size_t which) {
    return arguments.is_weight(which) && arguments.shape(which) == Extents{shape.back()};
  };
  if (axis + 1 == shape.size() && shape.size() <= 3 && starts_with_samples(shape) && is_row(1) &&
      is_row(2)) {
    return {norm_layer(arguments, std::make_shared<const LayerNorm>(epsilon), x)};
  }
  const Term result = normalised(x, dimensions_from(axis, shape.size()), epsilon);
  return {arguments.plus(result * arguments.operand(1), 2)};
}

Outputs root_mean_square_norm(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Axes axes = dimensions_from(arguments.axis(-1, x.rank()), x.rank());
  return {by_root_mean_square(x, axes, epsilon_of(arguments)) * arguments.operand(1)};
}

/// Returns the sum of inputs 0 and 1, and of input `bias`, if it is not omitted.
Term skip_sum(Arguments& arguments, std::size_t bias) {
  const Term x = arguments.operand(0);
  return arguments.plus(x + arguments.operand(1), bias);
}

/// Inputs: input, skip, scale, bias of the sum. The sum is output 3.
Outputs simplified_skip_norm(Arguments& arguments) {
  const Term sum = skip_sum(arguments, 3);
  const Term result = by_root_mean_square(sum, {-1}, epsilon_of(arguments));
  return {result * arguments.operand(2), -1, -1, sum};
}

/// Inputs: input, skip, scale, shift, bias of the sum. The sum is output 3.
Outputs skip_norm(Arguments& arguments) {
  const Term sum = skip_sum(arguments, 4);
  const Term result = normalised(sum, {-1}, arguments.real("epsilon", 1e-12));
  return {arguments.plus(result * arguments.operand(2), 3), -1, -1, sum};
}

/// Uses the statistics of the batch, as in training, even if the file is for inference.
Outputs batch_norm(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Extents shape = x.shape();
  const float epsilon = epsilon_of(arguments);
  refuse_if(shape.size() < 2, "its input has no channels");
  for (std::size_t which = 1; which < arguments.count(); ++which) {
    refuse_if(arguments.shape(which) != Extents{shape[1]},
              "its parameters must have one value per channel");
  }
  if (shape.size() == 4 && starts_with_samples(shape) && arguments.is_weight(1) &&
      arguments.is_weight(2)) {
    return {norm_layer(arguments, std::make_shared<const BatchNorm>(false, epsilon), x)};
  }
  Axes axes = dimensions_from(0, shape.size());
  axes.erase(axes.begin() + 1);
  return {scaled_by_channel(arguments, normalised(x, axes, epsilon))};
}

Outputs instance_norm(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Axes axes = dimensions_from(2, x.rank());
  return {scaled_by_channel(arguments, normalised(x, axes, epsilon_of(arguments)))};
}

/// Before operator set 21, there is one scale and one shift per group, later per channel.
Outputs group_norm(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Extents shape = x.shape();
  const std::int64_t groups = arguments.integer("num_groups", 1);
  refuse_if(groups < 1 || shape.at(1).size % groups != 0, "num_groups must divide its channels");
  Extents grouped = with_dimension(shape, 1, {.size = groups});
  grouped[2] = {.size = shape[1].size / groups};
  Term result =
      normalised(x.reshape(grouped), dimensions_from(2, grouped.size()), epsilon_of(arguments));
  const bool is_by_group = general::count_of(arguments.shape(1)).size == groups;
  if (is_by_group) result = scaled_by_channel(arguments, result);
  result = result.reshape(shape);
  return {is_by_group ? result : scaled_by_channel(arguments, result)};
}

Outputs mean_variance_norm(Arguments& arguments) {
  constexpr float epsilon = 1e-9F;
  return {normalised(arguments.operand(0), arguments.integer_list("axes", {0, 2, 3}), epsilon)};
}

Outputs lp_norm(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Axes axes{arguments.integer("axis", -1)};
  const bool is_first = arguments.integer("p", 2) == 1;
  return {x / (is_first ? sum_of_sizes(x, axes) : root_of_squares(x, axes))};
}

Outputs response_norm(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Extents shape = x.shape();
  const std::int64_t size = arguments.integer("size", 1);
  const double alpha = arguments.attribute("alpha", 1e-4);
  const float beta = arguments.real("beta", 0.75);
  const float offset = arguments.real("bias", 1.0);
  if (shape.size() == 4 && starts_with_samples(shape) && size % 2 == 1) {
    const LocalResponseNorm kind(
        {.size = size, .alpha = static_cast<float>(alpha), .beta = beta, .offset = offset});
    return {arguments.add_layer(std::make_shared<const LocalResponseNorm>(kind), {x})};
  }
  refuse_if(size < 1 || size > 2 * shape.at(1).size, fmt::format("its size is {}", size));
  Extents padded = shape;
  padded[1].size += size - 1;
  Integers starts(shape.size(), 0);
  starts[1] = (size - 1) / 2;
  const Term squares = x.squared().place(starts, padded);
  Term sum = squares.part(1, 0, shape[1].size);
  for (std::int64_t i = 1; i < size; ++i) sum = sum + squares.part(1, i, shape[1].size);
  sum = sum * static_cast<float>(alpha / static_cast<double>(size)) + offset;
  return {x / sum.power(beta)};
}

/// Computes means or maxima over all pixels.
template <Term (*formula)(Term, const Axes&)>
Outputs global_pool(Arguments& arguments) {
  const Term x = arguments.operand(0);
  return {formula(x, dimensions_from(2, x.rank()))};
}

// --- losses; classes are dimension 1 of the prediction ---

/// Returns the loss. `log_probabilities`: {N, classes, …}; inputs 1 and 2 are targets {N, …} and
/// weights {classes}.
Term likelihood_loss(Arguments& arguments, Term log_probabilities) {
  const Extents shape = log_probabilities.shape();
  refuse_if(shape.size() < 2, "its input has no classes");
  const Term targets = arguments.operand(1);
  const Extents of_targets = targets.shape();
  refuse_if(of_targets.size() + 1 != shape.size(),
            "the shape of its targets does not match its prediction");
  const Term expected = targets.reshape(with_dimension(of_targets, 1));
  Term is_counted = log_probabilities.coordinate(1).equal(expected);
  if (arguments.has_attribute("ignore_index")) {
    const auto ignored = static_cast<float>(arguments.integer("ignore_index", 0));
    is_counted = expected.equal(ignored).choose(0.0F, is_counted);
  }
  Term weights = is_counted;
  if (arguments.has(2)) weights = is_counted * along(arguments.operand(2), 1, shape.size());
  // Log probabilities of other classes may be infinite, and their product with 0 NaN.
  const Term terms = -(weights * is_counted.choose(log_probabilities, 0.0F));
  const std::string reduction = arguments.text("reduction", "mean");
  arguments.set_type(ElementType::floating);
  if (reduction == "none") return terms.sum({1}).reshape(of_targets);
  const Term sum = terms.sum({}).reshape({});
  return reduction == "sum" ? sum : sum / weights.sum({}).reshape({});
}

Outputs negative_log_likelihood(Arguments& arguments) {
  return {likelihood_loss(arguments, arguments.operand(0))};
}

Outputs softmax_cross_entropy(Arguments& arguments) {
  const Term logs = log_softmax_over(arguments.operand(0), {1});
  return {likelihood_loss(arguments, logs), logs};
}

}  // namespace

Term softmax_over(Term x, const Axes& axes) {
  const Term powers = (x - ceiling_of(x, axes)).exp();
  return powers / powers.sum(axes);
}

OperatorTable reduction_operators() {
  return {{"BatchNormalization", batch_norm},
          {"GlobalAveragePool", global_pool<averaged>},
          {"GlobalMaxPool", global_pool<max_over>},
          {"GroupNormalization", group_norm},
          {"Hardmax", hardmax},
          {"InstanceNormalization", instance_norm},
          {"LRN", response_norm},
          {"LayerNormalization", layer_norm},
          {"LogSoftmax", over_axis<log_softmax_over>},
          {"LpNormalization", lp_norm},
          {"MeanVarianceNormalization", mean_variance_norm},
          {"NegativeLogLikelihoodLoss", negative_log_likelihood},
          {"RMSNormalization", root_mean_square_norm},
          {"ReduceL1", reduced<sum_of_sizes>},
          {"ReduceL2", reduced<root_of_squares>},
          {"ReduceLogSum", reduced<log_of_sum>},
          {"ReduceLogSumExp", reduced<log_of_powers>},
          {"ReduceMax", reduced<max_over>},
          {"ReduceMean", reduced<averaged>},
          {"ReduceMin", reduced<min_over>},
          {"ReduceProd", reduced<multiplied>},
          {"ReduceSum", reduced<summed>},
          {"ReduceSumSquare", reduced<sum_of_squares>},
          {"SimplifiedLayerNormalization", root_mean_square_norm},
          {"Softmax", over_axis<softmax_over>},
          {"SoftmaxCrossEntropyLoss", softmax_cross_entropy},
          {"com.microsoft.SimplifiedLayerNormalization", root_mean_square_norm},
          {"com.microsoft.SkipLayerNormalization", skip_norm},
          {"com.microsoft.SkipSimplifiedLayerNormalization", simplified_skip_norm}};
}

}  // namespace parbench::onnx_import
