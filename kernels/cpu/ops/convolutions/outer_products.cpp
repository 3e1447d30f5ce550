// Keeps up to twelve vectors of sums in registers while it passes over the positions.
#include "kernels/cpu/ops/convolutions/outer_products.h"

#include "kernels/cpu/ops/convolutions/avx2.h"

namespace parbench::cpu {
namespace {

// Of the factors `factor_count`, from `first` on. `step` is `factor_step` as a constant.
template <std::int64_t count, std::int64_t factor_count, std::int64_t step>
PARBENCH_AVX2 void sum_factors(const OuterProducts& products, std::int64_t first) {
  float* const sums = products.sums + first * vector_width;
  Vector values[count][factor_count] = {};
  const float* const factors_of_all = products.factors + first * step;
  for (std::int64_t row = 0; row < products.rows.count; ++row) {
    const float* factors = factors_of_all + row * products.rows.factor_step;
    const float* vectors = products.vectors + row * products.rows.vector_step;
    for (std::int64_t column = 0; column < products.columns.count; ++column) {
      Vector at_position[count];
      for (std::int64_t v = 0; v < count; ++v)
        at_position[v] = load_vector(vectors + v * vector_width);
      for (std::int64_t f = 0; f < factor_count; ++f) {
        const float factor = factors[f * step];
        for (std::int64_t v = 0; v < count; ++v) values[v][f] += at_position[v] * factor;
      }
      factors += products.columns.factor_step;
      vectors += count * vector_width;
    }
  }
  for (std::int64_t v = 0; v < count; ++v) {
    for (std::int64_t f = 0; f < factor_count; ++f) {
      store_vector(sums + v * products.sum_step + f * vector_width, values[v][f]);
    }
  }
}

// Of 16 registers, sums take at most 12, vectors `count` and a factor one.
template <std::int64_t count, std::int64_t step>
void sum_vectors(const OuterProducts& products) {
  constexpr std::int64_t factor_count = count == 1 ? 8 : 4;
  for (std::int64_t first = 0; first < vector_width; first += factor_count) {
    sum_factors<count, factor_count, step>(products, first);
  }
}

template <std::int64_t step>
void sum_at_step(const OuterProducts& products) {
  switch (products.vector_count) {
    case 1:
      return sum_vectors<1, step>(products);
    case 2:
      return sum_vectors<2, step>(products);
    default:
      return sum_vectors<max_vectors, step>(products);
  }
}

}  // namespace

void sum_outer_products(const OuterProducts& products) {
  return products.factor_step == 1 ? sum_at_step<1>(products) : sum_at_step<vector_width>(products);
}

}  // namespace parbench::cpu
