// Matrix products by their definition.
#include "kernels/cuda/ops/matmul.h"

#include "tests/cuda_emulation/elements.h"

namespace parbench::cuda {
std::unique_ptr<Matmul> Matmul::find(CudaDevice& device, const Product& product) {
  if (product.bias && product.output == DType::f32) return nullptr;
  return get(device, {}, product);
}

std::unique_ptr<Matmul> Matmul::get(CudaDevice& /*device*/, std::string_view /*operation*/,
                                    const Product& product) {
  return std::make_unique<Matmul>(product);
}

void Matmul::run(cudaStream_t /*stream*/, const ProductAddresses& at,
                 std::byte* /*workspace*/) const {
  const auto& [m, n, k, transpose_a, transpose_b, row_a, row_b, batch, input, output, bias,
               accumulate, math] = product_;
  const std::int64_t next_a = row_a > 0 ? row_a : (transpose_a ? m : k);
  const std::int64_t next_b = row_b > 0 ? row_b : (transpose_b ? k : n);
  for (std::int64_t i = 0; i < batch * m * n; ++i) {
    const std::int64_t first_a = i / (m * n) * next_a * (transpose_a ? k : m);
    const std::int64_t first_b = i / (m * n) * next_b * (transpose_b ? n : k);
    const std::int64_t row = i / n % m;
    const std::int64_t column = i % n;
    float sum = accumulate || at.accumulate ? emulation::element(at.c, output, i) : 0;
    if (bias) sum += emulation::element(at.bias, output, column);
    for (std::int64_t j = 0; j < k; ++j) {
      sum += emulation::element(at.a, input,
                                first_a + (transpose_a ? j * next_a + row : row * next_a + j)) *
             emulation::element(
                 at.b, input, first_b + (transpose_b ? column * next_b + j : j * next_b + column));
    }
    emulation::set_element(at.c, output, i, sum);
  }
}

}  // namespace parbench::cuda
