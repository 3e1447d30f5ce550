// Rows of a table by index, and the gradient of the table; oneDNN has no primitives for them.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/base/bfloat16.h"
#include "kernels/base/simd.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/loop_op.h"
#include "kernels/cpu/ops/parallel.h"

namespace parbench::cpu {
namespace {

const std::int32_t* indices_at(const std::byte* address) {
  return reinterpret_cast<const std::int32_t*>(address);
}

PARBENCH_SIMD void add_embedding(float* row, const float* gradient, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) row[i] += gradient[i];
}

PARBENCH_SIMD void add_embedding(float* row, const std::uint16_t* gradient, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) row[i] += from_bf16(gradient[i]);
}

}  // namespace

Planned plan(const EmbeddingForward& desc) {
  const auto count = static_cast<std::size_t>(desc.count);
  const auto width = static_cast<std::size_t>(desc.width);
  const std::size_t bytes = width * size_of(desc.dtype);  // bytes of a row
  const LoopNeeds needs{.implementation = "copies of rows"};
  return loop_op(desc, needs, [=](const Execution& execution, Addresses at) {
    const std::int32_t* indices = indices_at(at[0]);
    parallel_ranges(count * width, width, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin / width; i < end / width; ++i) {
                        const auto row = static_cast<std::size_t>(indices[i]);
                        std::memcpy(at[2] + i * bytes, at[1] + row * bytes, bytes);
                      }
                    });
  });
}

// Each thread owns rows of the table, and adds to them in the order of the positions. Every thread
// reads all indices, which costs little in comparison with writing zeros to the rows that no index
// names: a vocabulary has tens of thousands of rows, of which a batch names hundreds.
Planned plan(const EmbeddingBackward& desc) {
  const auto vocabulary = static_cast<std::size_t>(desc.vocabulary);
  const auto count = static_cast<std::size_t>(desc.count);
  const auto width = static_cast<std::size_t>(desc.width);
  return typed_loop_op(desc, [=, accumulate = desc.accumulate]<class Element>(
                                 Element /*unused*/, const Execution& execution, Addresses at) {
    const std::int32_t* indices = indices_at(at[0]);
    const auto* gradients = reinterpret_cast<const Element*>(at[1]);
    float* table = floats(at[2]);
    parallel_ranges(vocabulary * width, width, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      if (!accumulate) std::memset(table + begin, 0, (end - begin) * sizeof(float));
                      for (std::size_t i = 0; i < count; ++i) {
                        const std::size_t row = static_cast<std::size_t>(indices[i]) * width;
                        if (row < begin || row >= end) continue;
                        add_embedding(table + row, gradients + i * width, width);
                      }
                    });
  });
}

}  // namespace parbench::cpu
