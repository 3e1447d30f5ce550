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

namespace parbench::cuda {
namespace {

/// An operation that consists of one product; its arguments are a, b and c.
class ProductOp final : public CudaOp {
 public:
  ProductOp(CudaDevice& device, const OpDesc& desc, const Product& product)
      : CudaOp(device, desc),
        matmul_(Matmul::get(device, name_of(desc), product)),
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

/// A layer with a bias. cuBLASLt adds a bias of the destination's type, so for bf16 the bias is
/// rounded first. If cuBLASLt has no algorithm with a bias, the bias is written to the destination,
/// and the product is added to it.
class LinearForwardOp final : public CudaOp {
 public:
  LinearForwardOp(CudaDevice& device, const LinearForward& desc);
  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override;

 private:
  /// Writes the bias to `rows` rows, in the activations' type.
  void write_bias(const std::byte* bias, std::int64_t rows, std::byte* matrix,
                  cudaStream_t stream) const;

  LinearForward desc_;
  std::unique_ptr<Matmul> matmul_;
  bool fused_ = true;
  std::size_t workspace_ = 0;
  std::size_t rounded_ = 0;
};

LinearForwardOp::LinearForwardOp(CudaDevice& device, const LinearForward& desc)
    : CudaOp(device, desc), desc_(desc) {
  const auto& [batch, in_features, out_features] = desc.shape;
  Product product{.m = batch,
                  .n = out_features,
                  .k = in_features,
                  .transpose_b = true,
                  .input = desc.dtype,
                  .output = desc.dtype,
                  .bias = true,
                  .math = desc.math};
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

/// Uses a kernel of this project for the bias: cuBLASLt's gradient of a bias cannot be accumulated,
/// and its order of summation is not specified.
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
    : CudaOp(device, desc), desc_(desc) {
  const auto& [batch, in_features, out_features] = desc.shape;
  matmul_ = Matmul::get(device, name_of(desc),
                        {.m = out_features,
                         .n = in_features,
                         .k = batch,
                         .transpose_a = true,
                         .input = desc.dtype,
                         .accumulate = desc.accumulate,
                         .math = desc.math});
  workspace_ = add_scratch(matmul_->workspace_bytes());
  if (!desc.bias) {
    set_implementation(matmul_->description(), matmul_->chosen_by());
    return;
  }
  partials_ = add_scratch(column_sum_partials(batch, out_features) * sizeof(float));
  set_implementation(matmul_->description() + ", diff_bias by a CUDA kernel", matmul_->chosen_by());
}

void LinearBackwardWeightsOp::execute(CudaStream& stream, std::span<std::byte* const> arguments) {
  matmul_->run(stream.handle(), {arguments[1], arguments[0], arguments[2]},
               stream.scratch() + workspace_);
  if (!desc_.bias) return;
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
  if (desc.bias) return std::make_unique<LinearForwardOp>(device, desc);
  const auto& [batch, in_features, out_features] = desc.shape;
  return std::make_unique<ProductOp>(device, desc,
                                     Product{.m = batch,
                                             .n = out_features,
                                             .k = in_features,
                                             .transpose_b = true,
                                             .input = desc.dtype,
                                             .output = desc.dtype,
                                             .math = desc.math});
}

Planned plan(CudaDevice& device, const LinearBackwardData& desc) {
  const auto& [batch, in_features, out_features] = desc.shape;
  return std::make_unique<ProductOp>(device, desc,
                                     Product{.m = batch,
                                             .n = in_features,
                                             .k = out_features,
                                             .input = desc.dtype,
                                             .output = desc.dtype,
                                             .math = desc.math});
}

Planned plan(CudaDevice& device, const LinearBackwardWeights& desc) {
  return std::make_unique<LinearBackwardWeightsOp>(device, desc);
}

Planned plan(CudaDevice& device, const Gemm& desc) {
  return std::make_unique<ProductOp>(device, desc,
                                     Product{.m = desc.m,
                                             .n = desc.n,
                                             .k = desc.k,
                                             .transpose_a = desc.transpose_a,
                                             .transpose_b = desc.transpose_b,
                                             .batch = desc.batch,
                                             .input = desc.dtype,
                                             .output = desc.dtype,
                                             .accumulate = desc.accumulate,
                                             .math = desc.math});
}

}  // namespace parbench::cuda
