// Batch normalisation in training: kernels of the forward pass.
#include "kernels/cuda/device_code/arrival_counters.h"
#include "kernels/cuda/device_code/batch_norm/batch_norm_device.cuh"

namespace parbench::cuda {
namespace {

// Blocks per multiprocessor for which the kernels are compiled (__launch_bounds__). `norm_shape`
// limits the slices by this number.
constexpr int resident_blocks_forward = 4;

// Computes a channel's statistics of the batch, its running statistics, and the coefficients of
// destination = factor · source + summand, from the sums of x − x₀ and of its square.
template <class Element>
__device__ void finish_statistics(const NormForward<Element>& at, const NormShape& shape,
                                  float epsilon, float momentum, const NormScratch& scratch,
                                  std::int64_t c) {
  const ChannelSums sums = final_totals(shape, scratch, c);
  const auto count = static_cast<double>(shape.rows);
  const double offset = sums.first / count;
  const double mean = static_cast<double>(widened(at.source[c])) + offset;
  const double difference = sums.second / count - offset * offset;
  const double variance = difference < 0 ? 0 : difference;  // a NaN stays a NaN
  const double unbiased = variance * count / (count - 1);
  at.mean[c] = static_cast<float>(mean);
  at.variance[c] = static_cast<float>(variance);
  at.running_mean[c] += momentum * (static_cast<float>(mean) - at.running_mean[c]);
  at.running_variance[c] += momentum * (static_cast<float>(unbiased) - at.running_variance[c]);
  const auto factor = static_cast<float>(static_cast<double>(at.scale[c]) /
                                         sqrt(variance + static_cast<double>(epsilon)));
  scratch.coefficients[c] = factor;
  scratch.coefficients[shape.channels + c] =
      static_cast<float>(static_cast<double>(at.shift[c]) - static_cast<double>(factor) * mean);
}

// Sums x − x₀ and its square, where x₀ is the channel's first value, so that a variance that is
// small compared with the mean remains accurate. An outlier as x₀ costs digits instead: in a
// simulation with 401,408 rows the variance was off by 9e-5 with x₀ at 128 standard deviations from
// the other values, and by 4e-3 at 1024; an outlier in another row had no effect. The last block
// computes the results.
template <class Element, int width>
__global__ __launch_bounds__(block_threads, resident_blocks_forward) void statistics_kernel(
    NormForward<Element> at, NormShape shape, float epsilon, float momentum, NormScratch scratch) {
  using Packed = Pack<Element, width>;
  const Element* source = at.source;
  float sums[width]{};
  float squares[width]{};
  const std::int64_t channel = first_channel<Element, width>();
  if (channel < shape.channels) {
    float origin[width];
    Packed packs[Packed::batch];
    packs[0].load(source + channel);
    packs[0].unpack(origin);
    const auto add = [&](const Packed& pack) {
      float values[width];
      pack.unpack(values);
#pragma unroll
      for (int i = 0; i < width; ++i) {
        const float difference = values[i] - origin[i];
        sums[i] += difference;
        squares[i] = fmaf(difference, difference, squares[i]);
      }
    };
    const std::int64_t stride = row_stride();
    std::int64_t row = first_row();
    for (; row + (Packed::batch - 1) * stride < shape.rows; row += Packed::batch * stride) {
#pragma unroll
      for (int i = 0; i < Packed::batch; ++i) {
        packs[i].load(source + (row + i * stride) * shape.channels + channel);
      }
#pragma unroll
      for (int i = 0; i < Packed::batch; ++i) add(packs[i]);
    }
    for (; row < shape.rows; row += stride) {
      packs[0].load(source + row * shape.channels + channel);
      add(packs[0]);
    }
  }
  reduce_block<Element>(sums, squares, shape, scratch.partials);
  if (!sum_slices<width>(shape, scratch)) return;
  const BlockChannels channels = block_channels<width>(shape);
  if (thread_in_block() >= channels.count) return;
  finish_statistics(at, shape, epsilon, momentum, scratch, channels.first + thread_in_block());
}

// Clamps at zero but keeps a NaN. Returns a bit for each element, which is set if it is positive.
template <int width>
__device__ std::uint8_t clamp(float (&values)[width]) {
  unsigned int bits = 0;
#pragma unroll
  for (int i = 0; i < width; ++i) {
    if (values[i] > 0) bits |= 1U << static_cast<unsigned int>(i);
    if (values[i] <= 0) values[i] = 0;
  }
  return static_cast<std::uint8_t>(bits);
}

/// Operation after the normalisation.
enum class Tail { none, relu, add_relu };

/// A group of the source, and of the addend if there is one.
template <class Element, Tail tail>
struct Operands {
  using Packed = Pack<Element, vector_width>;
  // If two tensors are read, half as many packs of each are in flight.
  static constexpr int batch = tail == Tail::add_relu ? Packed::batch / 2 : Packed::batch;
  Packed source;
  Packed addend;

