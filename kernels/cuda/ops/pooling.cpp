// Max pooling and global average pooling, both ways, by kernels of our own. cuDNN's engines that
// write or read the indices of maxima are marked as using tensor cores, which f32 must not, and its
// deprecated functions want the forward pass's source and destination, which the operation does not
// take (docs/decisions/0010-cuda-backend.md).
#include <fmt/format.h>

#include <memory>

#include "kernels/base/error.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/pooling_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"
#include "kernels/ops/checks.h"

namespace parbench::cuda {
namespace {

constexpr std::string_view own_kernel = "CUDA kernel";

Shape matrix(const Shape& source) { return {source[0], source[1]}; }

PoolingWindows windows_of(const PoolingShape& shape) {
  const Shape destination = shape.destination();
  return {.batch = shape.source[0],
          .channels = shape.source[1],
          .height = shape.source[2],
          .width = shape.source[3],
          .out_height = destination[2],
          .out_width = destination[3],
          .kernel = shape.kernel,
          .stride = shape.stride,
          .padding = shape.padding};
}

/// One byte an element.
TensorDesc indices_of(const PoolingShape& shape) {
  return opaque(static_cast<std::size_t>(element_count(shape.destination())));
}

std::uint8_t* bytes(std::byte* address) { return reinterpret_cast<std::uint8_t*>(address); }

class MaxPoolForwardOp final : public CudaOp {
 public:
  MaxPoolForwardOp(CudaDevice& device, const MaxPoolForward& desc)
      : CudaOp(device, name_of(desc)), dtype_(desc.dtype), windows_(windows_of(desc.shape)) {
    const Shape destination = desc.shape.destination();
    add_argument("source", Access::read, device.activation(desc.shape.source, dtype_));
    add_argument("destination", Access::write, device.activation(destination, dtype_));
    add_argument("indices", Access::write, indices_of(desc.shape));
    // One comparison per element of every window.
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    max_pool(arguments[0], arguments[1], bytes(arguments[2]), dtype_, windows_, stream.handle());
  }

 private:
  DType dtype_;
  PoolingWindows windows_;
};

class MaxPoolBackwardOp final : public CudaOp {
 public:
  MaxPoolBackwardOp(CudaDevice& device, const MaxPoolBackward& desc)
      : CudaOp(device, name_of(desc)), dtype_(desc.dtype), windows_(windows_of(desc.shape)) {
    const Shape destination = desc.shape.destination();
    add_argument("diff_destination", Access::read, device.activation(destination, dtype_));
    add_argument("indices", Access::read, indices_of(desc.shape));
    add_argument("diff_source", Access::write, device.activation(desc.shape.source, dtype_));
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    max_pool_backward(arguments[0], bytes(arguments[1]), arguments[2], dtype_, windows_,
                      stream.handle());
  }

 private:
  DType dtype_;
  PoolingWindows windows_;
};

class AveragePoolOp final : public CudaOp {
 public:
  AveragePoolOp(CudaDevice& device, const GlobalAveragePoolForward& desc)
      : AveragePoolOp(device, name_of(desc), desc.source, desc.dtype, average_pool) {
    add_argument("source", Access::read, device.activation(desc.source, desc.dtype));
    add_argument("destination", Access::write, canonical(matrix(desc.source), desc.dtype));
  }
  AveragePoolOp(CudaDevice& device, const GlobalAveragePoolBackward& desc)
      : AveragePoolOp(device, name_of(desc), desc.source, desc.dtype, average_pool_backward) {
    add_argument("diff_destination", Access::read, canonical(matrix(desc.source), desc.dtype));
    add_argument("diff_source", Access::write, device.activation(desc.source, desc.dtype));
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    launch_(arguments[0], arguments[1], dtype_, source_[0], source_[2] * source_[3], source_[1],
            stream.handle());
  }

 private:
  using Launch = decltype(&average_pool);
  AveragePoolOp(CudaDevice& device, std::string_view name, const Shape& source, DType dtype,
                Launch launch)
      : CudaOp(device, name), source_(source), dtype_(dtype), launch_(launch) {
    set_implementation(own_kernel);
  }

  Shape source_;
  DType dtype_;
  Launch launch_;
};

template <class Desc>
void check_max_pool(const CudaDevice& device, const Desc& desc) {
  const auto name = name_of(desc);
  check(name, desc.shape);
  device.check_dtype(name, desc.dtype);
  const std::int64_t kernel = desc.shape.kernel;
  if (kernel > max_window_positions || kernel * kernel > max_window_positions) {
    throw Unsupported(fmt::format(
        "{}: a kernel of {} has more positions than the {} that an index can name on CUDA devices; "
        "use a kernel of at most 15",
        name, kernel, max_window_positions));
  }
}

template <class Desc>
void check_average_pool(const CudaDevice& device, const Desc& desc) {
  const auto name = name_of(desc);
  check_shape(name, desc.source, 4);
  device.check_dtype(name, desc.dtype);
}

}  // namespace

Planned plan(CudaDevice& device, const MaxPoolForward& desc) {
  check_max_pool(device, desc);
  return std::make_unique<MaxPoolForwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const MaxPoolBackward& desc) {
  check_max_pool(device, desc);
  return std::make_unique<MaxPoolBackwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const GlobalAveragePoolForward& desc) {
  check_average_pool(device, desc);
  return std::make_unique<AveragePoolOp>(device, desc);
}

Planned plan(CudaDevice& device, const GlobalAveragePoolBackward& desc) {
  check_average_pool(device, desc);
  return std::make_unique<AveragePoolOp>(device, desc);
}

}  // namespace parbench::cuda
