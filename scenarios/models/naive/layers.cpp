// Loops that follow the definitions of layers.
#include "scenarios/models/naive/layers.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "scenarios/models/general/evaluate.h"
#include "scenarios/models/layers/composition.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/naive/images.h"
#include "scenarios/models/naive/sequences.h"

namespace parbench::naive {
namespace {

using std::int64_t;

struct Maps {  // {C, H, W} or {features}
  int64_t c = 1, h = 1, w = 1;
  explicit Maps(const Shape& shape)
      : c(shape[0]), h(shape.size() == 3 ? shape[1] : 1), w(shape.size() == 3 ? shape[2] : 1) {}
  [[nodiscard]] int64_t at(int64_t n, int64_t channel, int64_t y, int64_t x) const {
    return ((n * c + channel) * h + y) * w + x;
  }
  [[nodiscard]] bool inside(int64_t y, int64_t x) const {
    return y >= 0 && y < h && x >= 0 && x < w;
  }
};

/// Calls visit(n, channel, y, x, output index) for every output element.
template <typename Visit>
void for_each(int64_t samples, const Maps& maps, Visit visit) {
  for (int64_t n = 0; n < samples; ++n) {
    for (int64_t c = 0; c < maps.c; ++c) {
      for (int64_t y = 0; y < maps.h; ++y) {
        for (int64_t x = 0; x < maps.w; ++x) visit(n, c, y, x, maps.at(n, c, y, x));
      }
    }
  }
}

/// Returns a convolution. `bias` may be empty.
Values convolution(const Values& in, const Maps& from, const Layer& layer, const Window& window,
                   const Values& weights, const Values& bias, int64_t samples) {
  const Maps to(layer.output);
  Values out(static_cast<std::size_t>(samples * element_count(layer.output)));
  for_each(samples, to, [&](int64_t n, int64_t o, int64_t y, int64_t x, int64_t index) {
    double sum = bias.empty() ? 0.0 : bias[static_cast<std::size_t>(o)];
    const Convolution::Options& options = as<Convolution>(layer)->options();
    const int64_t inputs = from.c / options.groups;
    const int64_t first = o / (to.c / options.groups) * inputs;
    for (int64_t i = 0; i < inputs; ++i) {
      for (int64_t ky = 0; ky < window.kernel; ++ky) {
        for (int64_t kx = 0; kx < window.kernel; ++kx) {
          const int64_t iy = y * window.stride + ky * window.dilation - window.padding;
          const int64_t ix = x * window.stride + kx * window.dilation - window.padding;
          if (!from.inside(iy, ix)) continue;
          const int64_t weight = ((o * inputs + i) * window.kernel + ky) * window.kernel + kx;
          sum += in[static_cast<std::size_t>(from.at(n, first + i, iy, ix))] *
                 weights[static_cast<std::size_t>(weight)];
        }
      }
    }
    out[static_cast<std::size_t>(index)] = options.relu ? std::max(sum, 0.0) : sum;
  });
  return out;
}

/// Returns a batch normalisation. `addend` may be null.
Values batch_norm(const Values& in, const Values* addend, const Layer& layer, const BatchNorm& norm,
                  const Values& scale, const Values& shift, int64_t samples) {
  const Maps maps(layer.output);
  const double count = static_cast<double>(samples * maps.h * maps.w);
  Values sum(static_cast<std::size_t>(maps.c));
  Values squares(sum.size());
  for_each(samples, maps, [&](int64_t, int64_t c, int64_t, int64_t, int64_t index) {
    sum[static_cast<std::size_t>(c)] += in[static_cast<std::size_t>(index)];
  });
  for_each(samples, maps, [&](int64_t, int64_t c, int64_t, int64_t, int64_t index) {
    const double off =
        in[static_cast<std::size_t>(index)] - sum[static_cast<std::size_t>(c)] / count;
    squares[static_cast<std::size_t>(c)] += off * off;
  });
  Values out(in.size());
  for_each(samples, maps, [&](int64_t, int64_t channel, int64_t, int64_t, int64_t index) {
    const auto c = static_cast<std::size_t>(channel);
    const auto i = static_cast<std::size_t>(index);
    double y = scale[c] * (in[i] - sum[c] / count) /
                   std::sqrt(squares[c] / count + double{norm.epsilon()}) +
               shift[c];
    if (addend != nullptr) y += (*addend)[i];
    out[i] = norm.relu() ? std::max(y, 0.0) : y;
  });
  return out;
}

Values average_pool(const Values& in, const Maps& from, int64_t samples) {
  Values out(static_cast<std::size_t>(samples * from.c));
  for_each(samples, from, [&](int64_t n, int64_t c, int64_t, int64_t, int64_t index) {
    out[static_cast<std::size_t>(n * from.c + c)] +=
        in[static_cast<std::size_t>(index)] / static_cast<double>(from.h * from.w);
  });
  return out;
}

/// Returns a linear layer for rows of `features` elements. `bias` may be empty.
Values linear(const Values& in, int64_t features, const Layer& layer, const Values& weights,
              const Values& bias) {
  const int64_t outputs = layer.output.back();
  const auto rows = static_cast<int64_t>(in.size()) / features;
  Values out;
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t o = 0; o < outputs; ++o) {
      double sum = bias.empty() ? 0.0 : bias[static_cast<std::size_t>(o)];
      for (int64_t i = 0; i < features; ++i) {
        sum += in[static_cast<std::size_t>(n * features + i)] *
               weights[static_cast<std::size_t>(o * features + i)];
      }
      out.push_back(sum);
    }
  }
  return out;
}