  __device__ void load(const NormForward<Element>& at, std::int64_t index) {
    source.load(at.source + index);
    if constexpr (tail == Tail::add_relu) addend.load(at.addend + index);
  }
};

// Runs from the last row to the first, because the last rows may still be in the cache.
template <class Element, Tail tail>
__global__ __launch_bounds__(block_threads, resident_blocks_forward) void normalise_vectors_kernel(
    NormForward<Element> at, NormShape shape, const float* __restrict__ coefficients) {
  using Groups = Operands<Element, tail>;
  const std::int64_t channel = first_channel<Element, vector_width>();
  if (channel >= shape.channels) return;
  float factors[vector_width];
  float summands[vector_width];
  load_floats<Element>(coefficients + channel, factors);
  load_floats<Element>(coefficients + shape.channels + channel, summands);
  const auto write = [&](Groups& group, std::int64_t index) {
    float values[vector_width];
    group.source.unpack(values);
#pragma unroll
    for (int i = 0; i < vector_width; ++i) values[i] = fmaf(values[i], factors[i], summands[i]);
    if constexpr (tail == Tail::add_relu) {
      float addends[vector_width];
      group.addend.unpack(addends);
#pragma unroll
      for (int i = 0; i < vector_width; ++i) values[i] += addends[i];
    }
    if constexpr (tail != Tail::none) {
      at.mask[mask_bit(index, paired_threads<Element, vector_width>).byte] = clamp(values);
    }
    group.source.pack(values);
    group.source.store(at.destination + index);
  };
  Groups groups[Groups::batch];
  const std::int64_t stride = row_stride();
  std::int64_t row = shape.rows - 1 - first_row();
  for (; row - (Groups::batch - 1) * stride >= 0; row -= Groups::batch * stride) {
#pragma unroll
    for (int i = 0; i < Groups::batch; ++i) {
      groups[i].load(at, (row - i * stride) * shape.channels + channel);
    }
#pragma unroll
    for (int i = 0; i < Groups::batch; ++i) {
      write(groups[i], (row - i * stride) * shape.channels + channel);
    }
  }
  for (; row >= 0; row -= stride) {
    groups[0].load(at, row * shape.channels + channel);
    write(groups[0], row * shape.channels + channel);
  }
}

// A thread processes the elements of one byte of the mask, whatever their channels.
template <class Element, Tail tail>
__global__ void normalise_scalars_kernel(NormForward<Element> at, NormShape shape,
                                         const float* __restrict__ coefficients) {
  const bool paired = pairs<Element>(shape.channels);
  const std::int64_t count = shape.rows * shape.channels;
  const std::int64_t groups = mask_bytes(count);
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; group < groups; group += stride) {
    unsigned int bits = 0;
    for (int i = 0; i < vector_width; ++i) {
      const std::int64_t element = first_of_group(group, paired) + offset_in_group(i, paired);
      if (element >= count) break;
      const std::int64_t channel = element % shape.channels;
      float value[1]{fmaf(widened(at.source[element]), coefficients[channel],
                          coefficients[shape.channels + channel])};
      if constexpr (tail == Tail::add_relu) value[0] += widened(at.addend[element]);
      if constexpr (tail != Tail::none) bits |= static_cast<unsigned int>(clamp(value)) << i;
      narrow(value[0], at.destination[element]);
    }
    if constexpr (tail != Tail::none) at.mask[group] = static_cast<std::uint8_t>(bits);
  }
}

template <class Element, Tail tail>
void normalise(const NormShape& shape, const NormForward<Element>& at, const float* coefficients,
               bool vectors, cudaStream_t stream) {
  if (vectors) {
    const Division parts = divide(shape, vector_width);
    PARBENCH_LAUNCH(parts.grid, parts.block, stream, normalise_vectors_kernel<Element, tail>, at,
                    shape, coefficients);
  } else {
    const unsigned int blocks = blocks_for(mask_bytes(shape.rows * shape.channels));
    PARBENCH_LAUNCH(blocks, block_threads, stream, normalise_scalars_kernel<Element, tail>, at,
                    shape, coefficients);
  }
}

template <class Element>
void forward(const NormShape& shape, const NormForward<Element>& at, float epsilon, float momentum,
             const NormScratch& scratch, cudaStream_t stream) {
  const bool vectors = vectorised<Element>(shape, at.source, at.destination, at.addend);
  const Division parts = divide(shape, vectors ? vector_width : 1);
  const auto statistics =
      vectors ? &statistics_kernel<Element, vector_width> : &statistics_kernel<Element, 1>;
  PARBENCH_LAUNCH(parts.grid, parts.block, stream, statistics, at, shape, epsilon, momentum,
                  scratch);
  const auto finish = at.addend != nullptr ? &normalise<Element, Tail::add_relu>
                      : at.mask != nullptr ? &normalise<Element, Tail::relu>
                                           : &normalise<Element, Tail::none>;
  finish(shape, at, scratch.coefficients, vectors, stream);
}

}  // namespace

