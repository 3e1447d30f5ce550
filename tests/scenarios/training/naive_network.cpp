// Forward passes by definition.
#include "tests/scenarios/training/naive_network.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parbench::test {
namespace {

using Values = std::vector<double>;
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

Values convolution(const Values& in, const Maps& from, const Layer& layer, const Values& weights,
                   int64_t samples) {
  const Maps to(layer.output);
  Values out(static_cast<std::size_t>(samples * element_count(layer.output)));
  for_each(samples, to, [&](int64_t n, int64_t o, int64_t y, int64_t x, int64_t index) {
    double sum = 0;
    for (int64_t i = 0; i < from.c; ++i) {
      for (int64_t ky = 0; ky < layer.kernel; ++ky) {
        for (int64_t kx = 0; kx < layer.kernel; ++kx) {
          const int64_t iy = y * layer.stride + ky - layer.padding;
          const int64_t ix = x * layer.stride + kx - layer.padding;
          if (!from.inside(iy, ix)) continue;
          const int64_t weight = ((o * from.c + i) * layer.kernel + ky) * layer.kernel + kx;
          sum += in[static_cast<std::size_t>(from.at(n, i, iy, ix))] *
                 weights[static_cast<std::size_t>(weight)];
        }
      }
    }
    out[static_cast<std::size_t>(index)] = sum;
  });
  return out;
}

/// `addend`: null for none.
Values batch_norm(const Values& in, const Values* addend, const Layer& layer, const Values& scale,
                  const Values& shift, int64_t samples) {
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
    double y =
        scale[c] * (in[i] - sum[c] / count) / std::sqrt(squares[c] / count + 1e-5) + shift[c];
    if (addend != nullptr) y += (*addend)[i];
    out[i] = layer.relu ? std::max(y, 0.0) : y;
  });
  return out;
}

Values max_pool(const Values& in, const Maps& from, const Layer& layer, int64_t samples) {
  const Maps to(layer.output);
  Values out(static_cast<std::size_t>(samples * element_count(layer.output)));
  for_each(samples, to, [&](int64_t n, int64_t c, int64_t y, int64_t x, int64_t index) {
    double max = -std::numeric_limits<double>::infinity();
    for (int64_t ky = 0; ky < layer.kernel; ++ky) {
      for (int64_t kx = 0; kx < layer.kernel; ++kx) {
        const int64_t iy = y * layer.stride + ky - layer.padding;
        const int64_t ix = x * layer.stride + kx - layer.padding;
        if (from.inside(iy, ix)) {
          max = std::max(max, in[static_cast<std::size_t>(from.at(n, c, iy, ix))]);
        }
      }
    }
    out[static_cast<std::size_t>(index)] = max;
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

Values linear(const Values& in, int64_t features, const Layer& layer, const Values& weights,
              const Values& bias, int64_t samples) {
  const int64_t outputs = layer.output[0];
  Values out;
  for (int64_t n = 0; n < samples; ++n) {
    for (int64_t o = 0; o < outputs; ++o) {
      double sum = bias[static_cast<std::size_t>(o)];
      for (int64_t i = 0; i < features; ++i) {
        sum += in[static_cast<std::size_t>(n * features + i)] *
               weights[static_cast<std::size_t>(o * features + i)];
      }
      out.push_back(sum);
    }
  }
  return out;
}

Values clamped(Values values) {
  for (double& value : values) value = std::max(value, 0.0);
  return values;
}

}  // namespace

double squared_error(const Network& network, const NamedParameters& parameters,
                     const std::vector<double>& images, const std::vector<double>& target,
                     std::int64_t samples) {
  std::vector<Values> outputs;
  for (const Layer& layer : network.layers) {
    const auto input = [&](std::size_t which) -> const Values& {
      const int index = layer.inputs[which];
      return index == network_input ? images : outputs[static_cast<std::size_t>(index)];
    };
    const Maps from(network.input_of(layer));
    const auto parameter = [&](const char* suffix) { return parameters.at(layer.name + suffix); };
    switch (layer.kind) {
      case LayerKind::convolution:
        outputs.push_back(convolution(input(0), from, layer, parameter(".weight"), samples));
        break;
      case LayerKind::batch_norm:
        outputs.push_back(batch_norm(input(0), layer.inputs.size() > 1 ? &input(1) : nullptr, layer,
                                     parameter(".weight"), parameter(".bias"), samples));
        break;
      case LayerKind::max_pool:
        outputs.push_back(max_pool(input(0), from, layer, samples));
        break;
      case LayerKind::global_average_pool:
        outputs.push_back(average_pool(input(0), from, samples));
        break;
      case LayerKind::linear:
        outputs.push_back(
            linear(input(0), from.c, layer, parameter(".weight"), parameter(".bias"), samples));
        break;
      case LayerKind::relu:
        outputs.push_back(clamped(input(0)));
        break;
    }
  }
  double sum = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    sum += (outputs.back()[i] - target[i]) * (outputs.back()[i] - target[i]);
  }
  return sum;
}

}  // namespace parbench::test
