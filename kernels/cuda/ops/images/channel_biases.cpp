// Addition of a number to each channel of an image, and its backward step; pixels are rows.
#include <cstdint>
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/linear_kernels.h"
#include "kernels/cuda/ops/images/pixels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

class AddChannelBiasOp final : public CudaOp {
 public:
  AddChannelBiasOp(CudaDevice& device, const AddChannelBias& desc)
      : CudaOp(device, desc), desc_(desc) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    if (desc_.dtype == DType::bf16) {
      run<std::uint16_t>(stream, arguments);
    } else {
      run<float>(stream, arguments);
    }
  }

 private:
  template <class Element>
  void run(CudaStream& stream, std::span<std::byte* const> arguments) const {
    const auto at = [&](std::size_t i) { return reinterpret_cast<Element*>(arguments[i]); };
    add_row(at(0), floats(arguments[1]), pixels_of(desc_.shape), desc_.shape[1], at(2),
            stream.handle());
  }

  AddChannelBias desc_;
};

class SumChannelsOp final : public CudaOp {
 public:
  SumChannelsOp(CudaDevice& device, const SumChannels& desc) : CudaOp(device, desc), desc_(desc) {
    partials_ =
        add_scratch(column_sum_partials(pixels_of(desc.shape), desc.shape[1]) * sizeof(float));
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    if (desc_.dtype == DType::bf16) {
      run<std::uint16_t>(stream, arguments);
    } else {
      run<float>(stream, arguments);
    }
  }

 private:
  template <class Element>
  void run(CudaStream& stream, std::span<std::byte* const> arguments) const {
    sum_columns(reinterpret_cast<const Element*>(arguments[0]), pixels_of(desc_.shape),
                desc_.shape[1], desc_.accumulate, floats(stream.scratch() + partials_),
                floats(arguments[1]), stream.handle());
  }

  SumChannels desc_;
  std::size_t partials_ = 0;
};

}  // namespace

Planned plan(CudaDevice& device, const AddChannelBias& desc) {
  return std::make_unique<AddChannelBiasOp>(device, desc);
}

Planned plan(CudaDevice& device, const SumChannels& desc) {
  return std::make_unique<SumChannelsOp>(device, desc);
}

}  // namespace parbench::cuda
