// Naive loops of the operations that only images have.
#include <algorithm>
#include <cmath>

#include "tests/kernels/ops/naive_parts.h"

namespace parbench::test {
namespace {

/// Calls f(source index, destination index, divisor) for every element of every window.
template <class Function>
void for_each_in_window(const PoolingShape& s, bool count_padding, const Function& f) {
  const Shape d = s.destination();
  for (std::int64_t plane = 0; plane < d[0] * d[1]; ++plane)
    for (std::int64_t y = 0; y < d[2]; ++y)
      for (std::int64_t x = 0; x < d[3]; ++x) {
        std::vector<std::size_t> inside;
        for (std::int64_t ky = 0; ky < s.kernel; ++ky)
          for (std::int64_t kx = 0; kx < s.kernel; ++kx) {
            const std::int64_t row = y * s.stride - s.padding + ky;
            const std::int64_t column = x * s.stride - s.padding + kx;
            if (row < 0 || row >= s.source[2] || column < 0 || column >= s.source[3]) continue;
            inside.push_back(size((plane * s.source[2] + row) * s.source[3] + column));
          }
        const auto divisor = count_padding ? static_cast<double>(s.kernel * s.kernel)
                                           : static_cast<double>(inside.size());
        for (const std::size_t index : inside) {
          f(index, size((plane * d[2] + y) * d[3] + x), divisor);
        }
      }
}

/// What the elements of a local response normalisation are raised to a power of.
template <class Desc>
Values bases_of(const Desc& desc, const Values& source) {
  const std::int64_t channels = desc.shape[1];
  const std::int64_t pixels = desc.shape[2] * desc.shape[3];
  Values bases(source.size(), double{desc.offset});
  for (std::int64_t i = 0; i < element_count(desc.shape); ++i) {
    const std::int64_t channel = i / pixels % channels;
    for (std::int64_t off = -(desc.size / 2); off <= desc.size / 2; ++off) {
      if (channel + off < 0 || channel + off >= channels) continue;
      const double value = source[size(i + off * pixels)];
      bases[size(i)] += double{desc.alpha} / static_cast<double>(desc.size) * value * value;
    }
  }
  return bases;
}

/// Calls f(index in the whole, index in the part) for the elements of a range of channels.
template <class Function>
void for_each_in_range(const ChannelRange& range, const Function& f) {
  const std::int64_t pixels = range.whole[2] * range.whole[3];
  for (std::int64_t n = 0; n < range.whole[0]; ++n)
    for (std::int64_t c = 0; c < range.count; ++c)
      for (std::int64_t p = 0; p < pixels; ++p) {
        f(size((n * range.whole[1] + range.first + c) * pixels + p),
          size((n * range.count + c) * pixels + p));
      }
}

/// Of an element of an image.
std::size_t channel_of(const Shape& image, std::size_t element) {
  return element / size(image[2] * image[3]) % size(image[1]);
}

}  // namespace

Tensors compute(const AveragePoolForward& desc, const Tensors& inputs) {
  Values destination(size(desc.shape.destination()), 0.0);
  for_each_in_window(desc.shape, desc.count_padding,
                     [&](std::size_t from, std::size_t to, double divisor) {
                       destination[to] += in(inputs, "source")[from] / divisor;
                     });
  return {{"destination", destination}};
}

Tensors compute(const AveragePoolBackward& desc, const Tensors& inputs) {
  Values diff_source(size(desc.shape.source), 0.0);
  for_each_in_window(desc.shape, desc.count_padding,
                     [&](std::size_t from, std::size_t to, double divisor) {
                       diff_source[from] += in(inputs, "diff_destination")[to] / divisor;
                     });
  return {{"diff_source", diff_source}};
}

Tensors compute(const LocalResponseNormForward& desc, const Tensors& inputs) {
  Values destination = in(inputs, "source");
  const Values bases = bases_of(desc, destination);
  for (std::size_t i = 0; i < destination.size(); ++i) {
    destination[i] *= std::pow(bases[i], -double{desc.beta});
  }
  return {{"destination", destination}};
}

Tensors compute(const LocalResponseNormBackward& desc, const Tensors& inputs) {
  const Values& source = in(inputs, "source");
  const Values& gradient = in(inputs, "diff_destination");
  const Values bases = bases_of(desc, source);
  const std::int64_t channels = desc.shape[1];
  const std::int64_t pixels = desc.shape[2] * desc.shape[3];
  const double factor = 2 * double{desc.alpha} * double{desc.beta} / static_cast<double>(desc.size);
  Values diff_source(source.size());
  for (std::int64_t i = 0; i < element_count(desc.shape); ++i) {
    const std::int64_t channel = i / pixels % channels;
    double sum = 0;
    for (std::int64_t off = -(desc.size / 2); off <= desc.size / 2; ++off) {
      if (channel + off < 0 || channel + off >= channels) continue;
      const std::size_t j = size(i + off * pixels);
      sum += gradient[j] * source[j] * std::pow(bases[j], -double{desc.beta} - 1);
    }
    diff_source[size(i)] = gradient[size(i)] * std::pow(bases[size(i)], -double{desc.beta}) -
                           factor * source[size(i)] * sum;
  }
  return {{"diff_source", diff_source}};
}

Tensors compute(const SliceChannels& desc, const Tensors& inputs) {
  Values destination(size(desc.range.part()));
  for_each_in_range(desc.range, [&](std::size_t whole, std::size_t part) {
    destination[part] = in(inputs, "source")[whole];
  });
  return {{"destination", destination}};
}

Tensors compute(const InsertChannels& desc, const Tensors& inputs) {
  Values destination = in(inputs, "destination");
  for_each_in_range(desc.range, [&](std::size_t whole, std::size_t part) {
    destination[whole] = in(inputs, "source")[part];
  });
  return {{"destination", destination}};
}

Tensors compute(const ShuffleChannels& desc, const Tensors& inputs) {
  const std::size_t channels = size(desc.shape[1]);
  const std::size_t pixels = size(desc.shape[2] * desc.shape[3]);
  const std::size_t groups = size(desc.groups);
  Values destination(size(desc.shape));
  for (std::size_t i = 0; i < destination.size(); ++i) {
    const std::size_t sample = i / pixels / channels;
    const std::size_t channel = i / pixels % channels;
    const std::size_t from = channel % groups * (channels / groups) + channel / groups;
    destination[i] = in(inputs, "source")[(sample * channels + from) * pixels + i % pixels];
  }
  return {{"destination", destination}};
}

Tensors compute(const AddChannelBias& desc, const Tensors& inputs) {
  Values destination = in(inputs, "source");
  for (std::size_t i = 0; i < destination.size(); ++i) {
    destination[i] += in(inputs, "bias")[channel_of(desc.shape, i)];
  }
  return {{"destination", destination}};
}

Tensors compute(const SumChannels& desc, const Tensors& inputs) {
  Values sums = start(inputs, "diff_bias", size(desc.shape[1]), desc.accumulate);
  const Values& gradient = in(inputs, "diff_destination");
  for (std::size_t i = 0; i < gradient.size(); ++i) sums[channel_of(desc.shape, i)] += gradient[i];
  return {{"diff_bias", sums}};
}

Tensors compute(const PadImage& desc, const Tensors& inputs) {
  const Shape from = desc.source;
  const Shape to = desc.destination();
  Values destination(size(to), 0.0);
  for (std::int64_t i = 0; i < element_count(to); ++i) {
    const std::int64_t x = i % to[3] - desc.edges.left;
    const std::int64_t y = i / to[3] % to[2] - desc.edges.top;
    const std::int64_t plane = i / to[3] / to[2];
    if (x < 0 || x >= from[3] || y < 0 || y >= from[2]) continue;
    destination[size(i)] = in(inputs, "source")[size((plane * from[2] + y) * from[3] + x)];
  }
  return {{"destination", destination}};
}

}  // namespace parbench::test
