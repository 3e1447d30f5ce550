// Addition of a row to every row of a matrix, and its backward step.
#include <cstdint>
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/linear_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

class AddRepeatedOp final : public CudaOp {
 public:
  AddRepeatedOp(CudaDevice& device, const AddRepeated& desc) : CudaOp(device, desc), desc_(desc) {
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
    add_row(at(0), at(1), desc_.repeats, desc_.count, at(2), stream.handle());
  }

  AddRepeated desc_;
};

class SumRepeatsOp final : public CudaOp {
 public:
  SumRepeatsOp(CudaDevice& device, const SumRepeats& desc) : CudaOp(device, desc), desc_(desc) {
    partials_ = add_scratch(column_sum_partials(desc.repeats, desc.count) * sizeof(float));
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
    sum_columns(reinterpret_cast<const Element*>(arguments[0]), desc_.repeats, desc_.count,
                desc_.accumulate, floats(stream.scratch() + partials_), floats(arguments[1]),
                stream.handle());
  }

  SumRepeats desc_;
  std::size_t partials_ = 0;
};

}  // namespace

Planned plan(CudaDevice& device, const AddRepeated& desc) {
  return std::make_unique<AddRepeatedOp>(device, desc);
}

Planned plan(CudaDevice& device, const SumRepeats& desc) {
  return std::make_unique<SumRepeatsOp>(device, desc);
}

}  // namespace parbench::cuda
