// Plain loops of a long short-term memory, in double precision. The backward ones take nothing from
// the forward pass but its inputs.
#include <cmath>

#include "tests/kernels/ops/naive_parts.h"

namespace parbench::test {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The forward pass, and what the backward pass needs of it, of every sample and position.
class Memory {
 public:
  Memory(const LstmShape& shape, const Tensors& inputs)
      : shape_(shape),
        source_(in(inputs, "source")),
        weights_(in(inputs, "weights")),
        recurrent_(in(inputs, "recurrent_weights")),
        bias_(in(inputs, "bias")),
        hidden_(size(shape.hidden)),
        width_(size(shape.in_features)),
        states_(size(shape.destination())),
        cells_(states_.size()),
        gates_(4 * states_.size()) {
    for_each_row([&](std::size_t row, bool is_first) { advance(row, is_first); });
  }

  [[nodiscard]] const Values& states() const { return states_; }

  struct Gradients {
    Values source;
    Values weights;
    Values recurrent;
    Values bias;
  };

  /// Of Σ diff · states.
  [[nodiscard]] Gradients gradients(const Values& diff) const {
    Gradients all{Values(source_.size()), Values(weights_.size()), Values(recurrent_.size()),
                  Values(bias_.size())};
    Values diff_state = diff;
    Values diff_cell(cells_.size());
    for (std::size_t sample = 0; sample < size(shape_.batch); ++sample) {
      for (std::size_t position = size(shape_.sequence); position-- > 0;) {
        differentiate(sample * size(shape_.sequence) + position, position == 0, diff_state,
                      diff_cell, all);
      }
    }
    return all;
  }

 private:
  template <class Function>
  void for_each_row(const Function& function) const {
    for (std::size_t row = 0; row < size(shape_.batch * shape_.sequence); ++row) {
      function(row, row % size(shape_.sequence) == 0);
    }
  }

  void advance(std::size_t row, bool is_first) {
    for (std::size_t gate = 0; gate < 4 * hidden_; ++gate) {
      double sum = bias_[gate];
      for (std::size_t i = 0; i < width_; ++i) {
        sum += weights_[gate * width_ + i] * source_[row * width_ + i];
      }
      for (std::size_t i = 0; i < hidden_ && !is_first; ++i) {
        sum += recurrent_[gate * hidden_ + i] * states_[(row - 1) * hidden_ + i];
      }
      const bool is_candidate = gate / hidden_ == 2;
      gates_[row * 4 * hidden_ + gate] = is_candidate ? std::tanh(sum) : sigmoid(sum);
    }
    for (std::size_t i = 0; i < hidden_; ++i) {
      const double* gates = gates_.data() + row * 4 * hidden_ + i;
      const double before = is_first ? 0 : cells_[(row - 1) * hidden_ + i];
      const double cell = gates[hidden_] * before + gates[0] * gates[2 * hidden_];
      cells_[row * hidden_ + i] = cell;
      states_[row * hidden_ + i] = gates[3 * hidden_] * std::tanh(cell);
    }
  }

  void differentiate(std::size_t row, bool is_first, Values& diff_state, Values& diff_cell,
                     Gradients& all) const {
    Values diff(4 * hidden_);  // of the sums in front of the gates' functions
    for (std::size_t i = 0; i < hidden_; ++i) {
      const std::size_t at = row * hidden_ + i;
      const double* gates = gates_.data() + row * 4 * hidden_ + i;
      const double input = gates[0];
      const double forget = gates[hidden_];
      const double candidate = gates[2 * hidden_];
      const double output = gates[3 * hidden_];
      const double squashed = std::tanh(cells_[at]);
      const double along = diff_cell[at] + diff_state[at] * output * (1 - squashed * squashed);
      const double before = is_first ? 0 : cells_[at - hidden_];
      diff[i] = along * candidate * input * (1 - input);
      diff[hidden_ + i] = along * before * forget * (1 - forget);
      diff[2 * hidden_ + i] = along * input * (1 - candidate * candidate);
      diff[3 * hidden_ + i] = diff_state[at] * squashed * output * (1 - output);
      if (!is_first) diff_cell[at - hidden_] += along * forget;
    }
    for (std::size_t gate = 0; gate < diff.size(); ++gate) {
      all.bias[gate] += diff[gate];
      for (std::size_t i = 0; i < width_; ++i) {
        all.weights[gate * width_ + i] += diff[gate] * source_[row * width_ + i];
        all.source[row * width_ + i] += diff[gate] * weights_[gate * width_ + i];
      }
      for (std::size_t i = 0; i < hidden_ && !is_first; ++i) {
        all.recurrent[gate * hidden_ + i] += diff[gate] * states_[(row - 1) * hidden_ + i];
        diff_state[(row - 1) * hidden_ + i] += diff[gate] * recurrent_[gate * hidden_ + i];
      }
    }
  }

  const LstmShape shape_;
  const Values& source_;
  const Values& weights_;
  const Values& recurrent_;
  const Values& bias_;
  std::size_t hidden_;
  std::size_t width_;
  Values states_;
  Values cells_;
  Values gates_;
};

Values added(const Values& gradient, const Tensors& inputs, std::string_view role,
             bool accumulate) {
  Values sum = start(inputs, role, gradient.size(), accumulate);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
  return sum;
}

}  // namespace

Tensors compute(const LstmForward& desc, const Tensors& inputs) {
  return {{"destination", Memory(desc.shape, inputs).states()}};
}

Tensors compute(const LstmBackwardData& desc, const Tensors& inputs) {
  const Memory memory(desc.shape, inputs);
  return {{"diff_source", memory.gradients(in(inputs, "diff_destination")).source}};
}

Tensors compute(const LstmBackwardWeights& desc, const Tensors& inputs) {
  const Memory memory(desc.shape, inputs);
  const Memory::Gradients all = memory.gradients(in(inputs, "diff_destination"));
  const bool accumulate = desc.accumulate;
  return {{"diff_weights", added(all.weights, inputs, "diff_weights", accumulate)},
          {"diff_recurrent_weights",
           added(all.recurrent, inputs, "diff_recurrent_weights", accumulate)},
          {"diff_bias", added(all.bias, inputs, "diff_bias", accumulate)}};
}

}  // namespace parbench::test
