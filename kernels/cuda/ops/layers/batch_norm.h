// Operations of batch normalisation, and the choice between kernels of this project and of cuDNN.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/cuda/device_code/batch_norm/batch_norm_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {

/// An operation on scratch memory at any address, so that the tuner can run it on memory of its
/// own.
class NormOp : public CudaOp {
 public:
  using CudaOp::CudaOp;
  void execute(CudaStream& stream, Addresses arguments) final {
    run(stream, arguments, stream.scratch());
  }
  virtual void run(CudaStream& stream, Addresses arguments, std::byte* scratch) = 0;
};

/// Returns `kernels`, or cuDNN's normalisation if the device's tuner measures it to be faster.
[[nodiscard]] Planned faster_norm(CudaDevice& device, const BatchNormForward& desc,
                                  std::unique_ptr<NormOp> kernels);
[[nodiscard]] Planned faster_norm(CudaDevice& device, const BatchNormBackward& desc,
                                  std::unique_ptr<NormOp> kernels);

/// Returns the bytes of the mask of an activation.
[[nodiscard]] inline std::size_t mask_size(const Shape& shape) {
  return static_cast<std::size_t>(mask_bytes(element_count(shape)));
}

template <class Element>
Element* elements(std::byte* address) {
  return reinterpret_cast<Element*>(address);
}

}  // namespace parbench::cuda
