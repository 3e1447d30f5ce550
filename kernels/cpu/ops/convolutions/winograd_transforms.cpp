// Each transform multiplies a tile by a matrix of constants from the left, and by its transpose
// from the right.
#include "kernels/cpu/ops/convolutions/winograd_transforms.h"

#include "kernels/cpu/ops/convolutions/avx2.h"
#include "kernels/cpu/ops/convolutions/outer_products.h"

namespace parbench::cpu {
namespace {

template <std::int64_t row_count, std::int64_t column_count>
struct Constants {
  static constexpr std::int64_t rows = row_count;
  static constexpr std::int64_t columns = column_count;
  float at[row_count][column_count];
};

// The polynomials of Cook and Toom's algorithm are taken at 0, ±near, ±far and infinity. These
// points round about three times less than 1 and 2 do, and their squares are exact.
constexpr float near = 0.625F;
constexpr float far = 1.5F;
constexpr float near2 = near * near;
constexpr float far2 = far * far;
constexpr float near3 = near * near2;
constexpr float far3 = far * far2;
// The values there of the polynomials that are zero at all other points, inverted.
constexpr float at_zero = 1 / (near2 * far2);
constexpr float at_near = 1 / (2 * near2 * (near2 - far2));
constexpr float at_far = 1 / (2 * far2 * (far2 - near2));

// A row for each point: the coefficients of that polynomial.
constexpr Constants<6, 6> of_source{{{near2 * far2, 0, -near2 - far2, 0, 1, 0},
                                     {0, -near* far2, -far2, near, 1, 0},
                                     {0, near* far2, -far2, -near, 1, 0},
                                     {0, -far* near2, -near2, far, 1, 0},
                                     {0, far* near2, -near2, -far, 1, 0},
                                     {0, near2* far2, 0, -near2 - far2, 0, 1}}};
// A row for each point: its powers, over the value of that polynomial.
constexpr Constants<6, 3> of_weights{{{at_zero, 0, 0},
                                      {at_near, near* at_near, near2* at_near},
                                      {at_near, -near* at_near, near2* at_near},
                                      {at_far, far* at_far, far2* at_far},
                                      {at_far, -far* at_far, far2* at_far},
                                      {0, 0, 1}}};
// A column for each point: its powers.
constexpr Constants<4, 6> of_sums{{{1, 1, 1, 1, 1, 0},
                                   {0, near, -near, far, -far, 0},
                                   {0, near2, near2, far2, far2, 0},
                                   {0, near3, -near3, far3, -far3, 1}}};

template <std::int64_t rows, std::int64_t columns>
constexpr Constants<columns, rows> transposed(const Constants<rows, columns>& constants) {
  Constants<columns, rows> result{};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      result.at[column][row] = constants.at[row][column];
    }
  }
  return result;
}

constexpr Constants<6, 4> of_gradient = transposed(of_sums);
constexpr Constants<3, 6> of_weight_sums = transposed(of_weights);

constexpr std::int64_t tap_count = 9;

// Adds a row of constants, from `column` on, times vectors that are `step` apart. Zeros cost
// nothing.
template <const auto& constants, std::int64_t row, std::int64_t column, bool is_first>
[[gnu::always_inline]] PARBENCH_AVX2 inline Vector combine(Vector sum, const Vector* from,
                                                           std::int64_t step) {
  if constexpr (column == constants.columns) {
    return sum;
  } else if constexpr (constants.at[row][column] == 0) {
    return combine<constants, row, column + 1, is_first>(sum, from, step);
  } else {
    const Vector product = from[column * step] * constants.at[row][column];
    return combine<constants, row, column + 1, false>(is_first ? product : sum + product, from,
                                                      step);
  }
}

// to[row · to_step] = constants · from, for each row of the constants from `row` on.
template <const auto& constants, std::int64_t row = 0>
[[gnu::always_inline]] PARBENCH_AVX2 inline void multiply(const Vector* from,
                                                          std::int64_t from_step, Vector* to,
                                                          std::int64_t to_step) {
  if constexpr (row < constants.rows) {
    to[row * to_step] = combine<constants, row, 0, true>(Vector{}, from, from_step);
    multiply<constants, row + 1>(from, from_step, to, to_step);
  }
}

