// A long short-term memory by its definition. `saved` holds for each row, a position of a sample,
// its gates, its cell, and the gradients of its gates.
#include <cmath>

#include "tests/cuda_emulation/elements.h"
#include "tests/cuda_emulation/plain_lstm.h"

namespace parbench::emulation {
namespace {

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

float PlainLstm::get(const std::byte* memory, std::int64_t index) const {
  return element(memory, dtype_, index);
}

void PlainLstm::set(std::byte* memory, std::int64_t index, float value) const {
  set_element(memory, dtype_, index, value);
}

void PlainLstm::add(std::byte* memory, std::int64_t index, float value) const {
  set(memory, index, get(memory, index) + value);
}

PlainLstm::PlainLstm(const LstmShape& shape, DType dtype) : shape_(shape), dtype_(dtype) {
  std::size_t next = 0;
  const auto reserve = [&](std::int64_t count) {
    const std::size_t at = next;
    next += static_cast<std::size_t>(count) * size_of(dtype);
    return at;
  };
  for (const std::size_t gate : {3, 1, 0, 2}) {
    offsets_.bias.at(gate) = reserve(shape.hidden);
    offsets_.recurrent_weights.at(gate) = reserve(shape.hidden * shape.hidden);
    offsets_.weights.at(gate) = reserve(shape.hidden * shape.in_features);
  }
}

std::size_t PlainLstm::weight_bytes() const {
  return static_cast<std::size_t>(shape_.gates() * (1 + shape_.hidden + shape_.in_features)) *
         size_of(dtype_);
}

std::size_t PlainLstm::saved_bytes() const {
  return canonical({shape_.batch, shape_.sequence, 9, shape_.hidden}).bytes;
}

void PlainLstm::advance(const Memory& memory, const std::byte* source, std::byte* destination,
                        std::int64_t row) const {
  const std::int64_t hidden = shape_.hidden;
  const bool is_first = row % shape_.sequence == 0;
  auto* gates = reinterpret_cast<float*>(memory.saved) + row * 9 * hidden;
  float* cell = gates + 4 * hidden;
  for (std::size_t gate = 0; gate < 4; ++gate) {
    for (std::int64_t j = 0; j < hidden; ++j) {
      float sum = get(memory.weights + offsets_.bias.at(gate), j);
      for (std::int64_t i = 0; i < shape_.in_features; ++i) {
        sum += get(memory.weights + offsets_.weights.at(gate), j * shape_.in_features + i) *
               get(source, row * shape_.in_features + i);
      }
      for (std::int64_t i = 0; i < hidden && !is_first; ++i) {
        sum += get(memory.weights + offsets_.recurrent_weights.at(gate), j * hidden + i) *
               get(destination, (row - 1) * hidden + i);
      }
      gates[static_cast<std::int64_t>(gate) * hidden + j] =
          gate == 2 ? std::tanh(sum) : sigmoid(sum);
    }
  }
  for (std::int64_t j = 0; j < hidden; ++j) {
    const float before = is_first ? 0 : cell[j - 9 * hidden];
    cell[j] = gates[hidden + j] * before + gates[j] * gates[2 * hidden + j];
    set(destination, row * hidden + j, gates[3 * hidden + j] * std::tanh(cell[j]));
  }
}

void PlainLstm::forward(const std::byte* source, std::byte* destination,
                        const Memory& memory) const {
  for (std::int64_t row = 0; row < shape_.batch * shape_.sequence; ++row) {
    advance(memory, source, destination, row);
  }
}

/// The gradients of a row's gates, and what they leave for the row before.
void PlainLstm::differentiate(const Memory& memory, const std::byte* diff_destination,
                              std::vector<float>& diff_state, std::vector<float>& diff_cell,
                              std::int64_t row) const {
  const std::int64_t hidden = shape_.hidden;
  const bool is_first = row % shape_.sequence == 0;
  auto* gates = reinterpret_cast<float*>(memory.saved) + row * 9 * hidden;
  const float* cell = gates + 4 * hidden;
  float* diff_gates = gates + 5 * hidden;
  for (std::int64_t j = 0; j < hidden; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const float input = gates[j];
    const float forget = gates[hidden + j];
    const float candidate = gates[2 * hidden + j];
    const float output = gates[3 * hidden + j];
    const float squashed = std::tanh(cell[j]);
    const float diff = get(diff_destination, row * hidden + j) + diff_state[at];
    const float along = diff_cell[at] + diff * output * (1 - squashed * squashed);
    const float before = is_first ? 0 : cell[j - 9 * hidden];
    diff_gates[j] = along * candidate * input * (1 - input);
    diff_gates[hidden + j] = along * before * forget * (1 - forget);
    diff_gates[2 * hidden + j] = along * input * (1 - candidate * candidate);
    diff_gates[3 * hidden + j] = diff * squashed * output * (1 - output);
    diff_cell[at] = along * forget;
  }
  for (std::int64_t i = 0; i < hidden; ++i) {
    float sum = 0;
    for (std::size_t gate = 0; gate < 4; ++gate) {
      for (std::int64_t j = 0; j < hidden; ++j) {
        sum += get(memory.weights + offsets_.recurrent_weights.at(gate), j * hidden + i) *
               diff_gates[static_cast<std::int64_t>(gate) * hidden + j];
      }
    }
    diff_state[static_cast<std::size_t>(i)] = sum;
  }
}

void PlainLstm::backward_data(const std::byte* /*destination*/, const std::byte* diff_destination,
                              std::byte* diff_source, const Memory& memory) const {
  const std::int64_t hidden = shape_.hidden;
  std::vector<float> diff_state;
  std::vector<float> diff_cell;
  for (std::int64_t row = shape_.batch * shape_.sequence; row-- > 0;) {
    if ((row + 1) % shape_.sequence == 0) {
      diff_state.assign(static_cast<std::size_t>(hidden), 0.0F);
      diff_cell.assign(static_cast<std::size_t>(hidden), 0.0F);
    }
    differentiate(memory, diff_destination, diff_state, diff_cell, row);
    const auto* diff_gates = reinterpret_cast<const float*>(memory.saved) + (row * 9 + 5) * hidden;
    for (std::int64_t i = 0; i < shape_.in_features; ++i) {
      float sum = 0;
      for (std::size_t gate = 0; gate < 4; ++gate) {
        for (std::int64_t j = 0; j < hidden; ++j) {
          sum += get(memory.weights + offsets_.weights.at(gate), j * shape_.in_features + i) *
                 diff_gates[static_cast<std::int64_t>(gate) * hidden + j];
        }
      }
      set(diff_source, row * shape_.in_features + i, sum);
    }
  }
}

/// Sums in f32, rounded once.
void PlainLstm::backward_weights(const std::byte* source, const std::byte* destination,
                                 const Memory& memory) const {
  const std::int64_t hidden = shape_.hidden;
  const std::int64_t rows = shape_.batch * shape_.sequence;
  const auto* saved = reinterpret_cast<const float*>(memory.saved);
  for (std::size_t gate = 0; gate < 4; ++gate) {
    for (std::int64_t j = 0; j < hidden; ++j) {
      const auto diff = [&](std::int64_t row) {
        return saved[(row * 9 + 5 + static_cast<std::int64_t>(gate)) * hidden + j];
      };
      const auto sum_of = [&](const auto& factor) {
        float sum = 0;
        for (std::int64_t row = 0; row < rows; ++row) sum += diff(row) * factor(row);
        return sum;
      };
      add(memory.weights + offsets_.bias.at(gate), j, sum_of([](std::int64_t) { return 1.0F; }));
      for (std::int64_t i = 0; i < shape_.in_features; ++i) {
        add(memory.weights + offsets_.weights.at(gate), j * shape_.in_features + i,
            sum_of([&](std::int64_t row) { return get(source, row * shape_.in_features + i); }));
      }
      for (std::int64_t i = 0; i < hidden; ++i) {
        add(memory.weights + offsets_.recurrent_weights.at(gate), j * hidden + i,
            sum_of([&](std::int64_t row) {
              return row % shape_.sequence == 0 ? 0 : get(destination, (row - 1) * hidden + i);
            }));
      }
    }
  }
}

}  // namespace parbench::emulation
