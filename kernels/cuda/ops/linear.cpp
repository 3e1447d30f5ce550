// Fully connected layers and matrix products on cuBLASLt.
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/linear_kernels.h"
#include "kernels/cuda/ops/matmul.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"
#include "kernels/ops/checks.h"

namespace parbench::cuda {
namespace {

TensorDesc source_of(const LinearShape& shape, DType dtype) {
  return canonical({shape.batch, shape.in_features}, dtype);
}

TensorDesc destination_of(const LinearShape& shape, DType dtype) {
  return canonical({shape.batch, shape.out_features}, dtype);
}

TensorDesc weights_of(const LinearShape& shape, DType dtype) {
  return canonical({shape.out_features, shape.in_features}, dtype);
}

// The matrix as it lies in memory.
TensorDesc stored(std::int64_t rows, std::int64_t columns, bool transposed, DType dtype) {
  return transposed ? canonical({columns, rows}, dtype) : canonical({rows, columns}, dtype);
}

/// An operation that is one product: its arguments are a, b and c, by whatever names.
class ProductOp final : public CudaOp {
 public:
  ProductOp(CudaDevice& device, std::string_view name, const Product& product)
      : CudaOp(device, name),
        matmul_(Matmul::get(device, name, product)),
        workspace_(add_scratch(matmul_->workspace_bytes())) {
    set_implementation(matmul_->description(), matmul_->chosen_by());
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    matmul_->run(stream.handle(), {arguments[0], arguments[1], arguments[2]},
                 stream.scratch() + workspace_);
  }

 private:
  std::unique_ptr<Matmul> matmul_;
  std::size_t workspace_;
};

/// The library adds a bias of the destination's type. For bf16 the bias is rounded first; where
/// there is no algorithm with a bias, it is written to the destination, and the product added.
class LinearForwardOp final : public CudaOp {
 public:
  LinearForwardOp(CudaDevice& device, const LinearForward& desc);
  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override;

 private:
  /// Writes the bias to `rows` rows of the activations' type.
  void write_bias(const std::byte* bias, std::int64_t rows, std::byte* matrix,
                  cudaStream_t stream) const;

  LinearForward desc_;
  std::unique_ptr<Matmul> matmul_;
  bool fused_ = true;
  std::size_t workspace_ = 0;
  std::size_t rounded_ = 0;
};

LinearForwardOp::LinearForwardOp(CudaDevice& device, const LinearForward& desc)
    : CudaOp(device, name_of(desc)), desc_(desc) {
  const auto& [batch, in_features, out_features] = desc.shape;
  Product product{.m = batch,
                  .n = out_features,
                  .k = in_features,
                  .transpose_b = true,
                  .input = desc.dtype,
                  .output = desc.dtype,
                  .bias = true,
                  .math = desc.math};
  add_argument("source", Access::read, source_of(desc.shape, desc.dtype));
  add_argument("weights", Access::read, weights_of(desc.shape, desc.dtype));
  add_argument("bias", Access::read, canonical({out_features}));
  add_argument("destination", Access::write, destination_of(desc.shape, desc.dtype));
  matmul_ = Matmul::find(device, product);
  fused_ = matmul_ != nullptr;
  if (!fused_) {
    product.bias = false;
    product.accumulate = true;
    matmul_ = Matmul::get(device, name_of(desc), product);
  }
  workspace_ = add_scratch(matmul_->workspace_bytes());
  if (fused_ && desc.dtype == DType::bf16) {
    rounded_ = add_scratch(canonical({out_features}, desc.dtype).bytes);
  }
  set_implementation(
      matmul_->description() + (fused_ ? ", bias in its epilogue" : ", bias by a CUDA kernel"),
      matmul_->chosen_by());
}

void LinearForwardOp::write_bias(const std::byte* bias, std::int64_t rows, std::byte* matrix,
                                 cudaStream_t stream) const {
  const auto* row = reinterpret_cast<const float*>(bias);
  const std::int64_t columns = desc_.shape.out_features;
  if (desc_.dtype == DType::f32) {
    repeat_row(row, rows, columns, reinterpret_cast<float*>(matrix), stream);
  } else {
    repeat_row(row, rows, columns, reinterpret_cast<std::uint16_t*>(matrix), stream);
  }
}

void LinearForwardOp::execute(CudaStream& stream, std::span<std::byte* const> arguments) {
  const std::byte* bias = arguments[2];
  std::byte* destination = arguments[3];
  if (!fused_) {
    write_bias(bias, desc_.shape.batch, destination, stream.handle());
    bias = nullptr;
  } else if (desc_.dtype == DType::bf16) {
    std::byte* rounded = stream.scratch() + rounded_;
    write_bias(bias, 1, rounded, stream.handle());
    bias = rounded;
  }
  matmul_->run(stream.handle(), {arguments[0], arguments[1], destination, bias},
               stream.scratch() + workspace_);
}

/// cuBLASLt's own gradient of a bias cannot be added to what is there, and promises no order of its
/// sums, so parbench has a kernel of its own.
class LinearBackwardWeightsOp final : public CudaOp {
 public:
  LinearBackwardWeightsOp(CudaDevice& device, const LinearBackwardWeights& desc);
  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override;

