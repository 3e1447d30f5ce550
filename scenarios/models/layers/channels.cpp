// Calls of layers that move channels of images; a concatenation has a call per input.
#include "scenarios/models/layers/channels.h"

#include <fmt/format.h>

#include <stdexcept>

#include "scenarios/models/layers/passes.h"

namespace parbench {
namespace {

/// Returns the channels of a concatenation that come from an input.
ChannelRange range_of(const LayerWork& work, std::size_t which) {
  ChannelRange range{.whole = work.output, .first = 0, .count = work.inputs.at(which).at(1)};
  for (std::size_t i = 0; i < which; ++i) range.first += work.inputs.at(i).at(1);
  return range;
}

}  // namespace

Shape Concatenation::output_of(const std::vector<Shape>& inputs) const {
  if (inputs.empty()) throw std::invalid_argument("a concatenation has inputs");
  Shape output = inputs.front();
  output.at(0) = 0;
  for (const Shape& image : inputs) {
    if (image.size() != 3 || image[1] != output.at(1) || image[2] != output.at(2)) {
      throw std::invalid_argument(
          fmt::format("a concatenation has images of one height and width, not {} and {}",
                      to_string(inputs.front()), to_string(image)));
    }
    output[0] += image[0];
  }
  return output;
}

void Concatenation::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  const BufferView output = pass.place_output(pass.activation(work.output).bytes);
  for (std::size_t which = 0; which < work.inputs.size(); ++which) {
    Op& op = pass.prepare(InsertChannels{.range = range_of(work, which), .dtype = work.dtype});
    pass.emit(op, {{"source", pass.input(which)}, {"destination", output}});
  }
}

void Concatenation::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  const Gradient incoming = pass.gradient();
  for (std::size_t which = 0; which < work.inputs.size(); ++which) {
    if (!pass.is_wanted(which)) continue;
    Op& op = pass.prepare(SliceChannels{.range = range_of(work, which), .dtype = work.dtype});
    const Gradient result = pass.make(which, op.tensor("destination").bytes);
    pass.emit(op, {{"source", incoming.view}, {"destination", result.view}});
    pass.contribute(which, result);
  }
  pass.release(incoming);
}

Shape ChannelSlice::output_of(const std::vector<Shape>& inputs) const {
  const Shape& image = inputs.at(0);
  if (image.size() != 3 || first_ < 0 || count_ < 1 || first_ > image[0] ||
      count_ > image[0] - first_) {
    throw std::invalid_argument(
        fmt::format("{} channels from {} on are not in {}", count_, first_, to_string(image)));
  }
  return {count_, image[1], image[2]};
}

void ChannelSlice::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(
      SliceChannels{.range = {.whole = work.inputs.at(0), .first = first_, .count = count_},
                    .dtype = work.dtype});
  pass.emit(op, {{"source", pass.input(0)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

/// The gradient of the other channels is zero.
void ChannelSlice::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  const Shape& whole = work.inputs.at(0);
  const Gradient incoming = pass.gradient();
  if (!pass.is_wanted(0)) return pass.release(incoming);
  Op& insert = pass.prepare(InsertChannels{
      .range = {.whole = whole, .first = first_, .count = count_}, .dtype = work.dtype});
  const Gradient result = pass.make(0, insert.tensor("destination").bytes);
  Op& fill = pass.prepare(Fill{.count = element_count(whole),
                               .dtype = work.dtype,
                               .distribution = Distribution::constant,
                               .low = 0.0F});
  pass.emit(fill, {{"destination", result.view}});
  pass.emit(insert, {{"source", incoming.view}, {"destination", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

Shape ChannelShuffle::output_of(const std::vector<Shape>& inputs) const {
  const Shape& image = inputs.at(0);
  if (image.size() != 3 || groups_ < 1 || image[0] % groups_ != 0) {
    throw std::invalid_argument(
        fmt::format("{} groups do not divide the channels of {}", groups_, to_string(image)));
  }
  return image;
}

void ChannelShuffle::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op =
      pass.prepare(ShuffleChannels{.shape = work.output, .groups = groups_, .dtype = work.dtype});
  pass.emit(op, {{"source", pass.input(0)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

void ChannelShuffle::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(ShuffleChannels{
      .shape = work.output, .groups = work.output.at(1) / groups_, .dtype = work.dtype});
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.make(0, op.tensor("destination").bytes);
  pass.emit(op, {{"source", incoming.view}, {"destination", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
