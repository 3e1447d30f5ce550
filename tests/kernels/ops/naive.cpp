// The expected values of the conformance suite; clarity before speed.
#include "tests/kernels/ops/naive.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <variant>

#include "kernels/base/random.h"
#include "tests/kernels/ops/naive_language.h"
#include "tests/kernels/ops/naive_parts.h"

namespace parbench::test {
namespace {

/// Visits every product of a convolution: calls f(source index, weight index, destination index).
template <class Function>
void for_each_product(const ConvolutionShape& s, const Function& f) {
  const std::int64_t group_in = s.in_channels / s.groups;
  const std::int64_t group_out = s.out_channels / s.groups;
  const Shape d = s.destination();
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t o = 0; o < s.out_channels; ++o)
      for (std::int64_t y = 0; y < d[2]; ++y)
        for (std::int64_t x = 0; x < d[3]; ++x)
          for (std::int64_t c = 0; c < group_in; ++c)
            for (std::int64_t ky = 0; ky < s.kernel; ++ky)
              for (std::int64_t kx = 0; kx < s.kernel; ++kx) {
                const std::int64_t row = y * s.stride - s.padding + ky * s.dilation;
                const std::int64_t column = x * s.stride - s.padding + kx * s.dilation;
                if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
                const std::int64_t channel = o / group_out * group_in + c;
                f(size(((n * s.in_channels + channel) * s.height + row) * s.width + column),
                  size(((o * group_in + c) * s.kernel + ky) * s.kernel + kx),
                  size(((n * d[1] + o) * d[2] + y) * d[3] + x));
              }
}

/// The channel of each element of a tensor {N, C, …}.
std::size_t channel_of(const Shape& shape, std::size_t index) {
  const std::size_t pixels = size(shape) / size(shape[0] * shape[1]);
  return index / pixels % size(shape[1]);
}

Tensors compute(const ConvolutionForward& desc, const Tensors& inputs) {
  const Shape shape = desc.shape.destination();
  Values destination(size(shape), 0.0);
  if (desc.bias) {
    for (std::size_t i = 0; i < destination.size(); ++i) {
      destination[i] = in(inputs, "bias")[channel_of(shape, i)];
    }
  }
  const Values& source = in(inputs, "source");
  const Values& weights = in(inputs, "weights");
  for_each_product(desc.shape, [&](std::size_t s, std::size_t w, std::size_t d) {
    destination[d] += source[s] * weights[w];
  });
  if (desc.relu) {
    for (double& value : destination) value = std::max(value, 0.0);
  }
  return {{"destination", destination}};
}

Tensors compute(const ConvolutionBackwardData& desc, const Tensors& inputs) {
  Values diff_source(size(desc.shape.source()), 0.0);
  const Values& diff_destination = in(inputs, "diff_destination");
  const Values& weights = in(inputs, "weights");
  for_each_product(desc.shape, [&](std::size_t s, std::size_t w, std::size_t d) {
    diff_source[s] += diff_destination[d] * weights[w];
  });
  return {{"diff_source", diff_source}};
}

Tensors compute(const ConvolutionBackwardWeights& desc, const Tensors& inputs) {
  Values diff_weights = start(inputs, "diff_weights", size(desc.shape.weights()), desc.accumulate);
  const Values& diff_destination = in(inputs, "diff_destination");
  const Values& source = in(inputs, "source");
  for_each_product(desc.shape, [&](std::size_t s, std::size_t w, std::size_t d) {
    diff_weights[w] += diff_destination[d] * source[s];
  });
  Tensors outputs{{"diff_weights", diff_weights}};
  if (!desc.bias) return outputs;
  Values diff_bias = start(inputs, "diff_bias", size(desc.shape.out_channels), desc.accumulate);
  for (std::size_t i = 0; i < diff_destination.size(); ++i) {
    diff_bias[channel_of(desc.shape.destination(), i)] += diff_destination[i];
  }
  outputs["diff_bias"] = diff_bias;
  return outputs;
}

struct Moments {
  Values mean;
  Values variance;  // biased
  double count = 0;
};

Moments moments_of(const Shape& shape, const Values& source) {
  const std::size_t channels = size(shape[1]);
  Moments moments{Values(channels, 0.0), Values(channels, 0.0),
                  static_cast<double>(source.size()) / static_cast<double>(channels)};
  for (std::size_t i = 0; i < source.size(); ++i) {
    moments.mean[channel_of(shape, i)] += source[i] / moments.count;
  }
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t c = channel_of(shape, i);
    moments.variance[c] += std::pow(source[i] - moments.mean[c], 2) / moments.count;
  }
  return moments;
}

