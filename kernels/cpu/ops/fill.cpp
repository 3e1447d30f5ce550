// Fills tensors from the counter-based generator, in parallel and in any element type.
#include <algorithm>
#include <array>
#include <span>

#include "kernels/base/random.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

constexpr std::size_t chunk = 1024;  // values converted at a time; a multiple of 4

class FillOp final : public CpuOp {
 public:
  explicit FillOp(const Fill& desc)
      : CpuOp(desc), desc_(desc), count_(static_cast<std::size_t>(desc.count)) {
    add_tensors(*this);
    set_implementation("philox4x32-10");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    parallel_ranges(count_, chunk, execution.threads, [&](std::size_t begin, std::size_t end) {
      if (desc_.dtype == DType::bf16) {
        narrowed(reinterpret_cast<std::uint16_t*>(arguments[0]), begin, end);
      } else {
        generate({reinterpret_cast<float*>(arguments[0]) + begin, end - begin}, begin);
      }
    });
  }

 private:
  void generate(std::span<float> out, std::size_t first) const {
    const RandomStream stream{desc_.seed, desc_.subsequence};
    switch (desc_.distribution) {
      case Distribution::uniform:
        return generate_uniform(out, first, stream, desc_.low, desc_.high);
      case Distribution::normal:
        return generate_normal(out, first, stream, desc_.low, desc_.high);
      case Distribution::constant:
        std::ranges::fill(out, desc_.low);
    }
  }

  void narrowed(std::uint16_t* out, std::size_t begin, std::size_t end) const {
    std::array<float, chunk> values;
    for (std::size_t i = begin; i < end; i += chunk) {
      const std::size_t count = std::min(chunk, end - i);
      generate(std::span(values).first(count), i);
      narrow(out + i, values.data(), count);
    }
  }

  Fill desc_;
  std::size_t count_;
};

}  // namespace

Planned plan(const Fill& desc) { return std::make_unique<FillOp>(desc); }

}  // namespace parbench::cpu
