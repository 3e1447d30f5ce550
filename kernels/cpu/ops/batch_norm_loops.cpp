// Loops over groups of channels whose numbers stay in registers, in chunks of rows that stay in the
// cache.
#include "kernels/cpu/ops/batch_norm_loops.h"

#include <algorithm>
#include <vector>

#include "kernels/base/simd.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/vectors.h"

namespace parbench::cpu {
namespace {

constexpr std::size_t max_vectors = 4;  // of channels that are passed over together

/// Rows that are passed over together, and whose sums are taken in f32.
std::size_t chunk_rows(const PixelRows& pixels) {
  constexpr std::size_t elements = 16384;  // 32 KiB of bf16
  return std::max<std::size_t>(1, elements / pixels.channels);
}

std::size_t chunk_count(const PixelRows& pixels) {
  return (pixels.rows + chunk_rows(pixels) - 1) / chunk_rows(pixels);
}

// A chunk is run group by group of channels: the template's number of vectors, from channel `first`
// on. `row` is the first element of a row in that group.

/// Two sums of each channel, over the rows of a chunk: `sums` has those of all channels, then the
/// others.
template <class Element>
struct MomentsChunk {
  const Element* source;
  const float* pivot;  // near the mean, so that squares are small
  float* sums;
  PixelRows pixels;
};

template <std::size_t vectors, class Element>
[[gnu::always_inline]] inline void run_group(const MomentsChunk<Element>& chunk,
                                             std::size_t first) {
  Floats pivot[vectors];
  Floats sums[vectors] = {};
  Floats squares[vectors] = {};
  for (std::size_t v = 0; v < vectors; ++v) load(pivot[v], chunk.pivot + first + v * lanes);
  for (std::size_t i = 0; i < chunk.pixels.rows; ++i) {
    const Element* row = chunk.source + i * chunk.pixels.channels + first;
    for (std::size_t v = 0; v < vectors; ++v) {
      Floats x;
      load(x, row + v * lanes);
      x -= pivot[v];
      sums[v] += x;
      squares[v] += x * x;
    }
  }
  for (std::size_t v = 0; v < vectors; ++v) {
    store(chunk.sums + first + v * lanes, sums[v]);
    store(chunk.sums + chunk.pixels.channels + first + v * lanes, squares[v]);
  }
}

template <class Element>
struct NormalisationChunk {
  Normalisation<Element> tensors;  // from the chunk's first element on
  PixelRows pixels;
};

template <std::size_t vectors, bool clamps, bool adds, class Element>
[[gnu::always_inline]] inline void normalise_group(const NormalisationChunk<Element>& chunk,
                                                   std::size_t first) {
  const Normalisation<Element>& t = chunk.tensors;
  Floats mean[vectors];
  Floats factor[vectors];
  Floats shift[vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    load(mean[v], t.mean + first + v * lanes);
    load(factor[v], t.factor + first + v * lanes);
    load(shift[v], t.shift + first + v * lanes);
  }
  for (std::size_t i = 0; i < chunk.pixels.rows; ++i) {
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t at = i * chunk.pixels.channels + first + v * lanes;
      Floats x;
      load(x, t.source + at);
      x = (x - mean[v]) * factor[v] + shift[v];
      if constexpr (adds) {
        Floats addend;
        load(addend, t.addend + at);
        x += addend;
      }
      if constexpr (clamps) {
        set_bits(t.mask + at / 8, x > 0.0F);
        x = x <= 0.0F ? 0.0F : x;
      }
      store(t.destination + at, x);
    }
  }
}

template <std::size_t vectors, class Element>
[[gnu::always_inline]] inline void run_group(const NormalisationChunk<Element>& chunk,
                                             std::size_t first) {
  if (chunk.tensors.addend != nullptr) {
    normalise_group<vectors, true, true>(chunk, first);
  } else if (chunk.tensors.mask != nullptr) {
    normalise_group<vectors, true, false>(chunk, first);
  } else {
    normalise_group<vectors, false, false>(chunk, first);
  }
}

template <class Element>
struct GradientSumsChunk {
  NormGradient<Element> tensors;
  float* sums;
  PixelRows pixels;
};

/// The gradient of 16 elements, zero where the mask has no bit.
template <bool masked, class Element>
[[gnu::always_inline]] inline void load_gradient(Floats& gradient, const NormGradient<Element>& t,
                                                 std::size_t at) {
  load(gradient, t.gradient + at);
  if constexpr (masked) {
    Selection counts;
    get_bits(counts, t.mask + at / 8);
    gradient = counts ? gradient : 0.0F;
  }
}

template <std::size_t vectors, bool masked, class Element>
[[gnu::always_inline]] inline void sum_group(const GradientSumsChunk<Element>& chunk,
                                             std::size_t first) {
  const NormGradient<Element>& t = chunk.tensors;
  Floats mean[vectors];
  Floats sums[vectors] = {};
  Floats products[vectors] = {};
  for (std::size_t v = 0; v < vectors; ++v) load(mean[v], t.mean + first + v * lanes);
  for (std::size_t i = 0; i < chunk.pixels.rows; ++i) {
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t at = i * chunk.pixels.channels + first + v * lanes;
      Floats gradient;
      load_gradient<masked>(gradient, t, at);
      Floats x;
      load(x, t.source + at);
      sums[v] += gradient;
      products[v] += gradient * (x - mean[v]);
    }
  }
  for (std::size_t v = 0; v < vectors; ++v) {
    store(chunk.sums + first + v * lanes, sums[v]);
    store(chunk.sums + chunk.pixels.channels + first + v * lanes, products[v]);
  }
}

