// A long short-term memory of cuDNN: one layer in one direction, with sequences of equal length.
#pragma once

#include <cudnn.h>

#include <array>
#include <cstddef>
#include <memory>

#include "kernels/base/tensor.h"
#include "kernels/ops/lstm.h"

namespace parbench::cuda {

class CudaDevice;
class CudaStream;

/// Offsets of each gate's parameters in cuDNN's memory for weights, in bytes. The gates are in the
/// order of LstmShape; matrices and biases are dense.
struct LstmGateOffsets {
  std::array<std::size_t, 4> weights{};
  std::array<std::size_t, 4> recurrent_weights{};
  std::array<std::size_t, 4> bias{};
};

/// Memory of an execution in addition to the memory of its tensors.
struct LstmMemory {
  std::byte* weights;    // weight_bytes() bytes, laid out by `offsets`
  std::byte* workspace;  // workspace_bytes() bytes
  std::byte* saved;      // saved_bytes() bytes, kept from the forward to both backward passes
};

class LstmEngine {
 public:
  /// Throws Unsupported if cuDNN does not support the description.
  LstmEngine(CudaDevice& device, const LstmShape& shape, DType dtype, MathMode math);

  [[nodiscard]] std::size_t weight_bytes() const { return weight_bytes_; }
  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
  [[nodiscard]] std::size_t saved_bytes() const { return saved_bytes_; }

  /// Returns the offsets, which do not depend on the address `weights`. Queries cuDNN at the first
  /// call.
  [[nodiscard]] const LstmGateOffsets& offsets(CudaStream& stream, std::byte* weights);

  void forward(CudaStream& stream, const std::byte* source, std::byte* destination,
               const LstmMemory& memory) const;
  void backward_data(CudaStream& stream, const std::byte* destination,
                     const std::byte* diff_destination, std::byte* diff_source,
                     const LstmMemory& memory) const;
  /// Accumulates the gradients, which are laid out in memory.weights like the weights.
  void backward_weights(CudaStream& stream, const std::byte* source, const std::byte* destination,
                        const LstmMemory& memory) const;

 private:
  template <class Descriptor, cudnnStatus_t (*destroy)(Descriptor)>
  struct Destroy {
    using pointer = Descriptor;  // required by std::unique_ptr
    void operator()(Descriptor descriptor) const { (void)destroy(descriptor); }
  };
  template <class Descriptor, cudnnStatus_t (*destroy)(Descriptor)>
  using Owned = std::unique_ptr<void, Destroy<Descriptor, destroy>>;
  using Sequences = Owned<cudnnRNNDataDescriptor_t, &cudnnDestroyRNNDataDescriptor>;
  using States = Owned<cudnnTensorDescriptor_t, &cudnnDestroyTensorDescriptor>;

  [[nodiscard]] static Sequences sequences(const LstmShape& shape, std::int64_t width,
                                           cudnnDataType_t type);
  [[nodiscard]] static States make_states();
  void set_layer(cudnnHandle_t handle, const LstmShape& shape, DType dtype, MathMode math);

  Owned<cudnnDropoutDescriptor_t, &cudnnDestroyDropoutDescriptor> dropout_;  // probability: 0
  Owned<cudnnRNNDescriptor_t, &cudnnDestroyRNNDescriptor> layer_;
  Sequences source_;
  Sequences destination_;
  States state_;
  std::size_t weight_bytes_ = 0;
  std::size_t workspace_bytes_ = 0;
  std::size_t saved_bytes_ = 0;
  LstmGateOffsets offsets_;
  bool has_offsets_ = false;
};

}  // namespace parbench::cuda
