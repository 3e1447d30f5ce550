// Calls that multiply channels by numbers.
#include "scenarios/models/layers/scaling.h"

#include "scenarios/models/layers/passes.h"
#include "scenarios/models/layers/products.h"
#include "scenarios/models/network.h"

namespace parbench {
namespace {

/// Rows are stored like images of one pixel.
ConvolutionShape pixels_of(const Shape& source) {
  const bool is_image = source.size() == 4;
  const std::int64_t channels = is_image ? source[1] : source.back();
  return {.batch = is_image ? source[0] : element_count(source) / channels,
          .in_channels = channels,
          .height = is_image ? source[2] : 1,
          .width = is_image ? source[3] : 1,
          .out_channels = channels,
          .kernel = 1,
          .stride = 1,
          .padding = 0,
          .groups = channels};
}

ConvolutionForward forward(const LayerWork& work) {
  return {.shape = pixels_of(work.output), .dtype = work.dtype, .math = work.math};
}

ConvolutionBackwardData data_gradient(const LayerWork& work) {
  return {.shape = pixels_of(work.output), .dtype = work.dtype, .math = work.math};
}

ConvolutionBackwardWeights weight_gradient(const LayerWork& work, bool accumulate) {
  return {.shape = pixels_of(work.output),
          .dtype = work.dtype,
          .accumulate = accumulate,
          .math = work.math};
}

}  // namespace

std::vector<ParameterSpec> ChannelScale::parameters(const Shape& input,
                                                    const Shape& /*output*/) const {
  const Shape weights = pixels_of(with_samples(1, input)).weights();
  return {{.name = "weight", .role = "weights", .shape = weights, .initial = constant(1.0F)}};
}

std::vector<OpDesc> ChannelScale::products(const LayerWork& work, bool with_data_gradient) const {
  std::vector<OpDesc> all{forward(work)};
  if (with_data_gradient) all.emplace_back(data_gradient(work));
  all.emplace_back(weight_gradient(work, false));
  return all;
}

std::optional<OpDesc> ChannelScale::gradient_of(std::string_view /*role*/,
                                                const LayerWork& work) const {
  return weight_gradient(work, false);
}

void ChannelScale::write_forward(ForwardPass& pass) const {
  Op& op = pass.prepare(forward(pass.work()));
  pass.emit(op, {{"source", pass.input(0)},
                 {"weights", pass.parameter("weights", op.tensor("weights"))},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

void ChannelScale::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  write_product_backward(pass, pass.gradient(), weight_gradient(work, false),
                         weight_gradient(work, true), data_gradient(work), false);
}

}  // namespace parbench
