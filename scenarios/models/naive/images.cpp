// Loops that follow the definitions of layers of images.
#include "scenarios/models/naive/images.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/norms.h"

namespace parbench::naive {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Returns, for each window, the result of `reduce` on the elements of the image that the window
/// covers.
template <class Reduce>
Values over_windows(const Values& in, const Shape& from, const Shape& to, const Window& window,
                    std::int64_t samples, Reduce reduce) {
  Values out;
  Values read;
  for (std::int64_t plane = 0; plane < samples * to[0]; ++plane)
    for (std::int64_t y = 0; y < to[1]; ++y)
      for (std::int64_t x = 0; x < to[2]; ++x) {
        read.clear();
        for (std::int64_t ky = 0; ky < window.kernel; ++ky)
          for (std::int64_t kx = 0; kx < window.kernel; ++kx) {
            const std::int64_t row = y * window.stride + ky - window.padding;
            const std::int64_t column = x * window.stride + kx - window.padding;
            if (row < 0 || row >= from[1] || column < 0 || column >= from[2]) continue;
            read.push_back(in[at((plane * from[1] + row) * from[2] + column)]);
          }
        out.push_back(reduce(read));
      }
  return out;
}

Values normalised_responses(const Values& in, const Shape& image,
                            const LocalResponseNorm::Options& options, std::int64_t samples) {
  const std::int64_t pixels = image[1] * image[2];
  Values out(in.size());
  for (std::int64_t i = 0; i < samples * image[0] * pixels; ++i) {
    const std::int64_t channel = i / pixels % image[0];
    double squares = 0;
    for (std::int64_t off = -(options.size / 2); off <= options.size / 2; ++off) {
      if (channel + off < 0 || channel + off >= image[0]) continue;
      squares += std::pow(in[at(i + off * pixels)], 2);
    }
    const double base = double{options.offset} +
                        double{options.alpha} / static_cast<double>(options.size) * squares;
    out[at(i)] = in[at(i)] * std::pow(base, -double{options.beta});
  }
  return out;
}

/// Returns, for each sample, the channels of all inputs one after the other.
Values concatenated(const std::vector<Values>& inputs, std::int64_t samples) {
  Values out;
  for (std::int64_t n = 0; n < samples; ++n) {
    for (const Values& in : inputs) {
      const auto values = static_cast<std::ptrdiff_t>(in.size()) / samples;
      out.insert(out.end(), in.begin() + n * values, in.begin() + (n + 1) * values);
    }
  }
  return out;
}

/// Transposes {groups, channels per group} in each sample.
Values shuffled(const Values& in, const Shape& image, std::int64_t groups, std::int64_t samples) {
  const std::int64_t pixels = image[1] * image[2];
  Values out;
  for (std::int64_t n = 0; n < samples; ++n)
    for (std::int64_t j = 0; j < image[0] / groups; ++j)
      for (std::int64_t group = 0; group < groups; ++group)
        for (std::int64_t p = 0; p < pixels; ++p) {
          const std::int64_t channel = group * (image[0] / groups) + j;
          out.push_back(in[at((n * image[0] + channel) * pixels + p)]);
        }
  return out;
}

Values sliced(const Values& in, const Shape& image, const ChannelSlice& slice,
              std::int64_t samples) {
  const std::int64_t pixels = image[1] * image[2];
  Values out;
  for (std::int64_t n = 0; n < samples; ++n)
    for (std::int64_t i = 0; i < slice.count() * pixels; ++i) {
      out.push_back(in[at((n * image[0] + slice.first()) * pixels + i)]);
    }
  return out;
}

Values padded(const Values& in, const Shape& from, const Shape& to, const Edges& edges,
              std::int64_t samples) {
  Values out;
  for (std::int64_t plane = 0; plane < samples * to[0]; ++plane)
    for (std::int64_t y = -edges.top; y < from[1] + edges.bottom; ++y)
      for (std::int64_t x = -edges.left; x < from[2] + edges.right; ++x) {
        const bool inside = y >= 0 && y < from[1] && x >= 0 && x < from[2];
        out.push_back(inside ? in[at((plane * from[1] + y) * from[2] + x)] : 0.0);
      }
  return out;
}

/// Returns a transposed convolution: the sum of the bias and, at the window of each input element,
/// the element times the weights.
Values transposed_convolution(const Values& in, const Shape& from, const Shape& to,
                              const TransposedConvolution::Options& options, const Values& weights,
                              const Values& bias, std::int64_t samples) {
  const Window& window = options.window;
  const std::int64_t outputs = to[0] / options.groups;  // output channels per group
  Values out(at(samples * element_count(to)));
  for (std::size_t i = 0; i < out.size() && !bias.empty(); ++i) {
    out[i] = bias[i / at(to[1] * to[2]) % at(to[0])];
  }
  for (std::int64_t i = 0; i < samples * element_count(from); ++i) {
    const std::int64_t x = i % from[2];
    const std::int64_t y = i / from[2] % from[1];
    const std::int64_t c = i / from[2] / from[1] % from[0];
    const std::int64_t n = i / element_count(from);
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t ky = 0; ky < window.kernel; ++ky)
        for (std::int64_t kx = 0; kx < window.kernel; ++kx) {
          const std::int64_t row = y * window.stride + ky * window.dilation - window.padding;
          const std::int64_t column = x * window.stride + kx * window.dilation - window.padding;
          if (row < 0 || row >= to[1] || column < 0 || column >= to[2]) continue;
          const std::int64_t channel = c / (from[0] / options.groups) * outputs + o;
          out[at(((n * to[0] + channel) * to[1] + row) * to[2] + column)] +=
              in[at(i)] *
              weights[at(((c * outputs + o) * window.kernel + ky) * window.kernel + kx)];
        }
  }
  return out;
}

}  // namespace

