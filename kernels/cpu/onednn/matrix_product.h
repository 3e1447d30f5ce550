// A product of two matrices, as a primitive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "kernels/base/tensor.h"
#include "kernels/cpu/onednn/planned_op.h"

namespace parbench::cpu {

/// Returns a descriptor of a matrix of rows × columns, stored row by row, or column by column if
/// `transposed`; or of `batch` such matrices, one after the other.
[[nodiscard]] dnnl::memory::desc matrix_desc(std::int64_t rows, std::int64_t columns,
                                             bool transposed, DType dtype, std::int64_t batch = 1);

/// Plans result [+]= left · right: with `accumulate` the product is added to the result.
[[nodiscard]] dnnl::matmul::primitive_desc plan_matrix_product(const dnnl::memory::desc& left,
                                                               const dnnl::memory::desc& right,
                                                               const dnnl::memory::desc& result,
                                                               bool accumulate);

/// A planned product, ready to run as a part of an operation.
class MatrixProduct {
 public:
  explicit MatrixProduct(const dnnl::matmul::primitive_desc& plan);

  [[nodiscard]] const std::string& kernel() const { return kernel_; }
  [[nodiscard]] std::size_t scratch_bytes() const { return call_.scratch_bytes(); }

  /// `matrices`: left, right, result.
  void run(const Execution& execution, const std::array<std::byte*, 3>& matrices,
           std::byte* scratch) {
    call_.run(execution, matrices, scratch);
  }

 private:
  std::string kernel_;
  PrimitiveCall call_;
};

}  // namespace parbench::cpu
