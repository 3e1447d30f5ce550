// The inner loop of convolutions on processors with AVX2: sums of outer products, in registers.
#pragma once

#include <cstdint>

namespace parbench::cpu {

/// Elements of a vector, and channels in a block of the activation layout, with AVX2.
inline constexpr std::int64_t vector_width = 8;
/// Vectors a position whose products with four factors fit into the registers.
inline constexpr std::int64_t max_vectors = 3;

/// Positions along one axis; the steps from one to the next are in floats.
struct ProductAxis {
  std::int64_t count = 0;
  std::int64_t factor_step = 0;
  std::int64_t vector_step = 0;  // not used for columns, whose vectors lie without a gap
};

/// Σ over all positions of eight factors times one to three vectors: sums[v][f] = Σ factor[f] ·
/// vector[v].
struct OuterProducts {
  const float* factors = nullptr;  // those of the first position
  std::int64_t factor_step = 1;    // floats from a factor of a position to the next
  const float* vectors = nullptr;  // those of the first position, one behind the other
  std::int64_t vector_count = 1;
  float* sums = nullptr;      // eight vectors, one for each factor, of the first vector
  std::int64_t sum_step = 0;  // floats from there to the sums of the next vector
  ProductAxis rows = {};
  ProductAxis columns = {};
};

/// Adds in the order of the positions. Needs a processor with AVX2 and FMA.
void sum_outer_products(const OuterProducts& products);

}  // namespace parbench::cpu
