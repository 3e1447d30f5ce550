// Mean squared error and the sums of reductions, in loops of this project.
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

constexpr std::string_view own_loop = "vector loop";

class MseLossOp final : public CpuOp {
 public:
  explicit MseLossOp(const MseLoss& desc)
      : CpuOp(desc),
        desc_(desc),
        count_(static_cast<std::size_t>(element_count(desc.shape))),
        blocks_((count_ + error_block - 1) / error_block) {
    add_tensors(*this);
    add_scratch(blocks_ * sizeof(double));
    set_implementation(own_loop);
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    auto* sums = reinterpret_cast<double*>(execution.scratch);
    if (desc_.dtype == DType::bf16) {
      run<std::uint16_t>(execution, arguments, sums);
    } else {
      run<float>(execution, arguments, sums);
    }
    double total = 0;
    for (std::size_t i = 0; i < blocks_; ++i) total += sums[i];
    const auto loss = static_cast<float>(total / static_cast<double>(desc_.total_elements));
    float* result = floats(arguments[2]);
    *result = desc_.accumulate ? *result + loss : loss;
  }

 private:
  template <class Element>
  void run(const Execution& execution, std::span<std::byte* const> arguments, double* sums) const {
    const auto at = [&](std::size_t i) { return reinterpret_cast<Element*>(arguments[i]); };
    const auto scale = static_cast<float>(2.0 / static_cast<double>(desc_.total_elements));
    squared_error(at(3), sums, at(0), at(1), scale, count_, execution.threads);
  }

  MseLoss desc_;
  std::size_t count_;
  std::size_t blocks_;
};

class AccumulateOp final : public CpuOp {
 public:
  explicit AccumulateOp(const Accumulate& desc)
      : CpuOp(desc), count_(static_cast<std::size_t>(desc.count)) {
    add_tensors(*this);
    set_implementation(own_loop);
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    accumulate(floats(arguments[1]), floats(arguments[0]), count_, execution.threads);
  }

 private:
  std::size_t count_;
};

}  // namespace

Planned plan(const MseLoss& desc) { return std::make_unique<MseLossOp>(desc); }

Planned plan(const Accumulate& desc) { return std::make_unique<AccumulateOp>(desc); }

}  // namespace parbench::cpu
