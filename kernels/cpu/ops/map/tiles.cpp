// Copies of tiles: contiguous rows are copied as vectors, contiguous columns are loaded by
// transposition, and other elements are copied one by one.
#include "kernels/cpu/ops/map/tiles.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/base/bfloat16.h"
#include "kernels/base/simd.h"
#include "kernels/cpu/ops/vectors.h"

namespace parbench::cpu {
namespace {

PARBENCH_SIMD void widen_row(float* out, const std::uint16_t* in, std::int64_t count) {
  const auto whole = count - count % static_cast<std::int64_t>(lanes);
  for (std::int64_t i = 0; i < whole; i += lanes) {
    Floats values;
    parbench::cpu::load(values, in + i);
    parbench::cpu::store(out + i, values);
  }
  for (std::int64_t i = whole; i < count; ++i) out[i] = from_bf16(in[i]);
}

PARBENCH_SIMD void widen_row(float* out, const std::int32_t* in, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]);
}

void widen_row(float* out, const float* in, std::int64_t count) {
  std::memcpy(out, in, static_cast<std::size_t>(count) * sizeof(float));
}

PARBENCH_SIMD void narrow_row(std::uint16_t* out, const float* in, std::int64_t count) {
  const auto whole = count - count % static_cast<std::int64_t>(lanes);
  for (std::int64_t i = 0; i < whole; i += lanes) {
    Floats values;
    parbench::cpu::load(values, in + i);
    parbench::cpu::store(out + i, values);
  }
  for (std::int64_t i = whole; i < count; ++i) out[i] = to_bf16(in[i]);
}

void narrow_row(float* out, const float* in, std::int64_t count) {
  std::memcpy(out, in, static_cast<std::size_t>(count) * sizeof(float));
}

void narrow_row(std::int32_t* out, const float* in, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<std::int32_t>(std::lrint(in[i]));
}

void store_element(float& element, float value) { element = value; }
void store_element(std::uint16_t& element, float value) { element = to_bf16(value); }
void store_element(std::int32_t& element, float value) {
  element = static_cast<std::int32_t>(std::lrint(value));
}

float as_float(float value) { return value; }
float as_float(std::uint16_t value) { return from_bf16(value); }
float as_float(std::int32_t value) { return static_cast<float>(value); }

/// Merges adjacent loops where strides allow it, so that rows are long.
void join_rows(TileExtents& extents, TileStrides& strides) {
  for (int last = 2; last > 0; --last) {
    if (extents[1] != 1 && strides[1] != strides[0] * extents[0]) return;
    extents = {extents[0] * extents[1], extents[2], 1};
    strides = {strides[0], strides[2], 0};
  }
}

/// Calls row(index, offset) for each row: index of its first element in the block, and offset of
/// this element in memory.
template <class Row>
void for_each_row(const TileExtents& extents, const TileStrides& strides, const Row& row) {
  std::int64_t done = 0;
  for (std::int64_t k = 0; k < extents[2]; ++k) {
    for (std::int64_t j = 0; j < extents[1]; ++j) {
      row(done, k * strides[2] + j * strides[1]);
      done += extents[0];
    }
  }
}

