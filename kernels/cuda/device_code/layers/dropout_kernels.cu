// Dropout: a thread draws a block of four random words for four adjacent elements.
#include "kernels/cuda/device_code/layers/dropout_kernels.h"

#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {
namespace {

constexpr int words_of_block = 4;

/// Returns whether the element of a random word is kept, by its number in [0, 1) as `uniform_value`
/// draws it.
__device__ bool stays(std::uint32_t word, float probability) {
  return static_cast<float>(word >> 8U) * 0x1p-24F >= probability;
}

/// Returns the factors of a block's four elements.
__device__ Group<float, words_of_block> factors_of(const DropoutRule& rule, std::int64_t block) {
  const RandomWords words = random_words(rule.random, static_cast<std::uint64_t>(block));
  const std::uint32_t all[words_of_block]{words.x, words.y, words.z, words.w};
  Group<float, words_of_block> factors;
#pragma unroll
  for (int i = 0; i < words_of_block; ++i) {
    factors.at[i] = stays(all[i], rule.probability) ? rule.factor : 0.0F;
  }
  return factors;
}

template <class Element>
__device__ Element dropped(Element value, float factor) {
  return narrowed<Element>(factor == 0.0F ? 0.0F : factor * widened(value));
}

/// Processes elements that consist of whole blocks.
template <class Element>
__global__ void __launch_bounds__(block_threads)
    drop_groups_kernel(Element* out, const Element* in, std::int64_t groups, DropoutRule rule) {
  const std::int64_t first_block = rule.first / words_of_block;
  for (std::int64_t i = grid_thread(); i < groups; i += grid_threads()) {
    const auto factors = factors_of(rule, first_block + i);
    auto group = load<words_of_block>(in + i * words_of_block);
#pragma unroll
    for (int k = 0; k < words_of_block; ++k) group.at[k] = dropped(group.at[k], factors.at[k]);
    store<words_of_block>(out + i * words_of_block, group);
  }
}

/// Processes elements at any address. The first and the last block may be partly outside of them.
template <class Element>
__global__ void __launch_bounds__(block_threads)
    drop_elements_kernel(Element* out, const Element* in, std::int64_t count, DropoutRule rule) {
  const std::int64_t first_block = rule.first / words_of_block;
  const std::int64_t skipped = rule.first % words_of_block;
  const std::int64_t blocks = (skipped + count + words_of_block - 1) / words_of_block;
  for (std::int64_t i = grid_thread(); i < blocks; i += grid_threads()) {
    const auto factors = factors_of(rule, first_block + i);
    const std::int64_t begin = i * words_of_block - skipped;
#pragma unroll
    for (int k = 0; k < words_of_block; ++k) {
      const std::int64_t index = begin + k;
      if (index >= 0 && index < count) out[index] = dropped(in[index], factors.at[k]);
    }
  }
}

}  // namespace

void dropout(void* out, const void* in, const DropoutRule& rule, DType dtype, std::int64_t count,
             cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    const auto* source = static_cast<const Element*>(in);
    auto* destination = static_cast<Element*>(out);
    const bool grouped = (rule.first | count) % words_of_block == 0 &&
                         holds_groups<words_of_block>(source) &&
                         holds_groups<words_of_block>(destination);
    const std::int64_t blocks = count / words_of_block + 2;  // including partial ones at both ends
    if (grouped) {
      PARBENCH_LAUNCH(blocks_for(blocks), block_threads, stream, drop_groups_kernel<Element>,
                      destination, source, count / words_of_block, rule);
    } else {
      PARBENCH_LAUNCH(blocks_for(blocks), block_threads, stream, drop_elements_kernel<Element>,
                      destination, source, count, rule);
    }
  });
}

}  // namespace parbench::cuda
