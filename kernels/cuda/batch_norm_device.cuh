// What the forward and backward kernels of batch normalisation share: access to eight elements at a
// time, the division of a matrix among threads, and sums over blocks.
//
// Two ways through a matrix: in the vector way a thread keeps to a group of eight channels
// (batch_norm_columns.h) and goes down the rows; it needs channels that groups can divide and
// addresses aligned to 16 bytes. The scalar way takes any.
#pragma once

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/batch_norm_columns.h"
#include "kernels/cuda/batch_norm_kernels.h"
#include "kernels/cuda/launch.h"

namespace parbench::cuda {

__device__ inline float widened(float value) { return value; }
__device__ inline float widened(std::uint16_t value) {
  return __uint_as_float(static_cast<unsigned int>(value) << 16U);
}
__device__ inline void narrow(float value, float& element) { element = value; }
__device__ inline void narrow(float value, std::uint16_t& element) {
  element = __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

/// The elements of a group, or one, as they are loaded from the address of the first.
template <class Element, int width>
struct Pack;

template <class Element>
struct Pack<Element, 1> {
  static constexpr int batch = 4;
  Element element;

  __device__ void load(const Element* from) { element = *from; }
  __device__ void unpack(float (&values)[1]) const { values[0] = widened(element); }
};

template <>
struct Pack<float, vector_width> {
  static constexpr int batch = 2;  // packs in flight: 64 bytes of each thread
  static constexpr int second = offset_in_group(4, true);
  float4 low;
  float4 high;

  __device__ void load(const float* from) {
    low = *reinterpret_cast<const float4*>(from);
    high = *reinterpret_cast<const float4*>(from + second);
  }
  __device__ void store(float* to) const {
    *reinterpret_cast<float4*>(to) = low;
    *reinterpret_cast<float4*>(to + second) = high;
  }
  __device__ void unpack(float (&v)[vector_width]) const {
    v[0] = low.x, v[1] = low.y, v[2] = low.z, v[3] = low.w;
    v[4] = high.x, v[5] = high.y, v[6] = high.z, v[7] = high.w;
  }
  __device__ void pack(const float (&v)[vector_width]) {
    low = make_float4(v[0], v[1], v[2], v[3]);
    high = make_float4(v[4], v[5], v[6], v[7]);
  }
};

template <>
struct Pack<std::uint16_t, vector_width> {
  static constexpr int batch = 4;
  uint4 words;

  __device__ void load(const std::uint16_t* from) { words = *reinterpret_cast<const uint4*>(from); }
  __device__ void store(std::uint16_t* to) const { *reinterpret_cast<uint4*>(to) = words; }
  __device__ void unpack(float (&v)[vector_width]) const {
    const unsigned int all[]{words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      v[2 * i] = __uint_as_float(all[i] << 16U);
      v[2 * i + 1] = __uint_as_float(all[i] & 0xFFFF0000U);
    }
  }
  __device__ static unsigned int pair(float even, float odd) {
    const unsigned int low = __bfloat16_as_ushort(__float2bfloat16_rn(even));
    const unsigned int high = __bfloat16_as_ushort(__float2bfloat16_rn(odd));
    return low | high << 16U;
  }
  __device__ void pack(const float (&v)[vector_width]) {
    words = make_uint4(pair(v[0], v[1]), pair(v[2], v[3]), pair(v[4], v[5]), pair(v[6], v[7]));
  }
};

/// Whether the threads of a kernel have paired groups.
template <class Element, int width>
constexpr bool paired_threads = width == vector_width && sizeof(Element) == sizeof(float);

/// The first channel of this thread; beyond the last one for threads without work.
template <class Element, int width>
__device__ std::int64_t first_channel() {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  return width == 1 ? thread : first_of_group(thread, paired_threads<Element, width>);
}
__device__ inline std::int64_t first_row() {
  return static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
}
__device__ inline std::int64_t row_step() {
  return static_cast<std::int64_t>(gridDim.y) * blockDim.y;
}

/// Numbers of the thread's channels, from that of the first on.
template <class Element, int width>
__device__ void load_floats(const float* from, float (&values)[width]) {
#pragma unroll
  for (int i = 0; i < width; ++i) {
    values[i] = from[offset_in_group(i, paired_threads<Element, width>)];
  }
}

/// Adds up two sums of `width` channels over the threads of a block that have the same channels,
/// and writes them to the slice's part of `partials`. Every thread of the block calls it.
template <class Element, int width>
__device__ void reduce_block(const float (&first)[width], const float (&second)[width],
                             const NormShape& shape, float* partials) {
  __shared__ float sums[2 * width][block_threads];
  const unsigned int me = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
  for (int i = 0; i < width; ++i) {
    sums[i][me] = first[i];
    sums[width + i][me] = second[i];
  }
  for (unsigned int half = blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y >= half) continue;
#pragma unroll
    for (int i = 0; i < 2 * width; ++i) sums[i][me] += sums[i][me + half * blockDim.x];
  }
  const std::int64_t channel = first_channel<Element, width>();
  if (threadIdx.y != 0 || channel >= shape.channels) return;
  float* out = partials + 2 * blockIdx.y * shape.channels + channel;
#pragma unroll
  for (int i = 0; i < width; ++i) {
    const int offset = offset_in_group(i, paired_threads<Element, width>);
    out[offset] = sums[i][me];
    out[shape.channels + offset] = sums[width + i][me];
  }
}

/// Blocks that add up slices have this many channels and threads for each.
constexpr int summed_channels = 8;
constexpr int summing_threads = block_threads / summed_channels;

struct ChannelSums {
  double first;
  double second;
};

/// Adds up the slices' sums of one channel; the result is valid where threadIdx.y is 0. Every
/// thread of the block calls it, whether or not there is such a channel.
__device__ inline ChannelSums sum_slices(const NormShape& shape, const float* partials,
                                         std::int64_t channel) {
  __shared__ ChannelSums all[summing_threads][summed_channels];
  ChannelSums sum{0, 0};
  if (channel < shape.channels) {
    for (int slice = static_cast<int>(threadIdx.y); slice < shape.slices;
         slice += summing_threads) {
      const float* of_slice = partials + 2 * slice * shape.channels + channel;
      sum.first += static_cast<double>(of_slice[0]);
      sum.second += static_cast<double>(of_slice[shape.channels]);
    }
  }
  all[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0) return sum;
  for (int i = 1; i < summing_threads; ++i) {
    sum.first += all[i][threadIdx.x].first;
    sum.second += all[i][threadIdx.x].second;
  }
  return sum;
}

/// Grid and block of a kernel that divides a matrix.
struct Division {
  dim3 grid;
  dim3 block;
};

/// Threads of a block beside each other: the fewest, up to a warp, that span the channels.
[[nodiscard]] inline unsigned int threads_across(std::int64_t channels, int width) {
  constexpr unsigned int warp = 32;
  unsigned int threads = 1;
  while (threads < warp && threads * static_cast<unsigned int>(width) < channels) threads *= 2;
  return threads;
}

[[nodiscard]] inline unsigned int blocks_across(std::int64_t channels, int width) {
  const std::int64_t channels_of_block =
      static_cast<std::int64_t>(threads_across(channels, width)) * width;
  return static_cast<unsigned int>((channels + channels_of_block - 1) / channels_of_block);
}

[[nodiscard]] inline Division divide(const NormShape& shape, int width) {
  const unsigned int across = threads_across(shape.channels, width);
  return {dim3(blocks_across(shape.channels, width), static_cast<unsigned int>(shape.slices)),
          dim3(across, block_threads / across)};
}

[[nodiscard]] inline Division divide_channels(const NormShape& shape) {
  const std::int64_t blocks = (shape.channels + summed_channels - 1) / summed_channels;
  return {dim3(static_cast<unsigned int>(blocks)), dim3(summed_channels, summing_threads)};
}

/// Whether the vector way may be taken.
template <class Element>
[[nodiscard]] bool vectorised(const NormShape& shape, const void* a, const void* b, const void* c) {
  const auto bits = reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b) |
                    reinterpret_cast<std::uintptr_t>(c);
  return shape.channels % channels_of_division<Element> == 0 && bits % 16 == 0;
}

}  // namespace parbench::cuda