constexpr std::int64_t square = 8;
using Octet [[gnu::vector_size(32)]] = float;
using StoredOctet [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = float;
using Selection [[gnu::vector_size(32)]] = std::int32_t;

/// Selects elements of two vectors by index: 0 to 7 for the first vector, 8 to 15 for the second.
[[gnu::always_inline]] inline void shuffle(Octet& result, const Octet& first, const Octet& second,
                                           const Selection& selected) {
#if defined(__clang__)  // Clang has no __builtin_shuffle
  for (std::int64_t i = 0; i < square; ++i) {
    result[i] = selected[i] < square ? first[selected[i]] : second[selected[i] - square];
  }
#else
  result = __builtin_shuffle(first, second, selected);
#endif
}

/// Replaces `first` by the elements that `low` selects from both rows, and `second` by those that
/// `high` selects (see `shuffle`).
[[gnu::always_inline]] inline void exchange(Octet& first, Octet& second, const Selection& low,
                                            const Selection& high) {
  Octet chosen;
  Octet others;
  shuffle(chosen, first, second, low);
  shuffle(others, first, second, high);
  first = chosen;
  second = others;
}

[[gnu::always_inline]] inline void transpose(std::array<Octet, square>& rows) {
  constexpr Selection single_low{0, 8, 2, 10, 4, 12, 6, 14};
  constexpr Selection single_high{1, 9, 3, 11, 5, 13, 7, 15};
  constexpr Selection pair_low{0, 1, 8, 9, 4, 5, 12, 13};
  constexpr Selection pair_high{2, 3, 10, 11, 6, 7, 14, 15};
  constexpr Selection half_low{0, 1, 2, 3, 8, 9, 10, 11};
  constexpr Selection half_high{4, 5, 6, 7, 12, 13, 14, 15};
  for (const std::size_t i : {0U, 2U, 4U, 6U}) {
    exchange(rows[i], rows[i + 1], single_low, single_high);
  }
  for (const std::size_t i : {0U, 1U, 4U, 5U}) exchange(rows[i], rows[i + 2], pair_low, pair_high);
  for (std::size_t i = 0; i < 4; ++i) exchange(rows[i], rows[i + 4], half_low, half_high);
}

/// Transposes `count` rows of `square` adjacent elements each, from rows that are `stride` apart to
/// columns that are `pitch` apart.
template <class Element>
[[gnu::always_inline]] inline void transpose_rows(float* out, std::int64_t pitch, const Element* in,
                                                  std::int64_t stride, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + square <= count; i += square) {
    std::array<Octet, square> rows;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Element* row = in + (i + static_cast<std::int64_t>(k)) * stride;
      for (std::size_t j = 0; j < rows.size(); ++j) rows[k][j] = as_float(row[j]);
    }
    transpose(rows);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      float* column = out + static_cast<std::int64_t>(k) * pitch + i;
      *reinterpret_cast<StoredOctet*>(column) = rows[k];
    }
  }
  for (; i < count; ++i) {
    for (std::int64_t j = 0; j < square; ++j) out[j * pitch + i] = as_float(in[i * stride + j]);
  }
}

PARBENCH_SIMD void transpose_octets(float* out, std::int64_t pitch, const float* in,
                                    std::int64_t stride, std::int64_t count) {
  transpose_rows(out, pitch, in, stride, count);
}

PARBENCH_SIMD void transpose_octets(float* out, std::int64_t pitch, const std::uint16_t* in,
                                    std::int64_t stride, std::int64_t count) {
  transpose_rows(out, pitch, in, stride, count);
}

PARBENCH_SIMD void transpose_octets(float* out, std::int64_t pitch, const std::int32_t* in,
                                    std::int64_t stride, std::int64_t count) {
  transpose_rows(out, pitch, in, stride, count);
}

/// Loads a tile whose columns are contiguous in memory.
template <class Element>
void load_columns(float* block, const TileExtents& extents, const Element* first,
                  const TileStrides& strides) {
  const auto [width, height, depth] = extents;
  for (std::int64_t k = 0; k < depth; ++k) {
    const Element* in = first + k * strides[2];
    float* out = block + k * width * height;
    std::int64_t j = 0;
    for (; j + square <= height; j += square) {
      transpose_octets(out + j * width, width, in + j, strides[0], width);
    }
    for (; j < height; ++j) {
      for (std::int64_t i = 0; i < width; ++i) {
        out[j * width + i] = as_float(in[i * strides[0] + j]);
      }
    }
  }
}

