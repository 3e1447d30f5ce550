// Rows of the conformance table for long short-term memories: odd sizes, a single sample, position
// and element, sizes that are divided among threads.
#include "tests/kernels/ops/cases.h"

namespace parbench::test {

std::vector<OperationCase> lstm_cases() {
  constexpr double tight = 2e-5;
  // The state is rounded to bf16 at every position, and the next is computed from it.
  constexpr double loose = 2e-2;
  constexpr double carried = 5e-5;       // rounding errors of f32, through many positions
  constexpr double carried_bf16 = 4e-2;  // of states, cells and gates, in sums that cancel
  constexpr DType f32 = DType::f32;
  constexpr DType bf16 = DType::bf16;
  // batch, sequence, in, hidden
  constexpr LstmShape small{3, 5, 8, 16};
  constexpr LstmShape odd{2, 4, 5, 7};
  constexpr LstmShape one_sample{1, 6, 9, 11};
  constexpr LstmShape one_position{4, 1, 6, 10};
  constexpr LstmShape one{1, 1, 1, 1};
  // Weights here are far larger than trained ones: over many positions, states of many elements
  // would make a visible difference of every rounding.
  constexpr LstmShape large{24, 2, 70, 176};
  constexpr LstmShape long_one{60, 9, 300, 24};
  // So many rows that the weights are turned around first: of the source and of the state.
  constexpr LstmShape turned{36, 15, 20, 24};
  constexpr LstmShape even{6, 3, 16, 24};
  return {
      {"lstm", LstmForward{small}, tight},
      {"lstm_odd", LstmForward{odd}, tight},
      {"lstm_one_sample", LstmForward{one_sample}, tight},
      {"lstm_one_position", LstmForward{one_position}, tight},
      {"lstm_one", LstmForward{one}, tight},
      {"lstm_large", LstmForward{large}, tight},
      {"lstm_long", LstmForward{long_one}, carried},
      {"lstm_bf16", LstmForward{even, bf16}, loose},
      {"lstm_odd_bf16", LstmForward{odd, bf16}, loose},

      {"lstm_data", LstmBackwardData{small}, tight},
      {"lstm_data_odd", LstmBackwardData{odd}, tight},
      {"lstm_data_one_sample", LstmBackwardData{one_sample}, tight},
      {"lstm_data_one_position", LstmBackwardData{one_position}, tight},
      {"lstm_data_one", LstmBackwardData{one}, tight},
      {"lstm_data_large", LstmBackwardData{large}, tight},
      {"lstm_data_long", LstmBackwardData{long_one}, carried},
      {"lstm_data_turned", LstmBackwardData{turned}, carried},
      {"lstm_data_bf16", LstmBackwardData{even, bf16}, loose},
      {"lstm_data_odd_bf16", LstmBackwardData{odd, bf16}, loose},

      {"lstm_weights", LstmBackwardWeights{small}, tight},
      {"lstm_weights_odd", LstmBackwardWeights{odd, f32, true}, tight},
      {"lstm_weights_one_sample", LstmBackwardWeights{one_sample, f32, true}, tight},
      {"lstm_weights_one_position", LstmBackwardWeights{one_position}, tight},
      {"lstm_weights_one", LstmBackwardWeights{one, f32, true}, tight},
      {"lstm_weights_large", LstmBackwardWeights{large, f32, true}, tight},
      {"lstm_weights_long", LstmBackwardWeights{long_one}, carried},
      {"lstm_weights_bf16", LstmBackwardWeights{even, bf16}, carried_bf16},
      {"lstm_weights_odd_bf16", LstmBackwardWeights{odd, bf16, true}, carried_bf16},
  };
}

}  // namespace parbench::test