// to = constants · from · constantsᵀ, both row by row.
template <const auto& constants>
[[gnu::always_inline]] PARBENCH_AVX2 inline void transform(const Vector* from, Vector* to) {
  constexpr std::int64_t inputs = constants.columns;
  constexpr std::int64_t outputs = constants.rows;
  Vector half[outputs * inputs];
  for (std::int64_t column = 0; column < inputs; ++column) {
    multiply<constants>(from + column, inputs, half + column, inputs);
  }
  for (std::int64_t row = 0; row < outputs; ++row) {
    multiply<constants>(half + row * inputs, 1, to + row * outputs, 1);
  }
}

}  // namespace

PARBENCH_AVX2 void transform_source(const float* image, std::int64_t corner, std::int64_t row_step,
                                    const TilePart& inside, float* to, std::int64_t step) {
  Vector source[tile_products] = {};
  for (std::int64_t row = inside.top; row < inside.bottom; ++row) {
    for (std::int64_t column = inside.left; column < inside.right; ++column) {
      source[row * tile_inputs + column] =
          load_vector(image + (corner + row * row_step + column * vector_width));
    }
  }
  Vector products[tile_products];
  transform<of_source>(source, products);
  for (std::int64_t i = 0; i < tile_products; ++i) store_vector(to + i * step, products[i]);
}

PARBENCH_AVX2 void transform_weights(const float* taps, std::int64_t tap_step, float* to,
                                     std::int64_t step) {
  Vector window[tap_count];
  for (std::int64_t i = 0; i < tap_count; ++i) window[i] = load_vector(taps + i * tap_step);
  Vector products[tile_products];
  transform<of_weights>(window, products);
  for (std::int64_t i = 0; i < tile_products; ++i) store_vector(to + i * step, products[i]);
}

PARBENCH_AVX2 void transform_sums(const float* sums, std::int64_t step, float* tile,
                                  std::int64_t row_step, const TilePart& inside) {
  Vector products[tile_products];
  for (std::int64_t i = 0; i < tile_products; ++i) products[i] = load_vector(sums + i * step);
  Vector outputs[tile_outputs * tile_outputs];
  transform<of_sums>(products, outputs);
  for (std::int64_t row = inside.top; row < inside.bottom; ++row) {
    for (std::int64_t column = inside.left; column < inside.right; ++column) {
      store_vector(tile + row * row_step + column * vector_width,
                   outputs[row * tile_outputs + column]);
    }
  }
}

PARBENCH_AVX2 void transform_gradient(const float* tile, std::int64_t row_step,
                                      const TilePart& inside, float* to, std::int64_t step) {
  Vector gradient[tile_outputs * tile_outputs] = {};
  for (std::int64_t row = inside.top; row < inside.bottom; ++row) {
    for (std::int64_t column = inside.left; column < inside.right; ++column) {
      gradient[row * tile_outputs + column] =
          load_vector(tile + row * row_step + column * vector_width);
    }
  }
  Vector products[tile_products];
  transform<of_gradient>(gradient, products);
  for (std::int64_t i = 0; i < tile_products; ++i) store_vector(to + i * step, products[i]);
}

PARBENCH_AVX2 void transform_weight_sums(const float* sums, std::int64_t step, float* taps,
                                         std::int64_t tap_step, bool adds) {
  Vector products[tile_products];
  for (std::int64_t i = 0; i < tile_products; ++i) products[i] = load_vector(sums + i * step);
  Vector window[tap_count];
  transform<of_weight_sums>(products, window);
  for (std::int64_t i = 0; i < tap_count; ++i) {
    float* tap = taps + i * tap_step;
    store_vector(tap, adds ? load_vector(tap) + window[i] : window[i]);
  }
}

}  // namespace parbench::cpu
