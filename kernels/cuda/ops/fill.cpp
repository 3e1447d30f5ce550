// Fills tensors with the counter-based generator, in any element type.
#include <memory>

#include "kernels/cuda/device_code/fill_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

class FillOp final : public CudaOp {
 public:
  FillOp(CudaDevice& device, const Fill& desc)
      : CudaOp(device, desc), desc_(desc), range_(uniform_range(desc.low, desc.high)) {
    set_implementation("CUDA kernel, philox4x32-10");
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    const RandomStream random{desc_.seed, desc_.subsequence};
    switch (desc_.distribution) {
      case Distribution::uniform:
        return fill_uniform(arguments[0], desc_.dtype, desc_.count, random, range_,
                            stream.handle());
      case Distribution::normal:
        return fill_normal(arguments[0], desc_.dtype, desc_.count, random, desc_.low, desc_.high,
                           stream.handle());
      case Distribution::constant:
        return fill_constant(arguments[0], desc_.dtype, desc_.count, desc_.low, stream.handle());
    }
  }

 private:
  Fill desc_;
  UniformRange range_;
};

}  // namespace

Planned plan(CudaDevice& device, const Fill& desc) {
  return std::make_unique<FillOp>(device, desc);
}

}  // namespace parbench::cuda
