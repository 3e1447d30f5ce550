// Loops of a long short-term memory between its matrix products: one position of one sample, in the
// calling thread. A row of gates holds input, forget, cell and output gates one after the other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace parbench::cpu {

/// Operands of `advance_cell`, except the state.
struct LstmCell {
  std::size_t hidden;
  // product with the source, plus bias; the loop adds `recurrent` and replaces the sums by the
  // values of the gates
  float* gates;
  const float* recurrent;  // product with the previous state
  const float* cell_before;
  float* cell;
};

/// Computes the gates, the cell and the state, and writes the state to both `output` and `state`.
void advance_cell(const LstmCell& cell, float* output, float* state);
void advance_cell(const LstmCell& cell, std::uint16_t* output, std::uint16_t* state);

/// Operands of `differentiate_cell` in f32.
struct LstmCellGradient {
  std::size_t hidden;
  const float* gates;
  const float* cell_before;
  const float* cell;
  const float* diff_state;  // gradient of the state from the next position
  // gradient of the cell from the next position; replaced by the gradient for the previous position
  float* diff_cell;
};

/// Writes the gradients of the gates' inputs to both `diff_gates` and `same_gates`.
void differentiate_cell(const LstmCellGradient& cell, const float* diff_output, float* diff_gates,
                        float* same_gates);
void differentiate_cell(const LstmCellGradient& cell, const std::uint16_t* diff_output,
                        std::uint16_t* diff_gates, std::uint16_t* same_gates);

}  // namespace parbench::cpu
