// Addition of a row to every row of a matrix, and its backward step.
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

/// A matrix as rows of equal length.
struct Rows {
  std::size_t repeats;
  std::size_t count;

  template <class Desc>
  explicit Rows(const Desc& desc)
      : repeats(static_cast<std::size_t>(desc.repeats)),
        count(static_cast<std::size_t>(desc.count)) {}
};

class AddRepeatedOp final : public CpuOp {
 public:
  explicit AddRepeatedOp(const AddRepeated& desc) : CpuOp(desc), dtype_(desc.dtype), rows_(desc) {
    add_tensors(*this);
    set_implementation("vector loop");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    if (dtype_ == DType::bf16) {
      run<std::uint16_t>(execution, arguments);
    } else {
      run<float>(execution, arguments);
    }
  }

 private:
  template <class Element>
  void run(const Execution& execution, std::span<std::byte* const> arguments) const {
    const auto at = [&](std::size_t i) { return reinterpret_cast<Element*>(arguments[i]); };
    add_repeated(at(2), at(0), at(1), rows_.repeats, rows_.count, execution.threads);
  }

  DType dtype_;
  Rows rows_;
};

class SumRepeatsOp final : public CpuOp {
 public:
  explicit SumRepeatsOp(const SumRepeats& desc) : CpuOp(desc), desc_(desc), rows_(desc) {
    add_tensors(*this);
    set_implementation("vector loop");
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
    sum_repeats(floats(arguments[1]), reinterpret_cast<const Element*>(arguments[0]), rows_.repeats,
                rows_.count, desc_.accumulate, execution.threads);
  }

  SumRepeats desc_;
  Rows rows_;
};

}  // namespace

Planned plan(const AddRepeated& desc) { return std::make_unique<AddRepeatedOp>(desc); }

Planned plan(const SumRepeats& desc) { return std::make_unique<SumRepeatsOp>(desc); }

}  // namespace parbench::cpu
