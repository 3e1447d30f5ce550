// Copies between any two layouts and element types of CUDA devices.
#include <memory>

#include "kernels/cuda/device_code/reorder_kernels.h"
#include "kernels/cuda/ops/layout.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// Returns whether the elements are stored in the same order. The stride of a dimension of extent
/// one is irrelevant.
bool same_order(const TensorDesc& a, const TensorDesc& b) {
  const std::vector<std::int64_t> left = strides_of(a);
  const std::vector<std::int64_t> right = strides_of(b);
  for (std::size_t i = 0; i < a.shape.size(); ++i) {
    if (a.shape[i] != 1 && left[i] != right[i]) return false;
  }
  return true;
}

class ConversionOp final : public CudaOp {
 public:
  ConversionOp(CudaDevice& device, const Reorder& desc)
      : CudaOp(device, desc),
        from_(desc.source.dtype),
        to_(desc.destination.dtype),
        count_(element_count(desc.source.shape)) {
    set_implementation(from_ == to_ ? "cudaMemcpyAsync" : "CUDA kernel");
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    convert({arguments[1], to_}, {arguments[0], from_}, count_, stream.handle());
  }

 private:
  DType from_;
  DType to_;
  std::int64_t count_;
};

/// Converts between the two layouts: a tensor is a batch of matrices, channels by pixels, and one
/// layout is the transpose of the other.
class TransposeOp final : public CudaOp {
 public:
  TransposeOp(CudaDevice& device, const Reorder& desc)
      : CudaOp(device, desc), from_(desc.source.dtype), to_(desc.destination.dtype) {
    const Shape& shape = desc.source.shape;
    const std::size_t rank = shape.size();
    rows_ = shape[rank - 3];
    columns_ = shape[rank - 2] * shape[rank - 1];
    batch_ = element_count(shape) / (rows_ * columns_);
    if (!desc.source.layout.is_canonical()) std::swap(rows_, columns_);
    set_implementation("CUDA kernel, transposing");
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    transpose({arguments[1], to_}, {arguments[0], from_}, batch_, rows_, columns_, stream.handle());
  }

 private:
  DType from_;
  DType to_;
  std::int64_t batch_ = 1;
  std::int64_t rows_ = 1;
  std::int64_t columns_ = 1;
};

}  // namespace

Planned plan(CudaDevice& device, const Reorder& desc) {
  if (same_order(desc.source, desc.destination)) {
    return std::make_unique<ConversionOp>(device, desc);
  }
  return std::make_unique<TransposeOp>(device, desc);
}

}  // namespace parbench::cuda