/// Multiplies each element by its channel's factor and adds its channel's addend; empty lists stand
/// for 1 and 0.
Values of_channels(const Values& in, const Shape& sample, const Values& factors,
                   const Values& addends) {
  const bool is_image = sample.size() == 3;
  const auto inner = static_cast<std::size_t>(is_image ? sample[1] * sample[2] : 1);
  const auto channels = static_cast<std::size_t>(is_image ? sample[0] : sample.back());
  Values out = in;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t channel = i / inner % channels;
    if (!factors.empty()) out[i] *= factors[channel];
    if (!addends.empty()) out[i] += addends[channel];
  }
  return out;
}

Values composed(const Composition& kind, const Input& input, const Parameter& parameter,
                int64_t samples) {
  std::vector<Values> inputs;
  for (int which = 0; which < kind.graph().input_count(); ++which) {
    inputs.push_back(input(static_cast<std::size_t>(which)));
  }
  std::vector<Values> parameters;
  for (const ParameterSpec& one : kind.parameters({})) {
    parameters.push_back(parameter(("." + one.name).c_str()));
  }
  return general::evaluate(kind.graph(), {kind.output()}, inputs, parameters, samples).front();
}

/// Returns the output of a layer of sequences, a dropout or a sum.
Values output_of_sequence(const Layer& layer, const Input& input, const Parameter& parameter,
                          int64_t samples) {
  if (as<Embedding>(layer) != nullptr) {
    return embedding(input(0), parameter(".weight"), layer.output.back());
  }
  if (as<LearnedPositions>(layer) != nullptr) return with_positions(input(0), parameter(".weight"));
  if (const auto* norm = as<LayerNorm>(layer)) {
    return layer_norm(input(0), parameter(".weight"), parameter(".bias"), double{norm->epsilon()});
  }
  if (const auto* attends = as<SelfAttention>(layer)) {
    return attention(input(0), samples, layer.output,
                     {.count = attends->heads(), .causal = attends->causal()});
  }
  if (const auto* recurrent = as<Lstm>(layer)) {
    const Values zeros(static_cast<std::size_t>(4 * layer.output.back()));
    return lstm(input(0),
                {parameter(".weight_ih"), parameter(".weight_hh"),
                 recurrent->has_bias() ? parameter(".bias") : zeros},
                layer.output.front());
  }
  if (const auto* zeros = as<RandomDropout>(layer)) {
    return dropout(input(0), zeros->probability(), zeros->subsequence());
  }
  if (as<Addition>(layer) != nullptr) return with_positions(input(0), input(1));
  throw std::logic_error("no naive loop for layer " + layer.name);
}

}  // namespace

Values output_of(const Layer& layer, const Shape& source, const Input& input,
                 const Parameter& parameter, int64_t samples) {
  if (const auto* kind = as<Composition>(layer)) return composed(*kind, input, parameter, samples);
  const Maps from(source);
  if (const auto* convolve = as<Convolution>(layer)) {
    const Convolution::Options& options = convolve->options();
    return convolution(input(0), from, layer, options.window, parameter(".weight"),
                       options.bias ? parameter(".bias") : Values(), samples);
  }
  if (const auto* norm = as<BatchNorm>(layer)) {
    return batch_norm(input(0), layer.inputs.size() > 1 ? &input(1) : nullptr, layer, *norm,
                      parameter(".weight"), parameter(".bias"), samples);
  }
  if (as<GlobalAveragePool>(layer) != nullptr) return average_pool(input(0), from, samples);
  if (const auto* product = as<Linear>(layer)) {
    return linear(input(0), source.back(), layer, parameter(".weight"),
                  product->has_bias() ? parameter(".bias") : Values());
  }
  if (const auto* function = as<Activation>(layer)) {
    return activated(input(0), function->kind(), double{function->low()}, double{function->high()});
  }
  if (as<Flatten>(layer) != nullptr) return input(0);
  if (as<ChannelScale>(layer) != nullptr) {
    return of_channels(input(0), source, parameter(".weight"), {});
  }
  if (as<ChannelBias>(layer) != nullptr)
    return of_channels(input(0), source, {}, parameter(".bias"));
  if (auto found = output_of_images(layer, source, input, parameter, samples)) return *found;
  return output_of_sequence(layer, input, parameter, samples);
}

}  // namespace parbench::naive
