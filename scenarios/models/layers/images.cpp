// Shapes and operations of layers of images.
#include "scenarios/models/layers/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace parbench {
namespace {

/// Returns the pooling of an input of shape `source`, which includes the samples.
PoolingShape shape_of(const Window& window, const Shape& source) {
  return {.source = source,
          .kernel = window.kernel,
          .stride = window.stride,
          .padding = window.padding,
          .trailing = window.trailing};
}

Shape pooled(const Window& window, const Shape& image) {
  if (window.dilation != 1) throw std::invalid_argument("a pooling has no dilation");
  const bool fits = window.trailing == 0 ? 2 * window.padding <= window.kernel
                                         : window.padding + window.trailing < window.kernel;
  if (!fits) {
    throw std::invalid_argument(fmt::format("padding of {} and {} could fill a window of {}",
                                            window.padding, window.padding + window.trailing,
                                            window.kernel));
  }
  return window.output(image.at(0), image);
}

/// Returns the extent after padding at both ends. Throws std::invalid_argument if negative padding
/// leaves nothing of the image, and for padding of more than 2^20.
std::int64_t padded(std::int64_t extent, std::int64_t before, std::int64_t after) {
  constexpr std::int64_t max = 1 << 20;
  if (std::max({before, after, -before, -after}) > max) {
    throw std::invalid_argument("its padding is larger than any image");
  }
  const std::int64_t left =
      extent + std::min<std::int64_t>(before, 0) + std::min<std::int64_t>(after, 0);
  if (left < 1) throw std::invalid_argument("its padding leaves nothing of the image");
  return extent + before + after;
}

/// Returns the channels of a concatenation that come from the input `which`.
ChannelRange range_of(const LayerWork& work, std::size_t which) {
  ChannelRange range{.whole = work.output, .first = 0, .count = work.inputs.at(which).at(1)};
  for (std::size_t i = 0; i < which; ++i) range.first += work.inputs.at(i).at(1);
  return range;
}

}  // namespace

void require_image(const Shape& sample) {
  if (sample.size() == 3) return;
  throw std::invalid_argument(
      fmt::format("an image has 3 dimensions, not the {} of {}", sample.size(), to_string(sample)));
}

std::int64_t Window::positions(std::int64_t image) const {
  const std::int64_t room = image + 2 * padding + trailing - extent();
  if (room < 0) {
    throw std::invalid_argument(
        fmt::format("an extent of {} is too small for a window of {}", image, extent()));
  }
  return room / stride + 1;
}

Shape Window::output(std::int64_t channels, const Shape& image) const {
  require_image(image);
  return {channels, positions(image[1]), positions(image[2])};
}

Shape MaxPool::output_of(const std::vector<Shape>& inputs) const {
  return pooled(window_, inputs.at(0));
}

OpDesc MaxPool::forward(const LayerWork& work) const {
  return MaxPoolForward{.shape = shape_of(window_, work.inputs.at(0)), .dtype = work.dtype};
}

Shape AveragePool::output_of(const std::vector<Shape>& inputs) const {
  return pooled(window_, inputs.at(0));
}

OpDesc AveragePool::forward(const LayerWork& work) const {
  return AveragePoolForward{.shape = shape_of(window_, work.inputs.at(0)),
                            .dtype = work.dtype,
                            .count_padding = count_padding_};
}

OpDesc GlobalAveragePool::forward(const LayerWork& work) const {
  return GlobalAveragePoolForward{.source = work.inputs.at(0), .dtype = work.dtype};
}

Shape Padding::output_of(const std::vector<Shape>& inputs) const {
  const Shape& image = inputs.at(0);
  require_image(image);
  return {image[0], padded(image[1], edges_.top, edges_.bottom),
          padded(image[2], edges_.left, edges_.right)};
}

OpDesc Padding::forward(const LayerWork& work) const {
  return PadImage{.source = work.inputs.at(0), .edges = edges_, .dtype = work.dtype};
}

Shape ChannelShuffle::output_of(const std::vector<Shape>& inputs) const {
  const Shape& image = inputs.at(0);
  if (image.size() != 3 || groups_ < 1 || image[0] % groups_ != 0) {
    throw std::invalid_argument(
        fmt::format("{} groups do not divide the channels of {}", groups_, to_string(image)));
  }
  return image;
}

OpDesc ChannelShuffle::forward(const LayerWork& work) const {
  return ShuffleChannels{.shape = work.output, .groups = groups_, .dtype = work.dtype};
}

Shape Concatenation::output_of(const std::vector<Shape>& inputs) const {
  if (inputs.empty()) throw std::invalid_argument("a concatenation needs at least one input");
  Shape output = inputs.front();
  output.at(0) = 0;
  for (const Shape& image : inputs) {
    if (image.size() != 3 || image[1] != output.at(1) || image[2] != output.at(2)) {
      throw std::invalid_argument(
          fmt::format("a concatenation needs images of one height and width, not {} and {}",
                      to_string(inputs.front()), to_string(image)));
    }
    output[0] += image[0];
  }
  return output;
}

void Concatenation::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  const SymbolicView output = pass.place_output(pass.activation(work.output).bytes);
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

ChannelRange ChannelSlice::range(const LayerWork& work) const {
  return {.whole = work.inputs.at(0), .first = first_, .count = count_};
}

void ChannelSlice::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(SliceChannels{.range = range(work), .dtype = work.dtype});
  pass.emit(op, {{"source", pass.input(0)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

/// The gradient of the channels outside of the slice is zero.
void ChannelSlice::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  const Gradient incoming = pass.gradient();
  if (!pass.is_wanted(0)) return pass.release(incoming);
  Op& insert = pass.prepare(InsertChannels{.range = range(work), .dtype = work.dtype});
  const Gradient result = pass.make(0, insert.tensor("destination").bytes);
  Op& fill = pass.prepare(Fill{.count = element_count(work.inputs.at(0)),
                               .dtype = work.dtype,
                               .distribution = Distribution::constant,
                               .low = 0.0F});
  pass.emit(fill, {{"destination", result.view}});
  pass.emit(insert, {{"source", incoming.view}, {"destination", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

/// A row contains an image in the order of a canonical tensor, so flattening is a change of layout.
void Flatten::write_forward(ForwardPass& pass) const {
  const Shape& image = pass.work().inputs.at(0);
  const TensorDesc rows = canonical(image, pass.work().dtype);
  Op& op = pass.prepare(Reorder{.source = pass.activation(image), .destination = rows});
  pass.emit(op, {{"source", pass.input(0)}, {"destination", pass.place_output(rows.bytes)}});
}

void Flatten::write_backward(BackwardPass& pass) const {
  const Shape& image = pass.work().inputs.at(0);
  const TensorDesc images = pass.activation(image);
  Op& op =
      pass.prepare(Reorder{.source = canonical(image, pass.work().dtype), .destination = images});
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.make(0, images.bytes);
  pass.emit(op, {{"source", incoming.view}, {"destination", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
