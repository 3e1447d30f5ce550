// Fills tensors from the counter-based generator, in parallel and in any element type.
#include <algorithm>
#include <array>
#include <span>

#include "kernels/base/random.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/loop_op.h"
#include "kernels/cpu/ops/parallel.h"

namespace parbench::cpu {
namespace {

constexpr std::size_t chunk = 1024;  // values converted at a time; a multiple of 4

void generate(const Fill& desc, std::span<float> out, std::size_t first) {
  const RandomStream stream{desc.seed, desc.subsequence};
  switch (desc.distribution) {
    case Distribution::uniform:
      return generate_uniform(out, first, stream, desc.low, desc.high);
    case Distribution::normal:
      return generate_normal(out, first, stream, desc.low, desc.high);
    case Distribution::constant:
      std::ranges::fill(out, desc.low);
  }
}

void generate(const Fill& desc, float* out, std::size_t begin, std::size_t end) {
  generate(desc, {out + begin, end - begin}, begin);
}

void generate(const Fill& desc, std::uint16_t* out, std::size_t begin, std::size_t end) {
  std::array<float, chunk> values;
  for (std::size_t i = begin; i < end; i += chunk) {
    const std::size_t count = std::min(chunk, end - i);
    generate(desc, std::span(values).first(count), i);
    narrow(out + i, values.data(), count);
  }
}

}  // namespace

Planned plan(const Fill& desc) {
  const LoopNeeds needs{.implementation = "philox4x32-10"};
  return typed_loop_op(
      desc, needs,
      [desc]<class Element>(Element /*unused*/, const Execution& execution, Addresses at) {
        parallel_ranges(static_cast<std::size_t>(desc.count), chunk, execution.threads,
                        [&](std::size_t begin, std::size_t end) {
                          generate(desc, reinterpret_cast<Element*>(at[0]), begin, end);
                        });
      });
}

}  // namespace parbench::cpu