 private:
  LinearBackwardWeights desc_;
  std::unique_ptr<Matmul> matmul_;
  std::size_t workspace_ = 0;
  std::size_t partials_ = 0;
};

LinearBackwardWeightsOp::LinearBackwardWeightsOp(CudaDevice& device,
                                                 const LinearBackwardWeights& desc)
    : CudaOp(device, name_of(desc)), desc_(desc) {
  const auto& [batch, in_features, out_features] = desc.shape;
  const Access gradient = desc.accumulate ? Access::read_write : Access::write;
  add_argument("source", Access::read, source_of(desc.shape, desc.dtype));
  add_argument("diff_destination", Access::read, destination_of(desc.shape, desc.dtype));
  add_argument("diff_weights", gradient, weights_of(desc.shape, DType::f32));
  add_argument("diff_bias", gradient, canonical({out_features}));
  matmul_ = Matmul::get(device, name_of(desc),
                        {.m = out_features,
                         .n = in_features,
                         .k = batch,
                         .transpose_a = true,
                         .input = desc.dtype,
                         .accumulate = desc.accumulate,
                         .math = desc.math});
  workspace_ = add_scratch(matmul_->workspace_bytes());
  partials_ = add_scratch(column_sum_partials(batch, out_features) * sizeof(float));
  set_implementation(matmul_->description() + ", diff_bias by a CUDA kernel", matmul_->chosen_by());
}

void LinearBackwardWeightsOp::execute(CudaStream& stream, std::span<std::byte* const> arguments) {
  matmul_->run(stream.handle(), {arguments[1], arguments[0], arguments[2]},
               stream.scratch() + workspace_);
  const auto sum = [&](const auto* gradient) {
    sum_columns(gradient, desc_.shape.batch, desc_.shape.out_features, desc_.accumulate,
                reinterpret_cast<float*>(stream.scratch() + partials_),
                reinterpret_cast<float*>(arguments[3]), stream.handle());
  };
  if (desc_.dtype == DType::f32) {
    sum(reinterpret_cast<const float*>(arguments[1]));
  } else {
    sum(reinterpret_cast<const std::uint16_t*>(arguments[1]));
  }
}

}  // namespace

Planned plan(CudaDevice& device, const LinearForward& desc) {
  check(name_of(desc), desc.shape);
  device.check_arithmetic(name_of(desc), {desc.dtype, desc.math});
  return std::make_unique<LinearForwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const LinearBackwardData& desc) {
  check(name_of(desc), desc.shape);
  device.check_arithmetic(name_of(desc), {desc.dtype, desc.math});
  const auto& [batch, in_features, out_features] = desc.shape;
  auto op = std::make_unique<ProductOp>(device, name_of(desc),
                                        Product{.m = batch,
                                                .n = in_features,
                                                .k = out_features,
                                                .input = desc.dtype,
                                                .output = desc.dtype,
                                                .math = desc.math});
  op->add_argument("diff_destination", Access::read, destination_of(desc.shape, desc.dtype));
  op->add_argument("weights", Access::read, weights_of(desc.shape, desc.dtype));
  op->add_argument("diff_source", Access::write, source_of(desc.shape, desc.dtype));
  return op;
}

Planned plan(CudaDevice& device, const LinearBackwardWeights& desc) {
  check(name_of(desc), desc.shape);
  device.check_arithmetic(name_of(desc), {desc.dtype, desc.math});
  return std::make_unique<LinearBackwardWeightsOp>(device, desc);
}

Planned plan(CudaDevice& device, const Gemm& desc) {
  const auto name = name_of(desc);
  check_positive(name, "m", desc.m);
  check_positive(name, "n", desc.n);
  check_positive(name, "k", desc.k);
  device.check_arithmetic(name, {desc.dtype, desc.math});
  auto op = std::make_unique<ProductOp>(device, name,
                                        Product{.m = desc.m,
                                                .n = desc.n,
                                                .k = desc.k,
                                                .transpose_a = desc.transpose_a,
                                                .transpose_b = desc.transpose_b,
                                                .input = desc.dtype,
                                                .output = desc.dtype,
                                                .accumulate = desc.accumulate,
                                                .math = desc.math});
  op->add_argument("a", Access::read, stored(desc.m, desc.k, desc.transpose_a, desc.dtype));
  op->add_argument("b", Access::read, stored(desc.k, desc.n, desc.transpose_b, desc.dtype));
  op->add_argument("c", desc.accumulate ? Access::read_write : Access::write,
                   stored(desc.m, desc.n, false, desc.dtype));
  return op;
}

}  // namespace parbench::cuda
