// Matrix products by cuBLASLt: planned once, executed with any addresses.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/tensor.h"
#include "kernels/cuda/tuning/tuning.h"

namespace parbench::cuda {

class CudaDevice;

/// c = op(a)·op(b) [+ bias in every row] [+ c], all row-major: op(a) is {m, k}, op(b) {k, n}, c
/// {m, n}; a transposed operand is stored as {k, m} or {n, k}. c is dense, and so are a and b
/// unless their rows have a length of their own. `batch` such products are one. Sums are taken in
/// f32.
struct Product {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  bool transpose_a = false;
  bool transpose_b = false;
  std::int64_t row_a = 0;  // elements from one stored row to the next; 0: dense
  std::int64_t row_b = 0;
  std::int64_t batch = 1;     // products of matrices that lie one after the other, dense
  DType input = DType::f32;   // of a and b
  DType output = DType::f32;  // of c and the bias
  bool bias = false;          // {n}
  bool accumulate = false;
  MathMode math = MathMode::strict;
};

struct ProductAddresses {
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::byte* c = nullptr;
  const std::byte* bias = nullptr;
  bool accumulate = false;  // adds to c, even where the product itself does not
};

class Matmul {
 public:
  /// Null when cuBLASLt has no algorithm for the product.
  [[nodiscard]] static std::unique_ptr<Matmul> find(CudaDevice& device, const Product& product);
  /// The same, but throws Unsupported in the operation's name.
  [[nodiscard]] static std::unique_ptr<Matmul> get(CudaDevice& device, std::string_view operation,
                                                   const Product& product);

  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;

  [[nodiscard]] std::size_t workspace_bytes() const;
  /// Whether addresses need no more than the alignment of an element. Otherwise `run` throws Error
  /// for those that are not multiples of 16 bytes.
  [[nodiscard]] bool takes_any_address() const { return any_.has_value(); }
  /// The algorithm in cuBLASLt's own numbers.
  [[nodiscard]] std::string description() const;
  [[nodiscard]] ChosenBy chosen_by() const { return chosen_by_; }

  /// Enqueues the product; allocates nothing. The workspace is aligned to 256 bytes.
  void run(cudaStream_t stream, const ProductAddresses& at, std::byte* workspace);

 private:
  struct Algorithm {
    cublasLtMatmulAlgo_t choice;
    std::size_t workspace = 0;
  };

  Matmul(CudaDevice& device, const Product& product);
  void describe();
  void set_bias(const void* address);
  /// cuBLASLt's algorithms for such addresses, the one first that it holds for the fastest.
  [[nodiscard]] std::vector<Algorithm> search(std::uint32_t input_alignment,
                                              std::uint32_t output_alignment);
  /// The fastest as measured where the device tunes, else the first; nothing where there is none.
  [[nodiscard]] std::optional<Choice> choose(const std::vector<Algorithm>& algorithms);
  void run_with(const Algorithm& algorithm, cudaStream_t stream, const ProductAddresses& at,
                std::byte* workspace);
  [[nodiscard]] const Algorithm& algorithm_for(const ProductAddresses& at) const;
  [[nodiscard]] static std::string text_of(const Algorithm& algorithm);

  CudaDevice& device_;
  cublasLtHandle_t handle_;
  Product product_;
  // In place, not on the heap: the library's Init functions make them, and nothing destroys them.
  cublasLtMatmulDescOpaque_t operation_{};
  cublasLtMatrixLayoutOpaque_t a_{};
  cublasLtMatrixLayoutOpaque_t b_{};
  cublasLtMatrixLayoutOpaque_t c_{};
  std::optional<Algorithm> aligned_;  // for addresses that vector loads can take
  std::optional<Algorithm> any_;      // for addresses aligned to an element
  ChosenBy chosen_by_ = ChosenBy::library;
};

}  // namespace parbench::cuda