Tensors compute(const BatchNormForward& desc, const Tensors& inputs) {
  const Values& source = in(inputs, "source");
  const Moments moments = moments_of(desc.shape, source);
  Values destination(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t c = channel_of(desc.shape, i);
    const double deviation = std::sqrt(moments.variance[c] + double{desc.epsilon});
    destination[i] =
        in(inputs, "scale")[c] * (source[i] - moments.mean[c]) / deviation + in(inputs, "shift")[c];
    if (desc.add) destination[i] += in(inputs, "addend")[i];
    if (desc.relu) destination[i] = std::max(destination[i], 0.0);
  }
  Values running_mean = in(inputs, "running_mean");
  Values running_variance = in(inputs, "running_variance");
  const double momentum = double{desc.momentum};
  for (std::size_t c = 0; c < running_mean.size(); ++c) {
    const double unbiased = moments.variance[c] * moments.count / (moments.count - 1);
    running_mean[c] = (1 - momentum) * running_mean[c] + momentum * moments.mean[c];
    running_variance[c] = (1 - momentum) * running_variance[c] + momentum * unbiased;
  }
  return {{"destination", destination},
          {"mean", moments.mean},
          {"variance", moments.variance},
          {"running_mean", running_mean},
          {"running_variance", running_variance}};
}

Tensors compute(const BatchNormBackward& desc, const Tensors& inputs) {
  const Values& source = in(inputs, "source");
  const Moments moments = moments_of(desc.shape, source);
  const std::size_t channels = moments.mean.size();
  Values gradient = in(inputs, "diff_destination");
  Values normalised(source.size());
  Values sum(channels, 0.0);
  Values product(channels, 0.0);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t c = channel_of(desc.shape, i);
    const double deviation = std::sqrt(moments.variance[c] + double{desc.epsilon});
    normalised[i] = (source[i] - moments.mean[c]) / deviation;
    const double y = in(inputs, "scale")[c] * normalised[i] + in(inputs, "shift")[c];
    if (desc.relu && !(y > 0)) gradient[i] = 0;
    sum[c] += gradient[i];
    product[c] += gradient[i] * normalised[i];
  }
  Values diff_source(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t c = channel_of(desc.shape, i);
    const double deviation = std::sqrt(moments.variance[c] + double{desc.epsilon});
    diff_source[i] = in(inputs, "scale")[c] / deviation *
                     (gradient[i] - (sum[c] + normalised[i] * product[c]) / moments.count);
  }
  Values diff_scale = start(inputs, "diff_scale", channels, desc.accumulate);
  Values diff_shift = start(inputs, "diff_shift", channels, desc.accumulate);
  for (std::size_t c = 0; c < channels; ++c) {
    diff_scale[c] += product[c];
    diff_shift[c] += sum[c];
  }
  return {{"diff_source", diff_source}, {"diff_scale", diff_scale}, {"diff_shift", diff_shift}};
}

Tensors compute(const Add& /*desc*/, const Tensors& inputs) {
  Values result = in(inputs, "a");
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += in(inputs, "b")[i];
  return {{"destination", result}};
}

Tensors compute(const AddReluBackward& desc, const Tensors& inputs) {
  Values result = in(inputs, "a");
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (desc.two_gradients) result[i] += in(inputs, "b")[i];
    if (!(in(inputs, "destination")[i] > 0)) result[i] = 0;
  }
  return {{"diff_source", result}};
}

struct Maxima {
  Values values;
  std::vector<std::size_t> winners;  // indices into the source; the first of equals
};