template <class Element>
void load(float* block, TileExtents extents, const std::byte* address, TileStrides strides) {
  const auto* first = reinterpret_cast<const Element*>(address);
  join_rows(extents, strides);
  const auto [count, height, depth] = extents;
  const std::int64_t stride = strides[0];
  if (stride == 1) {
    for_each_row(extents, strides, [&](std::int64_t done, std::int64_t offset) {
      widen_row(block + done, first + offset, count);
    });
  } else if (stride == 0) {
    for_each_row(extents, strides, [&](std::int64_t done, std::int64_t offset) {
      std::fill_n(block + done, count, as_float(first[offset]));
    });
  } else if (height > 1 && strides[1] == 1) {
    load_columns(block, extents, first, strides);
  } else {
    for_each_row(extents, strides, [&](std::int64_t done, std::int64_t offset) {
      for (std::int64_t i = 0; i < count; ++i) {
        block[done + i] = as_float(first[offset + i * stride]);
      }
    });
  }
}

template <class Element>
void store(std::byte* address, TileStrides strides, TileExtents extents, const float* block) {
  auto* first = reinterpret_cast<Element*>(address);
  join_rows(extents, strides);
  const std::int64_t count = extents[0];
  const std::int64_t stride = strides[0];
  for_each_row(extents, strides, [&](std::int64_t done, std::int64_t offset) {
    if (stride == 1) return narrow_row(first + offset, block + done, count);
    for (std::int64_t i = 0; i < count; ++i) {
      store_element(first[offset + i * stride], block[done + i]);
    }
  });
}

}  // namespace

bool is_dense(const TileExtents& extents, const TileStrides& strides) {
  std::int64_t dense = 1;
  for (std::size_t i = 0; i < tile_dimensions; ++i) {
    if (extents.at(i) > 1 && strides.at(i) != dense) return false;
    dense *= extents.at(i);
  }
  return true;
}

float load_element(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::bf16:
      return from_bf16(*reinterpret_cast<const std::uint16_t*>(element));
    case DType::i32:
      return static_cast<float>(*reinterpret_cast<const std::int32_t*>(element));
    case DType::f32:
      break;
  }
  return *reinterpret_cast<const float*>(element);
}

void load_tile(float* block, const TileExtents& extents, DType dtype, const std::byte* first,
               const TileStrides& strides) {
  switch (dtype) {
    case DType::f32:
      return load<float>(block, extents, first, strides);
    case DType::bf16:
      return load<std::uint16_t>(block, extents, first, strides);
    case DType::i32:
      return load<std::int32_t>(block, extents, first, strides);
  }
}

void load_positions(float* block, const TileExtents& extents, std::int64_t first,
                    const TileStrides& strides) {
  for_each_row(extents, strides, [&](std::int64_t done, std::int64_t offset) {
    for (std::int64_t i = 0; i < extents[0]; ++i) {
      block[done + i] = static_cast<float>(first + offset + i * strides[0]);
    }
  });
}

void store_tile(DType dtype, std::byte* first, const TileStrides& strides,
                const TileExtents& extents, const float* block) {
  if (dtype == DType::bf16) return store<std::uint16_t>(first, strides, extents, block);
  if (dtype == DType::i32) return store<std::int32_t>(first, strides, extents, block);
  store<float>(first, strides, extents, block);
}

void copy_tile(std::byte* to, const TileStrides& to_strides, const std::byte* from,
               const TileStrides& from_strides, const TileExtents& extents, std::size_t bytes) {
  const auto row = static_cast<std::size_t>(extents[0]) * bytes;
  const auto size = static_cast<std::int64_t>(bytes);
  for (std::int64_t k = 0; k < extents[2]; ++k) {
    for (std::int64_t j = 0; j < extents[1]; ++j) {
      std::memcpy(to + (k * to_strides[2] + j * to_strides[1]) * size,
                  from + (k * from_strides[2] + j * from_strides[1]) * size, row);
    }
  }
}

}  // namespace parbench::cpu
