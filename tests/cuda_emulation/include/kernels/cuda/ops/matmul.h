// Takes the place of kernels/cuda/ops/matmul.h: plain loops in place of cuBLASLt, so that the
// kernels around products are tested. Products of f32 have no bias of their own, those of bf16 do:
// the operations know both ways.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <string_view>

#include "kernels/core/op.h"

namespace parbench::cuda {

class CudaDevice;

struct Product {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  bool transpose_a = false;
  bool transpose_b = false;
  std::int64_t row_a = 0;
  std::int64_t row_b = 0;
  std::int64_t batch = 1;
  DType input = DType::f32;
  DType output = DType::f32;
  bool bias = false;
  bool accumulate = false;
  MathMode math = MathMode::strict;
};

struct ProductAddresses {
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::byte* c = nullptr;
  const std::byte* bias = nullptr;
  bool accumulate = false;
};

class Matmul {
 public:
  explicit Matmul(const Product& product) : product_(product) {}
  [[nodiscard]] static std::unique_ptr<Matmul> find(CudaDevice& device, const Product& product);
  [[nodiscard]] static std::unique_ptr<Matmul> get(CudaDevice& device, std::string_view operation,
                                                   const Product& product);

  [[nodiscard]] static std::size_t workspace_bytes() { return 0; }
  /// As cuBLASLt, which has no algorithm for bf16 that takes any address.
  [[nodiscard]] bool takes_any_address() const { return product_.input == DType::f32; }
  [[nodiscard]] static std::string description() { return "plain loops"; }
  [[nodiscard]] static ChosenBy chosen_by() { return ChosenBy::library; }
  void run(cudaStream_t stream, const ProductAddresses& at, std::byte* workspace) const;

 private:
  Product product_;
};

}  // namespace parbench::cuda
