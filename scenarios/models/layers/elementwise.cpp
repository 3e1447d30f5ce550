// Operations of layers that compute each element separately.
#include "scenarios/models/layers/elementwise.h"

#include <stdexcept>

#include "scenarios/models/network.h"

namespace parbench {
namespace {

/// Returns the addition of a row of `count` numbers to each row of the output.
AddRepeated with_row(const LayerWork& work, std::int64_t count) {
  return {.repeats = element_count(work.output) / count, .count = count, .dtype = work.dtype};
}

/// Returns the depthwise 1×1 convolution that multiplies each channel by a number; a row of numbers
/// is treated as an image of one pixel.
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

}  // namespace

OpDesc Activation::forward(const LayerWork& work) const {
  return ActivationForward{
      .shape = work.output, .dtype = work.dtype, .kind = kind_, .low = low_, .high = high_};
}

Shape Addition::output_of(const std::vector<Shape>& inputs) const {
  if (inputs.size() != 2 || inputs[0] != inputs[1]) {
    throw std::invalid_argument("an addition has two inputs of one shape");
  }
  return inputs.front();
}

OpDesc Addition::forward(const LayerWork& work) const {
  return Add{.shape = work.output, .dtype = work.dtype};
}

std::vector<ParameterSpec> LearnedPositions::parameters(const Shape& input) const {
  constexpr float deviation = 0.02F;
  return {{.name = "weight",
           .role = "addend",
           .shape = {element_count(input)},
           .initial = {.distribution = Distribution::normal, .low = 0.0F, .high = deviation}}};
}

OpDesc LearnedPositions::forward(const LayerWork& work) const {
  return with_row(work, element_count(work.output) / work.output.front());
}

OpDesc RandomDropout::forward(const LayerWork& work) const {
  return Dropout{.shape = work.output,
                 .dtype = work.dtype,
                 .probability = probability_,
                 .subsequence = subsequence_};
}

std::vector<ParameterSpec> ChannelBias::parameters(const Shape& input) const {
  const bool is_image = input.size() == 3;
  return {{.name = "bias",
           .role = role_for(is_image),
           .shape = {is_image ? input.front() : input.back()},
           .initial = constant(0.0F)}};
}

OpDesc ChannelBias::forward(const LayerWork& work) const {
  if (work.output.size() == 4) return AddChannelBias{.shape = work.output, .dtype = work.dtype};
  return with_row(work, work.output.back());
}

std::vector<ParameterSpec> ChannelScale::parameters(const Shape& input) const {
  const Shape weights = pixels_of(with_samples(1, input)).weights();
  return {{.name = "weight", .role = "weights", .shape = weights, .initial = constant(1.0F)}};
}

OpDesc ChannelScale::forward(const LayerWork& work) const {
  return ConvolutionForward{
      .shape = pixels_of(work.output), .dtype = work.dtype, .math = work.math};
}

}  // namespace parbench
