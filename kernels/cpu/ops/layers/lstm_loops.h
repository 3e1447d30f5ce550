// The loops of a long short-term memory between its matrix products: one position of one sample.
// Each runs in the calling thread. Rows of gates hold input, forget, cell and output gates one
// after the other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace parbench::cpu {

/// What a cell reads and writes beside its results.
struct LstmCell {
  std::size_t hidden;
  float* gates;            // product with the source, and bias; replaced by the gates
  const float* recurrent;  // product with the state before
  const float* cell_before;
  float* cell;
};

/// Writes the state to both places.
void advance_cell(const LstmCell& cell, float* output, float* state);
void advance_cell(const LstmCell& cell, std::uint16_t* output, std::uint16_t* state);

/// What the gradient of a cell reads and writes beside the gradients of the gates.
struct LstmCellGradient {
  std::size_t hidden;
  const float* gates;
  const float* cell_before;
  const float* cell;
  const float* diff_state;  // from the position behind
  float* diff_cell;         // from the position behind; replaced by that for the position before
};

/// Writes the gradients of the gates before their functions to both places.
void differentiate_cell(const LstmCellGradient& cell, const float* diff_output, float* diff_gates,
                        float* same_gates);
void differentiate_cell(const LstmCellGradient& cell, const std::uint16_t* diff_output,
                        std::uint16_t* diff_gates, std::uint16_t* same_gates);

}  // namespace parbench::cpu
