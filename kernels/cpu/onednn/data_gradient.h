// The gradient of the input of products with weights.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "kernels/cpu/onednn/inner_product.h"
#include "kernels/cpu/onednn/planned_op.h"

namespace parbench::cpu {

/// diff_source = diff_destination · weights, computed once or several times with the same weights.
///
/// oneDNN's backward primitive for f32 transposes blocks of the weights for every block of rows,
/// and reaches 50 to 90% of the forward pass's speed. With many rows it is faster to transpose all
/// weights once and to run the forward primitive (docs/decisions/cpu-kernels.md).
class DataGradient {
 public:
  /// `shape`: shape of one product; `products`: number of calls of `multiply` per `prepare`.
  DataGradient(const LinearShape& shape, DType dtype, DType result, std::int64_t products = 1);

  /// Returns the layout of the weights that callers pass, which the backward primitive chose.
  [[nodiscard]] const dnnl::memory::desc& weights() const { return weights_; }
  [[nodiscard]] const std::string& kernel() const { return kernel_; }
  /// Returns the size of the scratch memory in bytes. `prepare` writes the transposed weights to
  /// it, so nothing else may write to it until the last `multiply`.
  [[nodiscard]] std::size_t scratch_bytes() const { return work_begin_ + work_bytes_; }

  void prepare(const Execution& execution, std::byte* weights, std::byte* scratch);
  void multiply(const Execution& execution, std::byte* diff_destination, std::byte* weights,
                std::byte* diff_source, std::byte* scratch);

 private:
  void plan_turned(const dnnl::inner_product_forward::primitive_desc& forward);
  void plan_direct(const dnnl::inner_product_backward_data::primitive_desc& backward);

  dnnl::memory::desc weights_;
  std::string kernel_;
  std::optional<PrimitiveCall> turn_;
  std::optional<PrimitiveCall> product_;
  // offset of the primitives' own scratch memory, after the transposed weights
  std::size_t work_begin_ = 0;
  std::size_t work_bytes_ = 0;
};

}  // namespace parbench::cpu