std::optional<Values> output_of_images(const Layer& layer, const Shape& source, const Input& input,
                                       const Parameter& parameter, std::int64_t samples) {
  if (const auto* pool = as<AveragePool>(layer)) {
    const Window& window = pool->window();
    return over_windows(input(0), source, layer.output, window, samples, [&](const Values& read) {
      const double sum = std::accumulate(read.begin(), read.end(), 0.0);
      const std::int64_t all = window.kernel * window.kernel;
      return sum / static_cast<double>(pool->counts_padding() ? at(all) : read.size());
    });
  }
  if (const auto* pool = as<MaxPool>(layer)) {
    constexpr double lowest = -std::numeric_limits<double>::infinity();
    return over_windows(input(0), source, layer.output, pool->window(), samples,
                        [](const Values& read) {
                          return std::accumulate(read.begin(), read.end(), lowest,
                                                 [](double a, double b) { return std::max(a, b); });
                        });
  }
  if (const auto* norm = as<LocalResponseNorm>(layer)) {
    return normalised_responses(input(0), source, norm->options(), samples);
  }
  if (as<Concatenation>(layer) != nullptr) {
    std::vector<Values> inputs;
    for (std::size_t which = 0; which < layer.inputs.size(); ++which)
      inputs.push_back(input(which));
    return concatenated(inputs, samples);
  }
  if (const auto* shuffle = as<ChannelShuffle>(layer)) {
    return shuffled(input(0), source, shuffle->groups(), samples);
  }
  if (const auto* transposed = as<TransposedConvolution>(layer)) {
    return transposed_convolution(
        input(0), source, layer.output, transposed->options(), parameter(".weight"),
        transposed->options().bias ? parameter(".bias") : Values(), samples);
  }
  if (const auto* slice = as<ChannelSlice>(layer)) {
    return sliced(input(0), source, *slice, samples);
  }
  if (const auto* padding = as<Padding>(layer)) {
    return padded(input(0), source, layer.output, padding->edges(), samples);
  }
  return std::nullopt;
}

}  // namespace parbench::naive