template <std::size_t vectors, class Element>
[[gnu::always_inline]] inline void run_group(const GradientSumsChunk<Element>& chunk,
                                             std::size_t first) {
  if (chunk.tensors.mask != nullptr) {
    sum_group<vectors, true>(chunk, first);
  } else {
    sum_group<vectors, false>(chunk, first);
  }
}

template <class Element>
struct SourceGradientChunk {
  Element* diff_source;
  NormGradient<Element> tensors;
  GradientFactors factors;
  PixelRows pixels;
};

template <std::size_t vectors, bool masked, class Element>
[[gnu::always_inline]] inline void gradient_group(const SourceGradientChunk<Element>& chunk,
                                                  std::size_t first) {
  const NormGradient<Element>& t = chunk.tensors;
  Floats mean[vectors];
  Floats of_gradient[vectors];
  Floats of_distance[vectors];
  Floats offset[vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    load(mean[v], t.mean + first + v * lanes);
    load(of_gradient[v], chunk.factors.gradient + first + v * lanes);
    load(of_distance[v], chunk.factors.distance + first + v * lanes);
    load(offset[v], chunk.factors.offset + first + v * lanes);
  }
  for (std::size_t i = 0; i < chunk.pixels.rows; ++i) {
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t at = i * chunk.pixels.channels + first + v * lanes;
      Floats gradient;
      load_gradient<masked>(gradient, t, at);
      Floats x;
      load(x, t.source + at);
      store(chunk.diff_source + at,
            gradient * of_gradient[v] + ((x - mean[v]) * of_distance[v] + offset[v]));
    }
  }
}

template <std::size_t vectors, class Element>
[[gnu::always_inline]] inline void run_group(const SourceGradientChunk<Element>& chunk,
                                             std::size_t first) {
  if (chunk.tensors.mask != nullptr) {
    gradient_group<vectors, true>(chunk, first);
  } else {
    gradient_group<vectors, false>(chunk, first);
  }
}

template <class Chunk>
[[gnu::always_inline]] inline void run_groups(const Chunk& chunk) {
  std::size_t first = 0;
  for (; first + max_vectors * lanes <= chunk.pixels.channels; first += max_vectors * lanes) {
    run_group<max_vectors>(chunk, first);
  }
  for (; first < chunk.pixels.channels; first += lanes) run_group<1>(chunk, first);
}

using Bf16 = std::uint16_t;

PARBENCH_SIMD void run(const MomentsChunk<float>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const MomentsChunk<Bf16>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const NormalisationChunk<float>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const NormalisationChunk<Bf16>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const GradientSumsChunk<float>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const GradientSumsChunk<Bf16>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const SourceGradientChunk<float>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const SourceGradientChunk<Bf16>& chunk) { run_groups(chunk); }

/// Calls body(number, first element, its rows) for each chunk, in the stream's team.
template <class Body>
void for_chunks(const PixelRows& pixels, int threads, const Body& body) {
  const std::size_t chunk = chunk_rows(pixels) * pixels.channels;
  parallel_ranges(pixels.rows * pixels.channels, chunk, threads,
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; i += chunk) {
                      const std::size_t rows = std::min(chunk, end - i) / pixels.channels;
                      body(i / chunk, i, PixelRows{rows, pixels.channels});
                    }
                  });
}

