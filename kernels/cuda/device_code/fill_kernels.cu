// Random numbers, four at a time: a thread draws one block of the generator and stores it. Compiled
// without fused multiply-add (see the header).
#include "kernels/cuda/device_code/fill_kernels.h"

#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {
namespace {

constexpr int block_values = 4;  // number of values from one block of random words

struct Values {
  float at[block_values];
};

struct Uniform {
  RandomStream random;
  UniformRange range;

  __device__ Values operator()(std::int64_t block) const {
    const RandomWords words = random_words(random, static_cast<std::uint64_t>(block));
    return {uniform_value(words.x, range), uniform_value(words.y, range),
            uniform_value(words.z, range), uniform_value(words.w, range)};
  }
};

struct Normal {
  RandomStream random;
  float mean;
  float deviation;

  __device__ Values operator()(std::int64_t block) const {
    const RandomWords words = random_words(random, static_cast<std::uint64_t>(block));
    const NormalPair front = normal_pair(words.x, words.y);
    const NormalPair back = normal_pair(words.z, words.w);
    return {mean + deviation * front.even, mean + deviation * front.odd,
            mean + deviation * back.even, mean + deviation * back.odd};
  }
};

struct Constant {
  float value;

  __device__ Values operator()(std::int64_t /*block*/) const {
    return {value, value, value, value};
  }
};

template <class Element>
__device__ void store_first(Element* out, const Values& values, int count) {
#pragma unroll
  for (int i = 0; i < block_values; ++i) {
    if (i < count) out[i] = narrowed<Element>(values.at[i]);
  }
}

template <bool grouped, class Element, class Draw>
__global__ void __launch_bounds__(block_threads)
    fill_kernel(Element* out, std::int64_t count, Draw draw) {
  const std::int64_t blocks = (count + block_values - 1) / block_values;
  for (std::int64_t block = grid_thread(); block < blocks; block += grid_threads()) {
    const Values values = draw(block);
    const std::int64_t first = block * block_values;
    const std::int64_t left = count - first;
    if (grouped && left >= block_values) {
      Group<Element, block_values> group;
#pragma unroll
      for (int i = 0; i < block_values; ++i) group.at[i] = narrowed<Element>(values.at[i]);
      store<block_values>(out + first, group);
    } else {
      store_first(out + first, values, left < block_values ? static_cast<int>(left) : block_values);
    }
  }
}

template <class Draw>
void fill(void* out, DType dtype, std::int64_t count, const Draw& draw, cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    auto* values = static_cast<Element*>(out);
    const unsigned int blocks = blocks_for((count + block_values - 1) / block_values);
    if (holds_groups<block_values>(values)) {
      PARBENCH_LAUNCH(blocks, block_threads, stream, fill_kernel<true, Element, Draw>, values,
                      count, draw);
    } else {
      PARBENCH_LAUNCH(blocks, block_threads, stream, fill_kernel<false, Element, Draw>, values,
                      count, draw);
    }
  });
}

}  // namespace

void fill_uniform(void* out, DType dtype, std::int64_t count, RandomStream random,
                  UniformRange range, cudaStream_t stream) {
  fill(out, dtype, count, Uniform{random, range}, stream);
}

void fill_normal(void* out, DType dtype, std::int64_t count, RandomStream random, float mean,
                 float standard_deviation, cudaStream_t stream) {
  fill(out, dtype, count, Normal{random, mean, standard_deviation}, stream);
}

void fill_constant(void* out, DType dtype, std::int64_t count, float value, cudaStream_t stream) {
  fill(out, dtype, count, Constant{value}, stream);
}

}  // namespace parbench::cuda
