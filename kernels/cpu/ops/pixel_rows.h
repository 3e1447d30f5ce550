// Images with channels last as rows of channels, and sums over their pixels that do not depend on
// the number of threads: chunks of rows are summed in f32, and the sums of chunks are added in f64,
// in order.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/cpu/ops/parallel.h"

namespace parbench::cpu {

/// Pixels of all images, or of a chunk, each with a row of channels.
struct PixelRows {
  std::size_t rows;
  std::size_t channels;

  /// Returns the number of rows of a chunk: 32 KiB of bf16, which stay in a core's cache.
  [[nodiscard]] std::size_t of_chunk() const {
    constexpr std::size_t elements = 16384;
    return std::max<std::size_t>(1, elements / channels);
  }
  [[nodiscard]] std::size_t chunks() const { return (rows + of_chunk() - 1) / of_chunk(); }
};

/// Calls body(chunk index, first element, rows of the chunk) for each chunk, in the stream's team.
template <class Body>
void for_chunks(const PixelRows& pixels, int threads, const Body& body) {
  const std::size_t chunk = pixels.of_chunk() * pixels.channels;
  parallel_ranges(pixels.rows * pixels.channels, chunk, threads,
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; i += chunk) {
                      const std::size_t rows = std::min(chunk, end - i) / pixels.channels;
                      body(i / chunk, i, PixelRows{rows, pixels.channels});
                    }
                  });
}

/// totals = Σ over chunks, for each channel. `of_chunks`: the sums of each chunk, `stride` elements
/// apart.
inline void add_chunks(double* totals, const float* of_chunks, std::size_t stride,
                       const PixelRows& pixels) {
  std::fill_n(totals, pixels.channels, 0.0);
  for (std::size_t number = 0; number < pixels.chunks(); ++number) {
    const float* sums = of_chunks + number * stride;
    for (std::size_t c = 0; c < pixels.channels; ++c) totals[c] += sums[c];
  }
}

}  // namespace parbench::cpu
