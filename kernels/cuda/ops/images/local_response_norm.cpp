// Local response normalisation and its backward pass, by kernels of this project.
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/images/local_response_norm_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

template <class Desc>
ResponseNorm response_norm_of(const Desc& desc) {
  return {.rows = desc.shape[0] * desc.shape[2] * desc.shape[3],
          .channels = desc.shape[1],
          .reach = desc.size / 2,
          .scale = desc.alpha / static_cast<float>(desc.size),
          .beta = desc.beta,
          .offset = desc.offset};
}

/// Returns the bytes that the forward pass saves: the bases of its powers.
std::size_t bases_bytes(const Shape& shape) {
  return static_cast<std::size_t>(element_count(shape)) * sizeof(float);
}

class ResponseNormForwardOp final : public CudaOp {
 public:
  ResponseNormForwardOp(CudaDevice& device, const LocalResponseNormForward& desc)
      : CudaOp(device, desc, bases_bytes(desc.shape)),
        dtype_(desc.dtype),
        norm_(response_norm_of(desc)) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    normalise_responses(arguments[1], floats(arguments[2]), arguments[0], dtype_, norm_,
                        stream.handle());
  }

 private:
  DType dtype_;
  ResponseNorm norm_;
};

class ResponseNormBackwardOp final : public CudaOp {
 public:
  ResponseNormBackwardOp(CudaDevice& device, const LocalResponseNormBackward& desc)
      : CudaOp(device, desc, bases_bytes(desc.shape)),
        dtype_(desc.dtype),
        norm_(response_norm_of(desc)) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    normalise_responses_backward(arguments[3], arguments[1], arguments[0], floats(arguments[2]),
                                 dtype_, norm_, stream.handle());
  }

 private:
  DType dtype_;
  ResponseNorm norm_;
};

}  // namespace

Planned plan(CudaDevice& device, const LocalResponseNormForward& desc) {
  return std::make_unique<ResponseNormForwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const LocalResponseNormBackward& desc) {
  return std::make_unique<ResponseNormBackwardOp>(device, desc);
}

}  // namespace parbench::cuda
