// ReLU, its backward step, and addition, on activations.
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/flat_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"
#include "kernels/ops/checks.h"

namespace parbench::cuda {
namespace {

/// Arguments in the operation's order, all of one shape and type.
using Addresses = std::span<std::byte* const>;
using Launch = void (*)(Addresses at, DType dtype, std::int64_t count, cudaStream_t stream);

class ElementwiseOp final : public CudaOp {
 public:
  template <class Desc>
  ElementwiseOp(CudaDevice& device, const Desc& desc, Launch launch)
      : CudaOp(device, name_of(desc)),
        launch_(launch),
        dtype_(desc.dtype),
        count_(element_count(desc.shape)),
        tensor_(device.activation(desc.shape, desc.dtype)) {
    set_implementation("CUDA kernel");
  }

  void reads(std::string_view role) { add_argument(role, Access::read, tensor_); }
  void writes(std::string_view role) { add_argument(role, Access::write, tensor_); }

  void execute(CudaStream& stream, Addresses arguments) override {
    launch_(arguments, dtype_, count_, stream.handle());
  }

 private:
  Launch launch_;
  DType dtype_;
  std::int64_t count_;
  TensorDesc tensor_;
};

template <class Desc>
std::unique_ptr<ElementwiseOp> checked(CudaDevice& device, const Desc& desc, Launch launch) {
  const auto name = name_of(desc);
  if (desc.shape.size() != 2) check_shape(name, desc.shape, 4);
  check_extents(name, desc.shape);
  device.check_dtype(name, desc.dtype);
  return std::make_unique<ElementwiseOp>(device, desc, launch);
}

void launch_relu(Addresses at, DType dtype, std::int64_t count, cudaStream_t stream) {
  relu(at[1], at[0], dtype, count, stream);
}

void launch_gate(Addresses at, DType dtype, std::int64_t count, cudaStream_t stream) {
  gate(at[2], at[0], at[1], dtype, count, stream);
}

void launch_add(Addresses at, DType dtype, std::int64_t count, cudaStream_t stream) {
  add(at[2], at[0], at[1], dtype, count, stream);
}

}  // namespace

Planned plan(CudaDevice& device, const ReluForward& desc) {
  auto op = checked(device, desc, launch_relu);
  op->reads("source");
  op->writes("destination");
  return op;
}

Planned plan(CudaDevice& device, const ReluBackward& desc) {
  auto op = checked(device, desc, launch_gate);
  op->reads("destination");
  op->reads("diff_destination");
  op->writes("diff_source");
  return op;
}

Planned plan(CudaDevice& device, const Add& desc) {
  auto op = checked(device, desc, launch_add);
  op->reads("a");
  op->reads("b");
  op->writes("destination");
  return op;
}

}  // namespace parbench::cuda
