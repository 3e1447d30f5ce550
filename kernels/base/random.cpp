// Vectorised loops over the counter-based generator. Compiled without fused multiply-add (see
// CMakeLists.txt), so that every instruction set produces the same bits.
#include "kernels/base/random.h"

#include <cmath>
#include <cstddef>

#include "kernels/base/simd.h"

namespace parbench {
namespace {

constexpr std::size_t block_size = 4;

PARBENCH_SIMD void uniform_blocks(float* out, std::size_t blocks, std::uint64_t first_block,
                                  RandomStream stream, UniformRange range) {
  for (std::size_t i = 0; i < blocks; ++i) {
    const RandomWords words = random_words(stream, first_block + i);
    out[block_size * i] = uniform_value(words.x, range);
    out[block_size * i + 1] = uniform_value(words.y, range);
    out[block_size * i + 2] = uniform_value(words.z, range);
    out[block_size * i + 3] = uniform_value(words.w, range);
  }
}

PARBENCH_SIMD void normal_blocks(float* out, std::size_t blocks, std::uint64_t first_block,
                                 RandomStream stream, float mean, float deviation) {
  for (std::size_t i = 0; i < blocks; ++i) {
    const RandomWords words = random_words(stream, first_block + i);
    const NormalPair front = normal_pair(words.x, words.y);
    const NormalPair back = normal_pair(words.z, words.w);
    out[block_size * i] = mean + deviation * front.even;
    out[block_size * i + 1] = mean + deviation * front.odd;
    out[block_size * i + 2] = mean + deviation * back.even;
    out[block_size * i + 3] = mean + deviation * back.odd;
  }
}

// Fills `out` by `blocks(destination, count, first_block)`, which writes `count` blocks of four
// values. A partial last block is written to a temporary and copied.
template <class Blocks>
void generate(std::span<float> out, std::uint64_t first, const Blocks& blocks) {
  const std::size_t whole = out.size() / block_size;
  const std::uint64_t first_block = first / block_size;
  blocks(out.data(), whole, first_block);
  const std::span<float> rest = out.subspan(whole * block_size);
  if (rest.empty()) return;
  float last[block_size];
  blocks(last, 1, first_block + whole);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = last[i];
}

}  // namespace

UniformRange uniform_range(float low, float high) {
  if (!(low < high)) return {low, 0.0F, low};
  return {low, high - low, std::nextafter(high, low)};
}

void generate_uniform(std::span<float> out, std::uint64_t first, RandomStream stream, float low,
                      float high) {
  const UniformRange range = uniform_range(low, high);
  generate(out, first, [&](float* begin, std::size_t blocks, std::uint64_t first_block) {
    uniform_blocks(begin, blocks, first_block, stream, range);
  });
}

void generate_normal(std::span<float> out, std::uint64_t first, RandomStream stream, float mean,
                     float standard_deviation) {
  generate(out, first, [&](float* begin, std::size_t blocks, std::uint64_t first_block) {
    normal_blocks(begin, blocks, first_block, stream, mean, standard_deviation);
  });
}

}  // namespace parbench
