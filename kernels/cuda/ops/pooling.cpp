// Max pooling, average pooling and global average pooling and their backward passes, by kernels of
// this project. cuDNN's engines that write or read the indices of maxima are marked as using tensor
// cores, which strict f32 must not use. Its deprecated functions need the forward pass's source and
// destination, which the operation does not have (docs/decisions/cuda.md).
#include <fmt/format.h>

#include <memory>

#include "kernels/base/error.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/pooling_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

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

/// Returns the bytes of the indices, one per element.
std::size_t index_bytes(const PoolingShape& shape) {
  return static_cast<std::size_t>(element_count(shape.destination()));
}

std::uint8_t* bytes(std::byte* address) { return reinterpret_cast<std::uint8_t*>(address); }

class MaxPoolForwardOp final : public CudaOp {
 public:
  MaxPoolForwardOp(CudaDevice& device, const MaxPoolForward& desc)
      : CudaOp(device, desc, index_bytes(desc.shape)),
        dtype_(desc.dtype),
        windows_(windows_of(desc.shape)) {
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
      : CudaOp(device, desc, index_bytes(desc.shape)),
        dtype_(desc.dtype),
        windows_(windows_of(desc.shape)) {
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
      : AveragePoolOp(device, desc, desc.source, desc.dtype, average_pool) {}
  AveragePoolOp(CudaDevice& device, const GlobalAveragePoolBackward& desc)
      : AveragePoolOp(device, desc, desc.source, desc.dtype, average_pool_backward) {}

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    launch_(arguments[0], arguments[1], dtype_, source_[0], source_[2] * source_[3], source_[1],
            stream.handle());
  }

 private:
  using Launch = decltype(&average_pool);
  AveragePoolOp(CudaDevice& device, const OpDesc& desc, const Shape& source, DType dtype,
                Launch launch)
      : CudaOp(device, desc), source_(source), dtype_(dtype), launch_(launch) {
    set_implementation(own_kernel);
  }

  Shape source_;
  DType dtype_;
  Launch launch_;
};

class AverageWindowsOp final : public CudaOp {
 public:
  AverageWindowsOp(CudaDevice& device, const AveragePoolForward& desc)
      : AverageWindowsOp(device, desc, desc, average_windows) {}
  AverageWindowsOp(CudaDevice& device, const AveragePoolBackward& desc)
      : AverageWindowsOp(device, desc, desc, average_windows_backward) {}

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    launch_(arguments[0], arguments[1], dtype_, windows_, count_padding_, stream.handle());
  }

 private:
  using Launch = decltype(&average_windows);
  template <class Desc>
  AverageWindowsOp(CudaDevice& device, const OpDesc& desc, const Desc& pool, Launch launch)
      : CudaOp(device, desc),
        dtype_(pool.dtype),
        windows_(windows_of(pool.shape)),
        count_padding_(pool.count_padding),
        launch_(launch) {
    set_implementation(own_kernel);
  }

  DType dtype_;
  PoolingWindows windows_;
  bool count_padding_;
  Launch launch_;
};

void check_window(const OpDesc& desc, std::int64_t kernel) {
  if (kernel > max_window_positions || kernel * kernel > max_window_positions) {
    throw Unsupported(fmt::format(
        "{}: a kernel of {} has more positions than the {} that an index can name on CUDA devices; "
        "use a kernel of at most 15",
        name_of(desc), kernel, max_window_positions));
  }
}

}  // namespace

Planned plan(CudaDevice& device, const MaxPoolForward& desc) {
  check_window(desc, desc.shape.kernel);
  return std::make_unique<MaxPoolForwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const MaxPoolBackward& desc) {
  check_window(desc, desc.shape.kernel);
  return std::make_unique<MaxPoolBackwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const AveragePoolForward& desc) {
  return std::make_unique<AverageWindowsOp>(device, desc);
}

Planned plan(CudaDevice& device, const AveragePoolBackward& desc) {
  return std::make_unique<AverageWindowsOp>(device, desc);
}

Planned plan(CudaDevice& device, const GlobalAveragePoolForward& desc) {
  return std::make_unique<AveragePoolOp>(device, desc);
}

Planned plan(CudaDevice& device, const GlobalAveragePoolBackward& desc) {
  return std::make_unique<AveragePoolOp>(device, desc);
}

}  // namespace parbench::cuda
