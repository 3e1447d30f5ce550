// Gates and states, vectorised.
#include "kernels/cpu/ops/layers/lstm_loops.h"

#include "kernels/base/simd.h"
#include "kernels/cpu/ops/layers/vector_math.h"

namespace parbench::cpu {
namespace {

/// Returns 1/(1 + e^−x); a NaN stays a NaN.
[[gnu::always_inline]] inline float sigmoid(float x) {
  constexpr float max = 87.0F;  // within the range of vector_exp
  const float negative = -x > max ? max : -x;
  return 1.0F / (1.0F + vector_exp(negative));
}

/// Returns tanh x with an error of at most 2^-22; a NaN stays a NaN.
[[gnu::always_inline]] inline float tangent(float x) { return 2.0F * sigmoid(2.0F * x) - 1.0F; }

template <class Element>
[[gnu::always_inline]] inline void advance(const LstmCell& row, Element* output, Element* state) {
  const std::size_t hidden = row.hidden;
  float* gates = row.gates;
  const float* recurrent = row.recurrent;
  const float* cell_before = row.cell_before;
  float* cell = row.cell;
#pragma omp simd
  for (std::size_t j = 0; j < hidden; ++j) {
    const float input = sigmoid(gates[j] + recurrent[j]);
    const float forget = sigmoid(gates[hidden + j] + recurrent[hidden + j]);
    const float candidate = tangent(gates[2 * hidden + j] + recurrent[2 * hidden + j]);
    const float exposed = sigmoid(gates[3 * hidden + j] + recurrent[3 * hidden + j]);
    const float next = forget * cell_before[j] + input * candidate;
    gates[j] = input;
    gates[hidden + j] = forget;
    gates[2 * hidden + j] = candidate;
    gates[3 * hidden + j] = exposed;
    cell[j] = next;
    const float result = exposed * tangent(next);
    set_element(output[j], result);
    set_element(state[j], result);
  }
}

template <class Element>
[[gnu::always_inline]] inline void differentiate(const LstmCellGradient& row,
                                                 const Element* diff_output, Element* diff_gates,
                                                 Element* same_gates) {
  const std::size_t hidden = row.hidden;
  const float* gates = row.gates;
  const float* cell = row.cell;
  const float* cell_before = row.cell_before;
  const float* diff_state = row.diff_state;
  float* diff_cell = row.diff_cell;
#pragma omp simd
  for (std::size_t j = 0; j < hidden; ++j) {
    const float input = gates[j];
    const float forget = gates[hidden + j];
    const float candidate = gates[2 * hidden + j];
    const float exposed = gates[3 * hidden + j];
    const float squashed = tangent(cell[j]);
    const float diff = to_f32(diff_output[j]) + diff_state[j];
    const float along = diff_cell[j] + diff * exposed * (1.0F - squashed * squashed);
    const float of_input = along * candidate * input * (1.0F - input);
    const float of_forget = along * cell_before[j] * forget * (1.0F - forget);
    const float of_candidate = along * input * (1.0F - candidate * candidate);
    const float of_exposed = diff * squashed * exposed * (1.0F - exposed);
    diff_cell[j] = along * forget;
    set_element(diff_gates[j], of_input);
    set_element(diff_gates[hidden + j], of_forget);
    set_element(diff_gates[2 * hidden + j], of_candidate);
    set_element(diff_gates[3 * hidden + j], of_exposed);
    set_element(same_gates[j], of_input);
    set_element(same_gates[hidden + j], of_forget);
    set_element(same_gates[2 * hidden + j], of_candidate);
    set_element(same_gates[3 * hidden + j], of_exposed);
  }
}

}  // namespace

PARBENCH_SIMD void advance_cell(const LstmCell& cell, float* output, float* state) {
  advance(cell, output, state);
}

PARBENCH_SIMD void advance_cell(const LstmCell& cell, std::uint16_t* output, std::uint16_t* state) {
  advance(cell, output, state);
}

PARBENCH_SIMD void differentiate_cell(const LstmCellGradient& cell, const float* diff_output,
                                      float* diff_gates, float* same_gates) {
  differentiate(cell, diff_output, diff_gates, same_gates);
}

PARBENCH_SIMD void differentiate_cell(const LstmCellGradient& cell,
                                      const std::uint16_t* diff_output, std::uint16_t* diff_gates,
                                      std::uint16_t* same_gates) {
  differentiate(cell, diff_output, diff_gates, same_gates);
}

}  // namespace parbench::cpu
