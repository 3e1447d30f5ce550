// Mean squared error and the sums of reductions.
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/flat_kernels.h"
#include "kernels/cuda/device_code/loss_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

class MseLossOp final : public CudaOp {
 public:
  MseLossOp(CudaDevice& device, const MseLoss& desc)
      : CudaOp(device, desc), desc_(desc), count_(element_count(desc.shape)) {
    partials_ = add_scratch(sizeof(double) *
                            static_cast<std::size_t>(squared_error_partials(desc.dtype, count_)));
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    const SquaredError error{
        .prediction = arguments[0],
        .target = arguments[1],
        .difference = arguments[3],
        .dtype = desc_.dtype,
        .count = count_,
        .scale = static_cast<float>(2.0 / static_cast<double>(desc_.total_elements)),
        .divisor = desc_.total_elements,
        .accumulate = desc_.accumulate};
    squared_error(error, reinterpret_cast<double*>(stream.scratch() + partials_),
                  floats(arguments[2]), stream.handle());
  }

 private:
  MseLoss desc_;
  std::int64_t count_;
  std::size_t partials_ = 0;
};

class AccumulateOp final : public CudaOp {
 public:
  AccumulateOp(CudaDevice& device, const Accumulate& desc)
      : CudaOp(device, desc), count_(desc.count) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    accumulate(floats(arguments[1]), floats(arguments[0]), count_, stream.handle());
  }

 private:
  std::int64_t count_;
};

}  // namespace

Planned plan(CudaDevice& device, const MseLoss& desc) {
  return std::make_unique<MseLossOp>(device, desc);
}

Planned plan(CudaDevice& device, const Accumulate& desc) {
  return std::make_unique<AccumulateOp>(device, desc);
}

}  // namespace parbench::cuda
