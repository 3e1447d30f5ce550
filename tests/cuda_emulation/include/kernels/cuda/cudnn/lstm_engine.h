// Takes the place of kernels/cuda/cudnn/lstm_engine.h: plain loops in place of cuDNN's.
#pragma once

#include <cstddef>

#include "tests/cuda_emulation/plain_lstm.h"

namespace parbench::cuda {

class CudaDevice;
class CudaStream;

using LstmGateOffsets = emulation::PlainLstm::Offsets;

struct LstmMemory {
  std::byte* weights;
  std::byte* workspace;
  std::byte* saved;
};

class LstmEngine {
 public:
  LstmEngine(CudaDevice& /*device*/, const LstmShape& shape, DType dtype, MathMode /*math*/)
      : loops_(shape, dtype) {}

  [[nodiscard]] std::size_t weight_bytes() const { return loops_.weight_bytes(); }
  [[nodiscard]] static std::size_t workspace_bytes() { return 0; }
  [[nodiscard]] std::size_t saved_bytes() const { return loops_.saved_bytes(); }
  [[nodiscard]] const LstmGateOffsets& offsets(CudaStream& /*stream*/,
                                               std::byte* /*weights*/) const {
    return loops_.offsets();
  }

  void forward(CudaStream& /*stream*/, const std::byte* source, std::byte* destination,
               const LstmMemory& memory) const {
    loops_.forward(source, destination, {memory.weights, memory.saved});
  }
  void backward_data(CudaStream& /*stream*/, const std::byte* destination,
                     const std::byte* diff_destination, std::byte* diff_source,
                     const LstmMemory& memory) const {
    loops_.backward_data(destination, diff_destination, diff_source,
                         {memory.weights, memory.saved});
  }
  void backward_weights(CudaStream& /*stream*/, const std::byte* source,
                        const std::byte* destination, const LstmMemory& memory) const {
    loops_.backward_weights(source, destination, {memory.weights, memory.saved});
  }

 private:
  emulation::PlainLstm loops_;
};

}  // namespace parbench::cuda