NormShape norm_shape(std::int64_t rows, std::int64_t channels, int multiprocessors) {
  // Minimum number of rows per thread: with fewer, adding the sums over a block takes too long.
  constexpr std::int64_t min_rows = 4;
  const int width = channels % vector_width == 0 ? vector_width : 1;
  const std::int64_t rows_of_block =
      min_rows * (block_threads / static_cast<int>(threads_across(channels, width)));
  const std::int64_t useful = (rows + rows_of_block - 1) / rows_of_block;
  const std::int64_t resident =
      static_cast<std::int64_t>(resident_blocks_forward) * multiprocessors;
  const std::int64_t fitting = std::max<std::int64_t>(
      1, resident / static_cast<std::int64_t>(blocks_across(channels, width)));
  NormShape shape{.rows = rows, .channels = channels};
  shape.slices = static_cast<int>(std::min(useful, fitting));
  while (shape.slices_of_group * shape.slices_of_group < shape.slices) ++shape.slices_of_group;
  // The scalar path has the most blocks along the channels. The blocks of the same channels need
  // one counter per group and one for all groups.
  const std::int64_t counters =
      static_cast<std::int64_t>(blocks_across(channels, 1)) * (shape.groups() + 1);
  if (counters > arrival_counters) return {.rows = rows, .channels = channels};
  return shape;
}

void batch_norm_forward(const NormShape& shape, const NormForward<float>& at, float epsilon,
                        float momentum, const NormScratch& scratch, cudaStream_t stream) {
  forward(shape, at, epsilon, momentum, scratch, stream);
}

void batch_norm_forward(const NormShape& shape, const NormForward<std::uint16_t>& at, float epsilon,
                        float momentum, const NormScratch& scratch, cudaStream_t stream) {
  forward(shape, at, epsilon, momentum, scratch, stream);
}

}  // namespace parbench::cuda