float* sums_of_chunk(std::byte* scratch, const PixelRows& pixels, std::size_t number) {
  return floats(scratch) + number * 2 * pixels.channels;
}

/// The sums of all chunks, in f64 and in their order: those of `which` (0 or 1) of a channel.
double total(std::byte* scratch, const PixelRows& pixels, std::size_t which, std::size_t channel) {
  double sum = 0;
  for (std::size_t number = 0; number < chunk_count(pixels); ++number) {
    sum += sums_of_chunk(scratch, pixels, number)[which * pixels.channels + channel];
  }
  return sum;
}

template <class Element>
NormGradient<Element> from(const NormGradient<Element>& tensors, std::size_t element) {
  return {.gradient = tensors.gradient + element,
          .mask = tensors.mask == nullptr ? nullptr : tensors.mask + element / 8,
          .source = tensors.source + element,
          .mean = tensors.mean};
}

}  // namespace

std::size_t sums_bytes(const PixelRows& pixels) {
  return chunk_count(pixels) * 2 * pixels.channels * sizeof(float);
}

// The pivot is the first pixel: deviations from it are as large as the channel's spread, so that
// the difference of large squares is never taken.
template <class Element>
void moments(float* mean, float* variance, const Element* source, const PixelRows& pixels,
             std::byte* scratch, int threads) {
  float* pivot = mean;
  for (std::size_t c = 0; c < pixels.channels; c += lanes) {
    Floats values;
    load(values, source + c);
    store(pivot + c, values);
  }
  for_chunks(pixels, threads, [&](std::size_t number, std::size_t first, const PixelRows& rows) {
    run(MomentsChunk<Element>{source + first, pivot, sums_of_chunk(scratch, pixels, number), rows});
  });
  const auto count = static_cast<double>(pixels.rows);
  for (std::size_t c = 0; c < pixels.channels; ++c) {
    const double distance = total(scratch, pixels, 0, c) / count;
    const double square = total(scratch, pixels, 1, c) / count;
    mean[c] = static_cast<float>(pivot[c] + distance);
    variance[c] = static_cast<float>(std::max(square - distance * distance, 0.0));
  }
}

template <class Element>
void normalise(const Normalisation<Element>& tensors, const PixelRows& pixels, int threads) {
  for_chunks(pixels, threads, [&](std::size_t, std::size_t first, const PixelRows& rows) {
    Normalisation<Element> part = tensors;
    part.destination += first;
    part.source += first;
    if (part.mask != nullptr) part.mask += first / 8;
    if (part.addend != nullptr) part.addend += first;
    run(NormalisationChunk<Element>{part, rows});
  });
}

template <class Element>
void gradient_sums(float* sums, float* products, const NormGradient<Element>& tensors,
                   const PixelRows& pixels, std::byte* scratch, int threads) {
  for_chunks(pixels, threads, [&](std::size_t number, std::size_t first, const PixelRows& rows) {
    run(GradientSumsChunk<Element>{from(tensors, first), sums_of_chunk(scratch, pixels, number),
                                   rows});
  });
  for (std::size_t c = 0; c < pixels.channels; ++c) {
    sums[c] = static_cast<float>(total(scratch, pixels, 0, c));
    products[c] = static_cast<float>(total(scratch, pixels, 1, c));
  }
}

template <class Element>
void source_gradient(Element* diff_source, const NormGradient<Element>& tensors,
                     const GradientFactors& factors, const PixelRows& pixels, int threads) {
  for_chunks(pixels, threads, [&](std::size_t, std::size_t first, const PixelRows& rows) {
    run(SourceGradientChunk<Element>{diff_source + first, from(tensors, first), factors, rows});
  });
}

template void moments(float*, float*, const float*, const PixelRows&, std::byte*, int);
template void moments(float*, float*, const Bf16*, const PixelRows&, std::byte*, int);
template void normalise(const Normalisation<float>&, const PixelRows&, int);
template void normalise(const Normalisation<Bf16>&, const PixelRows&, int);
template void gradient_sums(float*, float*, const NormGradient<float>&, const PixelRows&,
                            std::byte*, int);
template void gradient_sums(float*, float*, const NormGradient<Bf16>&, const PixelRows&, std::byte*,
                            int);
template void source_gradient(float*, const NormGradient<float>&, const GradientFactors&,
                              const PixelRows&, int);
template void source_gradient(Bf16*, const NormGradient<Bf16>&, const GradientFactors&,
                              const PixelRows&, int);

}  // namespace parbench::cpu
