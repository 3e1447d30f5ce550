// Shared parts of the forward and backward kernels of batch normalisation: access to eight elements
// at a time, the division of a matrix among threads, and sums over blocks.
//
// There are two paths through a matrix. In the vector path a thread processes one group of eight
// channels (batch_norm_columns.h) down the rows; it requires channels that groups can divide and
// addresses aligned to 16 bytes. The scalar path has no requirements.
#pragma once

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/device_code/batch_norm/batch_norm_columns.h"
#include "kernels/cuda/device_code/batch_norm/batch_norm_kernels.h"
#include "kernels/cuda/device_code/blocks/block_arrival.cuh"
#include "kernels/cuda/device_code/vector.cuh"
#include "kernels/cuda/runtime/launch.h"

namespace parbench::cuda {

/// A group of elements, or one element, as loaded from the address of the first.
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
  static constexpr int batch = 2;  // packs in flight: 64 bytes per thread
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

/// Whether threads that process `width` channels each process paired groups.
template <class Element, int width>
constexpr bool paired_threads = width == vector_width && sizeof(Element) == sizeof(float);

/// Returns the first channel of this thread; beyond the last channel for threads without work.
template <class Element, int width>
__device__ std::int64_t first_channel() {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  return width == 1 ? thread : first_of_group(thread, paired_threads<Element, width>);
}
__device__ inline std::int64_t first_row() {
  return static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
}
__device__ inline std::int64_t row_stride() {
  return static_cast<std::int64_t>(gridDim.y) * blockDim.y;
}

/// Loads a value for each of the thread's channels. `from`: address of the first channel's value.
template <class Element, int width>
__device__ void load_floats(const float* from, float (&values)[width]) {
#pragma unroll
  for (int i = 0; i < width; ++i) {
    values[i] = from[offset_in_group(i, paired_threads<Element, width>)];
  }
}

/// Adds two values of each of `width` channels over the threads of a block that process the same
/// channels, and writes the sums to the slice's part of `partials`. Every thread of the block must
/// call it.
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

/// Adds `count` values that are `stride` apart, in order. Other blocks of this grid may have
/// written them.
template <class Value>
__device__ double sum_in_order(const Value* first, int count, std::int64_t stride) {
  constexpr int batch = 8;  // loads in flight
  double sum = 0;
#pragma unroll 1
  for (int begin = 0; begin < count; begin += batch) {
    Value values[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      values[i] = begin + i < count ? __ldcg(first + (begin + i) * stride) : Value{0};
    }
#pragma unroll
    for (int i = 0; i < batch; ++i) sum += static_cast<double>(values[i]);
  }
  return sum;
}

/// Channels of a block, at most as many as it has threads.
struct BlockChannels {
  std::int64_t first;
  int count;
};
template <int width>
__device__ BlockChannels block_channels(const NormShape& shape) {
  const int max_channels = static_cast<int>(blockDim.x) * width;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * max_channels;
  return {first,
          static_cast<int>(min(static_cast<std::int64_t>(max_channels), shape.channels - first))};
}

__device__ inline int thread_in_block() {
  return static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
}

/// Adds `count` pairs of sums for each of a block's channels, and writes the pair of their sums to
/// `totals`.
template <class Value>
__device__ void add_pairs(const NormShape& shape, const BlockChannels& channels, const Value* pairs,
                          int count, double* totals) {
#pragma unroll 1
  for (int i = thread_in_block(); i < 2 * channels.count; i += block_threads) {
    const bool second = i >= channels.count;
    const std::int64_t index = channels.first + i + (second ? shape.channels - channels.count : 0);
    totals[index] = sum_in_order(pairs + index, count, 2 * shape.channels);
  }
}

/// Adds the sums of all slices for this block's channels, after the block has written the sums of
/// its slice. The last block of each group of slices adds the sums of the group, and the last of
/// these blocks adds the sums of the groups. Returns true in that block, in which final_totals then
/// returns the results. Every thread of the block must call it.
template <int width>
__device__ bool sum_slices(const NormShape& shape, const NormScratch& scratch) {
  const BlockChannels channels = block_channels<width>(shape);
  const int groups = shape.groups();
  const int group = static_cast<int>(blockIdx.y) / shape.slices_of_group;
  const int first = group * shape.slices_of_group;
  const int slices = min(shape.slices_of_group, shape.slices - first);
  const std::int64_t row = 2 * shape.channels;
  unsigned int* counters = scratch.counters + static_cast<std::int64_t>(blockIdx.x) * (groups + 1);
  if (!arrives_last(counters + 1 + group, slices)) return false;
  add_pairs(shape, channels, scratch.partials + first * row, slices, scratch.totals + group * row);
  if (!arrives_last(counters, groups)) return false;
  add_pairs(shape, channels, scratch.totals, groups, scratch.totals + groups * row);
  __syncthreads();
  return true;
}

struct ChannelSums {
  double first;
  double second;
};

__device__ inline ChannelSums final_totals(const NormShape& shape, const NormScratch& scratch,
                                           std::int64_t channel) {
  const double* totals = scratch.totals + 2 * shape.groups() * shape.channels + channel;
  return {totals[0], totals[shape.channels]};
}

/// Grid and block of a kernel that divides a matrix.
struct Division {
  dim3 grid;
  dim3 block;
};

/// Returns the number of threads of a block along the channels: the smallest power of two that
/// covers all channels, at most a warp.
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

/// Returns whether the vector path is possible.
template <class Element>
[[nodiscard]] bool vectorised(const NormShape& shape, const void* a, const void* b, const void* c) {
  const auto bits = reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b) |
                    reinterpret_cast<std::uintptr_t>(c);
  return shape.channels % channels_of_division<Element> == 0 && bits % 16 == 0;
}

}  // namespace parbench::cuda
