// Takes the place of kernels/cuda/cudnn/lstm_engine.h: plain loops in place of cuDNN's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/base/tensor.h"
#include "kernels/ops/lstm.h"

namespace parbench::cuda {

class CudaDevice;
class CudaStream;

struct LstmGateOffsets {
  std::array<std::size_t, 4> weights{};
  std::array<std::size_t, 4> recurrent_weights{};
  std::array<std::size_t, 4> bias{};
};

struct LstmMemory {
  std::byte* weights;
  std::byte* workspace;
  std::byte* saved;
};

/// Its memory for weights holds the gates in another order than the operation's parameters, each
/// with its bias first, so that copies between the two are tested. What it saves is in f32.
class LstmEngine {
 public:
  LstmEngine(CudaDevice& device, const LstmShape& shape, DType dtype, MathMode math);

  [[nodiscard]] std::size_t weight_bytes() const;
  [[nodiscard]] static std::size_t workspace_bytes() { return 0; }
  [[nodiscard]] std::size_t saved_bytes() const;
  [[nodiscard]] const LstmGateOffsets& offsets(CudaStream& /*stream*/,
                                               std::byte* /*weights*/) const {
    return offsets_;
  }

  void forward(CudaStream& stream, const std::byte* source, std::byte* destination,
               const LstmMemory& memory) const;
  void backward_data(CudaStream& stream, const std::byte* destination,
                     const std::byte* diff_destination, std::byte* diff_source,
                     const LstmMemory& memory) const;
  void backward_weights(CudaStream& stream, const std::byte* source, const std::byte* destination,
                        const LstmMemory& memory) const;

 private:
  [[nodiscard]] float get(const std::byte* memory, std::int64_t index) const;
  void set(std::byte* memory, std::int64_t index, float value) const;
  void add(std::byte* memory, std::int64_t index, float value) const;
  void advance(const LstmMemory& memory, const std::byte* source, std::byte* destination,
               std::int64_t row) const;
  void differentiate(const LstmMemory& memory, const std::byte* diff_destination,
                     std::vector<float>& diff_state, std::vector<float>& diff_cell,
                     std::int64_t row) const;

  LstmShape shape_;
  DType dtype_;
  LstmGateOffsets offsets_;
};

}  // namespace parbench::cuda