Maxima maxima_of(const PoolingShape& s, const Values& source) {
  const Shape d = s.destination();
  Maxima maxima;
  for (std::int64_t plane = 0; plane < d[0] * d[1]; ++plane)
    for (std::int64_t y = 0; y < d[2]; ++y)
      for (std::int64_t x = 0; x < d[3]; ++x) {
        double best = -std::numeric_limits<double>::infinity();
        std::size_t winner = 0;
        for (std::int64_t ky = 0; ky < s.kernel; ++ky)
          for (std::int64_t kx = 0; kx < s.kernel; ++kx) {
            const std::int64_t row = y * s.stride - s.padding + ky;
            const std::int64_t column = x * s.stride - s.padding + kx;
            if (row < 0 || row >= s.source[2] || column < 0 || column >= s.source[3]) continue;
            const std::size_t index = size((plane * s.source[2] + row) * s.source[3] + column);
            if (source[index] <= best) continue;
            best = source[index];
            winner = index;
          }
        maxima.values.push_back(best);
        maxima.winners.push_back(winner);
      }
  return maxima;
}

Tensors compute(const MaxPoolForward& desc, const Tensors& inputs) {
  return {{"destination", maxima_of(desc.shape, in(inputs, "source")).values}};
}

Tensors compute(const MaxPoolBackward& desc, const Tensors& inputs) {
  const Maxima maxima = maxima_of(desc.shape, in(inputs, "source"));
  Values diff_source(size(desc.shape.source), 0.0);
  for (std::size_t i = 0; i < maxima.winners.size(); ++i) {
    diff_source[maxima.winners[i]] += in(inputs, "diff_destination")[i];
  }
  return {{"diff_source", diff_source}};
}

Tensors compute(const GlobalAveragePoolForward& desc, const Tensors& inputs) {
  const std::size_t pixels = size(desc.source[2] * desc.source[3]);
  Values destination(size(desc.source[0] * desc.source[1]), 0.0);
  for (std::size_t i = 0; i < size(desc.source); ++i) {
    destination[i / pixels] += in(inputs, "source")[i] / static_cast<double>(pixels);
  }
  return {{"destination", destination}};
}

Tensors compute(const GlobalAveragePoolBackward& desc, const Tensors& inputs) {
  const std::size_t pixels = size(desc.source[2] * desc.source[3]);
  Values diff_source(size(desc.source));
  for (std::size_t i = 0; i < diff_source.size(); ++i) {
    diff_source[i] = in(inputs, "diff_destination")[i / pixels] / static_cast<double>(pixels);
  }
  return {{"diff_source", diff_source}};
}

/// c += op(a)·op(b).
void multiply(const Gemm& s, const Values& a, const Values& b, Values& c) {
  for (std::int64_t of = 0; of < s.batch; ++of)
    for (std::int64_t i = 0; i < s.m; ++i)
      for (std::int64_t j = 0; j < s.n; ++j)
        for (std::int64_t p = 0; p < s.k; ++p) {
          const std::int64_t left = s.transpose_a ? p * s.m + i : i * s.k + p;
          const std::int64_t right = s.transpose_b ? j * s.k + p : p * s.n + j;
          c[size((of * s.m + i) * s.n + j)] +=
              a[size(of * s.m * s.k + left)] * b[size(of * s.k * s.n + right)];
        }
}

Tensors compute(const Gemm& desc, const Tensors& inputs) {
  Values c = start(inputs, "c", size(desc.batch * desc.m * desc.n), desc.accumulate);
  multiply(desc, in(inputs, "a"), in(inputs, "b"), c);
  return {{"c", c}};
}

Tensors compute(const LinearForward& desc, const Tensors& inputs) {
  const LinearShape& s = desc.shape;
  Values destination;
  const Values bias = desc.bias ? in(inputs, "bias") : Values(size(s.out_features), 0.0);
  for (std::int64_t n = 0; n < s.batch; ++n) {
    destination.insert(destination.end(), bias.begin(), bias.end());
  }
  multiply({.m = s.batch, .n = s.out_features, .k = s.in_features, .transpose_b = true},
           in(inputs, "source"), in(inputs, "weights"), destination);
  return {{"destination", destination}};
}

Tensors compute(const LinearBackwardData& desc, const Tensors& inputs) {
  const LinearShape& s = desc.shape;
  Values diff_source(size(s.batch * s.in_features), 0.0);
  multiply({.m = s.batch, .n = s.in_features, .k = s.out_features}, in(inputs, "diff_destination"),
           in(inputs, "weights"), diff_source);
  return {{"diff_source", diff_source}};
}

