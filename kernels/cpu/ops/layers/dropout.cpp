// Dropout by the counter-based generator, in parallel and in any element type.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "kernels/base/bfloat16.h"
#include "kernels/base/random.h"
#include "kernels/base/simd.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

constexpr std::size_t dropped_chunk = 1024;  // elements whose numbers are drawn at a time
constexpr std::size_t drawn_block = 4;       // numbers are drawn from a multiple of this on

// `omp simd` because the destination may be the source.

PARBENCH_SIMD void drop_range(float* destination, const float* source, const float* drawn,
                              float probability, float factor, std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    destination[i] = drawn[i] >= probability ? factor * source[i] : 0.0F;
  }
}

PARBENCH_SIMD void drop_range(std::uint16_t* destination, const std::uint16_t* source,
                              const float* drawn, float probability, float factor,
                              std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t kept = to_bf16(factor * from_bf16(source[i]));
    destination[i] = drawn[i] >= probability ? kept : std::uint16_t{0};
  }
}

class DropoutOp final : public CpuOp {
 public:
  explicit DropoutOp(const Dropout& desc)
      : CpuOp(desc), desc_(desc), count_(static_cast<std::size_t>(element_count(desc.shape))) {
    add_tensors(*this);
    set_implementation("vector loop, philox4x32-10");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    if (desc_.dtype == DType::bf16) {
      run<std::uint16_t>(execution, arguments);
    } else {
      run<float>(execution, arguments);
    }
  }

 private:
  template <class Element>
  void run(const Execution& execution, std::span<std::byte* const> arguments) const {
    const auto* source = reinterpret_cast<const Element*>(arguments[0]);
    auto* destination = reinterpret_cast<Element*>(arguments[1]);
    parallel_ranges(count_, dropped_chunk, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; i += dropped_chunk) {
                        drop(destination, source, i, std::min(dropped_chunk, end - i));
                      }
                    });
  }

  template <class Element>
  void drop(Element* destination, const Element* source, std::size_t begin,
            std::size_t count) const {
    std::array<float, dropped_chunk + drawn_block> drawn;
    const std::uint64_t index = static_cast<std::uint64_t>(desc_.first) + begin;
    const std::size_t skipped = index % drawn_block;
    generate_uniform(std::span(drawn).first(skipped + count), index - skipped,
                     {desc_.seed, desc_.subsequence}, 0, 1);
    drop_range(destination + begin, source + begin, drawn.data() + skipped, desc_.probability,
               1.0F / (1.0F - desc_.probability), count);
  }

  Dropout desc_;
  std::size_t count_;
};

}  // namespace

Planned plan(const Dropout& desc) { return std::make_unique<DropoutOp>(desc); }

}  // namespace parbench::cpu
