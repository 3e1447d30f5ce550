// Addition of a number to each channel of an image, and its backward operation.
#include <array>
#include <cstdint>

#include "kernels/base/simd.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/images/planes.h"
#include "kernels/cpu/ops/loop_op.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/pixel_rows.h"
#include "kernels/cpu/ops/vectors.h"

namespace parbench::cpu {
namespace {

static_assert(lanes % 8 == 0, "blocks have 8 or 16 channels");

/// Values of `lanes` neighbouring elements of a block, or of a plane.
using Lanes = std::array<float, lanes>;

Lanes repeated(const float* numbers, std::size_t block) {
  Lanes all{};
  for (std::size_t i = 0; i < lanes; ++i) all.at(i) = numbers[i % block];
  return all;
}

template <class Element>
[[gnu::always_inline]] inline void add_lanes(Element* out, const Element* in, const Lanes& bias,
                                             std::size_t count) {
  Floats addend;
  load(addend, bias.data());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Floats sum;
    load(sum, in + i);
    sum += addend;
    store(out + i, sum);
  }
  for (std::size_t k = 0; i + k < count; ++k) round_to(out[i + k], widened(in[i + k]) + bias.at(k));
}

PARBENCH_SIMD void add_range(float* out, const float* in, const Lanes& bias, std::size_t count) {
  add_lanes(out, in, bias, count);
}

PARBENCH_SIMD void add_range(std::uint16_t* out, const std::uint16_t* in, const Lanes& bias,
                             std::size_t count) {
  add_lanes(out, in, bias, count);
}

template <class Element>
[[gnu::always_inline]] inline void sum_lanes(Lanes& sums, const Element* in, std::size_t count) {
  Floats sum{};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Floats values;
    load(values, in + i);
    sum += values;
  }
  store(sums.data(), sum);
  for (std::size_t k = 0; i + k < count; ++k) sums.at(k) += widened(in[i + k]);
}

PARBENCH_SIMD void sum_range(Lanes& sums, const float* in, std::size_t count) {
  sum_lanes(sums, in, count);
}

PARBENCH_SIMD void sum_range(Lanes& sums, const std::uint16_t* in, std::size_t count) {
  sum_lanes(sums, in, count);
}

/// Adds to each channel its bias. Threads divide the blocks of all samples.
template <class Element>
void add_bias(Element* out, const Element* in, const float* bias, const Planes& planes,
              std::size_t samples, int threads) {
  const std::size_t plane = planes.pixels * planes.block;
  parallel_ranges(samples * planes.blocks() * plane, plane, threads,
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; i += plane) {
                      const std::size_t channel = i / plane % planes.blocks() * planes.block;
                      add_range(out + i, in + i, repeated(bias + channel, planes.block), plane);
                    }
                  });
}

/// Sums each channel over all samples. Threads divide the blocks of channels, so that the order of
/// additions is the same for any number of threads. Sums within a plane are f32, sums of planes
/// f64.
template <class Element>
void sum_channels(float* sums, const Element* in, const Planes& planes, std::size_t samples,
                  bool accumulate, int threads) {
  const std::size_t plane = planes.pixels * planes.block;
  const std::size_t work = samples * plane;  // number of elements of a block in all samples
  parallel_ranges(planes.blocks() * work, work, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i += work) {
      const std::size_t first = i / work * planes.block;
      std::array<double, lanes> totals{};
      for (std::size_t sample = 0; sample < samples; ++sample) {
        Lanes of_plane{};
        sum_range(of_plane, in + planes.first(sample, first), plane);
        for (std::size_t k = 0; k < lanes; ++k) totals.at(k % planes.block) += of_plane.at(k);
      }
      for (std::size_t k = 0; k < planes.block; ++k) {
        const double before = accumulate ? sums[first + k] : 0.0F;
        sums[first + k] = static_cast<float>(before + totals.at(k));
      }
    }
  });
}

/// Variant of `sum_channels` for channels last. `scratch` has `sums_bytes_of` bytes.
template <class Element>
void sum_pixels(float* sums, const Element* in, const PixelRows& pixels, bool accumulate,
                std::byte* scratch, int threads) {
  auto* totals = reinterpret_cast<double*>(scratch);
  auto* of_chunks = reinterpret_cast<float*>(totals + pixels.channels);
  for_chunks(pixels, threads, [&](std::size_t number, std::size_t first, const PixelRows& rows) {
    sum_repeats(of_chunks + number * pixels.channels, in + first, rows.rows, pixels.channels, false,
                1);
  });
  add_chunks(totals, of_chunks, pixels.channels, pixels);
  for (std::size_t c = 0; c < pixels.channels; ++c) {
    sums[c] = static_cast<float>((accumulate ? sums[c] : 0.0F) + totals[c]);
  }
}

std::size_t sums_bytes_of(const PixelRows& pixels) {
  return pixels.channels * (sizeof(double) + pixels.chunks() * sizeof(float));
}

PixelRows rows_of(const Shape& shape) {
  return {static_cast<std::size_t>(shape[0] * shape[2] * shape[3]),
          static_cast<std::size_t>(shape[1])};
}

}  // namespace

Planned plan(const AddChannelBias& desc) {
  const Planes planes(desc.shape, desc.dtype);
  const auto samples = static_cast<std::size_t>(desc.shape[0]);
  return typed_loop_op(desc, [=]<class Element>(Element /*unused*/, const Execution& execution,
                                                Addresses arguments) {
    const auto at = [&](std::size_t i) { return reinterpret_cast<Element*>(arguments[i]); };
    if (planes.is_channels_last()) {
      add_repeated(at(2), at(0), floats(arguments[1]), samples * planes.pixels, planes.channels,
                   execution.threads);
    } else {
      add_bias(at(2), at(0), floats(arguments[1]), planes, samples, execution.threads);
    }
  });
}

Planned plan(const SumChannels& desc) {
  const Planes planes(desc.shape, desc.dtype);
  const PixelRows rows = rows_of(desc.shape);
  const LoopNeeds needs{.scratch_bytes = planes.is_channels_last() ? sums_bytes_of(rows) : 0};
  return typed_loop_op(
      desc, needs,
      [=]<class Element>(Element /*unused*/, const Execution& execution, Addresses at) {
        const auto* in = reinterpret_cast<const Element*>(at[0]);
        if (planes.is_channels_last()) {
          sum_pixels(floats(at[1]), in, rows, desc.accumulate, execution.scratch,
                     execution.threads);
        } else {
          sum_channels(floats(at[1]), in, planes, static_cast<std::size_t>(desc.shape[0]),
                       desc.accumulate, execution.threads);
        }
      });
}

}  // namespace parbench::cpu
