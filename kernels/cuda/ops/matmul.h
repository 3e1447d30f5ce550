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

/// c = op(a)·op(b) [+ bias in every row] [+ c], all row-major: op(a) is {m, k}, op(b) {k, n}, c {m,
/// n}; a transposed operand is stored as {k, m} or {n, k}. c is dense, and so are a and b unless
/// `row_a` or `row_b` is set. `batch` products are computed together. Sums are f32.
struct Product {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  bool transpose_a = false;
  bool transpose_b = false;
  std::int64_t row_a = 0;  // distance between stored rows in elements; 0: dense
  std::int64_t row_b = 0;
  std::int64_t batch = 1;     // number of products, whose matrices are dense and consecutive
  DType input = DType::f32;   // type of a and b
  DType output = DType::f32;  // type of c and the bias
  bool bias = false;          // adds a bias {n} to every row
  bool accumulate = false;
  MathMode math = MathMode::strict;
};

struct ProductAddresses {
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::byte* c = nullptr;
  const std::byte* bias = nullptr;
  bool accumulate = false;  // adds to c, even if the product itself does not
};

class Matmul {
 public:
  /// Returns null if cuBLASLt has no algorithm for the product.
  [[nodiscard]] static std::unique_ptr<Matmul> find(CudaDevice& device, const Product& product);
  /// Like `find`, but throws Unsupported with the operation's name.
  [[nodiscard]] static std::unique_ptr<Matmul> get(CudaDevice& device, std::string_view operation,
                                                   const Product& product);

  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;

  [[nodiscard]] std::size_t workspace_bytes() const;
  /// Returns whether addresses only need the alignment of an element. Otherwise `run` throws Error
  /// for addresses that are not multiples of 16 bytes.
  [[nodiscard]] bool takes_any_address() const { return any_.has_value(); }
  /// Returns the names of the algorithms for reports, which consist of cuBLASLt's numbers.
  [[nodiscard]] std::string description() const;
  [[nodiscard]] ChosenBy chosen_by() const { return chosen_by_; }

  /// Enqueues the product; allocates nothing. The workspace must be aligned to 256 bytes.
  void run(cudaStream_t stream, const ProductAddresses& at, std::byte* workspace);

 private:
  struct Algorithm {
    cublasLtMatmulAlgo_t choice;
    std::size_t workspace = 0;
  };

  Matmul(CudaDevice& device, const Product& product);
  void describe();
  void set_bias(const void* address);
  /// Returns cuBLASLt's algorithms for addresses of these alignments, the one that it expects to be
  /// fastest first.
  [[nodiscard]] std::vector<Algorithm> search(std::uint32_t input_alignment,
                                              std::uint32_t output_alignment);
  /// Returns the algorithm that the device's tuner measures as the fastest; without a tuner, or if
  /// it cannot choose, the first; nothing if there is none.
  [[nodiscard]] std::optional<Choice> choose(const std::vector<Algorithm>& algorithms);
  void run_with(const Algorithm& algorithm, cudaStream_t stream, const ProductAddresses& at,
                std::byte* workspace);
  [[nodiscard]] const Algorithm& algorithm_for(const ProductAddresses& at) const;
  [[nodiscard]] static std::string text_of(const Algorithm& algorithm);

  CudaDevice& device_;
  cublasLtHandle_t handle_;
  Product product_;
  // Members instead of heap objects: the library's Init functions initialise them, and they need no
  // destruction.
  cublasLtMatmulDescOpaque_t operation_{};
  cublasLtMatrixLayoutOpaque_t a_{};
  cublasLtMatrixLayoutOpaque_t b_{};
  cublasLtMatrixLayoutOpaque_t c_{};
  std::optional<Algorithm> aligned_;  // for addresses aligned for vector loads
  std::optional<Algorithm> any_;      // for addresses aligned to an element
  ChosenBy chosen_by_ = ChosenBy::library;
};

}  // namespace parbench::cuda
