// Loops that follow the definitions of layers of sequences.
#include "scenarios/models/naive/sequences.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "kernels/base/random.h"

namespace parbench::naive {

Values embedding(const Values& tokens, const Values& table, std::int64_t width) {
  Values out;
  for (const double token : tokens) {
    const auto row = table.begin() + static_cast<std::int64_t>(token) * width;
    out.insert(out.end(), row, row + width);
  }
  return out;
}

Values with_positions(Values in, const Values& table) {
  for (std::size_t i = 0; i < in.size(); ++i) in[i] += table[i % table.size()];
  return in;
}

Values layer_norm(const Values& in, const Values& scale, const Values& shift, double epsilon) {
  const std::size_t width = scale.size();
  Values out(in.size());
  for (std::size_t row = 0; row < in.size(); row += width) {
    double mean = 0;
    double variance = 0;
    for (std::size_t i = 0; i < width; ++i) mean += in[row + i] / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i) {
      variance += (in[row + i] - mean) * (in[row + i] - mean) / static_cast<double>(width);
    }
    for (std::size_t i = 0; i < width; ++i) {
      out[row + i] = scale[i] * (in[row + i] - mean) / std::sqrt(variance + epsilon) + shift[i];
    }
  }
  return out;
}

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double activated(double x, ActivationKind kind, double low, double high) {
  switch (kind) {
    case ActivationKind::relu:
      return std::max(x, 0.0);
    case ActivationKind::gelu:
      return x / 2 * (1 + std::erf(x / std::numbers::sqrt2));
    case ActivationKind::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case ActivationKind::sigmoid:
      return sigmoid(x);
    case ActivationKind::tanh:
      return std::tanh(x);
    case ActivationKind::clip:
      return std::clamp(x, low, high);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Values activated(Values in, ActivationKind kind, double low, double high) {
  for (double& x : in) x = activated(x, kind, low, high);
  return in;
}

namespace {

/// Computes attention of one head. `in`: the query at the first position, followed by the key at
/// +`width`, the value at +2·`width`, and the next position at +3·`width`.
void attend(const double* in, double* out, std::int64_t sequence, std::int64_t width,
            std::int64_t size, bool causal) {
  for (std::int64_t query = 0; query < sequence; ++query) {
    const std::int64_t keys = causal ? query + 1 : sequence;
    Values weights;
    double sum = 0;
    for (std::int64_t key = 0; key < keys; ++key) {
      double score = 0;
      for (std::int64_t i = 0; i < size; ++i) {
        score += in[query * 3 * width + i] * in[(key * 3 + 1) * width + i];
      }
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(size))));
      sum += weights.back();
    }
    for (std::int64_t i = 0; i < size; ++i) {
      double value = 0;
      for (std::int64_t key = 0; key < keys; ++key) {
        value += weights[static_cast<std::size_t>(key)] / sum * in[(key * 3 + 2) * width + i];
      }
      out[query * width + i] = value;
    }
  }
}

}  // namespace

Values attention(const Values& in, std::int64_t samples, const Shape& output, const Heads& heads) {
  const std::int64_t sequence = output.at(0);
  const std::int64_t width = output.at(1);
  const std::int64_t size = width / heads.count;
  Values out(static_cast<std::size_t>(samples * sequence * width));
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    for (std::int64_t head = 0; head < heads.count; ++head) {
      attend(in.data() + sample * sequence * 3 * width + head * size,
             out.data() + sample * sequence * width + head * size, sequence, width, size,
             heads.causal);
    }
  }
  return out;
}

namespace {

/// Adds weights {rows, columns} times a vector to `sums`.
void add_product(Values& sums, const Values& weights, const double* vector, std::size_t columns) {
  for (std::size_t row = 0; row < sums.size(); ++row) {
    for (std::size_t i = 0; i < columns; ++i) sums[row] += weights[row * columns + i] * vector[i];
  }
}

}  // namespace

Values lstm(const Values& in, const LstmWeights& weights, std::int64_t sequence) {
  const std::size_t hidden = weights.bias.size() / 4;
  const std::size_t width = weights.input.size() / weights.bias.size();
  Values out;
  Values cell;
  Values state;
  for (std::size_t row = 0; row < in.size() / width; ++row) {
    if (row % static_cast<std::size_t>(sequence) == 0) {
      cell.assign(hidden, 0.0);
      state.assign(hidden, 0.0);
    }
    Values gates = weights.bias;
    add_product(gates, weights.input, in.data() + row * width, width);
    add_product(gates, weights.recurrent, state.data(), hidden);
    for (std::size_t i = 0; i < hidden; ++i) {
      cell[i] = sigmoid(gates[hidden + i]) * cell[i] +
                sigmoid(gates[i]) * std::tanh(gates[2 * hidden + i]);
      state[i] = sigmoid(gates[3 * hidden + i]) * std::tanh(cell[i]);
    }
    out.insert(out.end(), state.begin(), state.end());
  }
  return out;
}

Values dropout(Values in, float probability, std::uint64_t subsequence) {
  std::vector<float> numbers(in.size());
  generate_uniform(numbers, 0, {.seed = 0, .subsequence = subsequence}, 0, 1);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = numbers[i] < probability ? 0.0 : in[i] / (1 - double{probability});
  }
  return in;
}

double cross_entropy(const Values& logits, const Values& target) {
  const std::size_t classes = logits.size() / target.size();
  double loss = 0;
  for (std::size_t row = 0; row < target.size(); ++row) {
    if (target[row] < 0) continue;
    const double* first = logits.data() + row * classes;
    const double max = *std::max_element(first, first + classes);
    double sum = 0;
    for (std::size_t i = 0; i < classes; ++i) sum += std::exp(first[i] - max);
    loss += std::log(sum) + max - first[static_cast<std::size_t>(target[row])];
  }
  return loss;
}

}  // namespace parbench::naive