Tensors compute(const LinearBackwardWeights& desc, const Tensors& inputs) {
  const LinearShape& s = desc.shape;
  Values diff_weights =
      start(inputs, "diff_weights", size(s.out_features * s.in_features), desc.accumulate);
  const Values& diff_destination = in(inputs, "diff_destination");
  multiply({.m = s.out_features, .n = s.in_features, .k = s.batch, .transpose_a = true},
           diff_destination, in(inputs, "source"), diff_weights);
  if (!desc.bias) return {{"diff_weights", diff_weights}};
  Values diff_bias = start(inputs, "diff_bias", size(s.out_features), desc.accumulate);
  for (std::size_t i = 0; i < diff_destination.size(); ++i) {
    diff_bias[i % diff_bias.size()] += diff_destination[i];
  }
  return {{"diff_weights", diff_weights}, {"diff_bias", diff_bias}};
}

Tensors compute(const MseLoss& desc, const Tensors& inputs) {
  const double total = static_cast<double>(desc.total_elements);
  Values loss = start(inputs, "loss", 1, desc.accumulate);
  Values diff(size(desc.shape));
  for (std::size_t i = 0; i < diff.size(); ++i) {
    const double delta = in(inputs, "prediction")[i] - in(inputs, "target")[i];
    loss[0] += delta * delta / total;
    diff[i] = 2 * delta / total;
  }
  return {{"loss", loss}, {"diff_prediction", diff}};
}

Tensors compute(const Accumulate& /*desc*/, const Tensors& inputs) {
  Values destination = in(inputs, "destination");
  for (std::size_t i = 0; i < destination.size(); ++i) destination[i] += in(inputs, "source")[i];
  return {{"destination", destination}};
}

Tensors compute(const AddRepeated& desc, const Tensors& inputs) {
  Values destination = in(inputs, "source");
  for (std::size_t i = 0; i < destination.size(); ++i) {
    destination[i] += in(inputs, "addend")[i % static_cast<std::size_t>(desc.count)];
  }
  return {{"destination", destination}};
}

Tensors compute(const SumRepeats& desc, const Tensors& inputs) {
  const auto count = static_cast<std::size_t>(desc.count);
  Values sums = desc.accumulate ? in(inputs, "diff_addend") : Values(count);
  const Values& rows = in(inputs, "diff_destination");
  for (std::size_t i = 0; i < rows.size(); ++i) sums[i % count] += rows[i];
  return {{"diff_addend", sums}};
}

// Box and Muller, by the library's functions; u is rounded to f32 as random.h says.
double normal(const RandomWords& words, std::size_t position) {
  const std::uint32_t a = position < 2 ? words.x : words.z;
  const std::uint32_t b = position < 2 ? words.y : words.w;
  const double u = double{(static_cast<float>(a) + 0.5F) * 0x1p-32F};
  const double radius = std::sqrt(-2 * std::log(u));
  const double angle = 2 * std::numbers::pi * static_cast<double>(b) * 0x1p-32;
  return position % 2 == 0 ? radius * std::cos(angle) : radius * std::sin(angle);
}

double uniform(const RandomWords& words, std::size_t position) {
  const std::uint32_t word = position == 0   ? words.x
                             : position == 1 ? words.y
                             : position == 2 ? words.z
                                             : words.w;
  return static_cast<double>(word >> 8U) * 0x1p-24;
}

Tensors compute(const Fill& desc, const Tensors& /*inputs*/) {
  Values values(size(desc.count), double{desc.low});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const RandomWords words = random_words({desc.seed, desc.subsequence}, i / 4);
    if (desc.distribution == Distribution::normal) {
      values[i] += double{desc.high} * normal(words, i % 4);
    } else if (desc.distribution == Distribution::uniform) {
      values[i] += double{desc.high - desc.low} * uniform(words, i % 4);
    }
  }
  return {{"destination", values}};
}

Tensors compute(const Reorder& /*desc*/, const Tensors& inputs) {
  return {{"destination", in(inputs, "source")}};
}

Tensors compute(const Spin& /*desc*/, const Tensors& /*inputs*/) { return {}; }

Tensors compute(const Discard& /*desc*/, const Tensors& /*inputs*/) { return {}; }

}  // namespace

Tensors naive(const OpDesc& desc, const Tensors& inputs) {
  return std::visit([&](const auto& one) { return compute(one, inputs); }, desc);
}

}  // namespace parbench::test
