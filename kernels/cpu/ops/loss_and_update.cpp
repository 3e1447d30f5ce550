// Mean squared error, gradient descent and the sums of reductions: loops of our own.
#include <fmt/format.h>

#include "kernels/base/error.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"
#include "kernels/cpu/runtime/engine.h"
#include "kernels/ops/checks.h"

namespace parbench::cpu {
namespace {

constexpr std::string_view own_loop = "vector loop";

float* floats(std::byte* address) { return reinterpret_cast<float*>(address); }

class MseLossOp final : public CpuOp {
 public:
  explicit MseLossOp(const MseLoss& desc)
      : CpuOp(name_of(desc)),
        desc_(desc),
        count_(static_cast<std::size_t>(element_count(desc.shape))),
        blocks_((count_ + error_block - 1) / error_block) {
    const TensorDesc tensor = activation(desc.shape, desc.dtype);
    add_argument("prediction", Access::read, tensor);
    add_argument("target", Access::read, tensor);
    add_argument("loss", desc.accumulate ? Access::read_write : Access::write, canonical({1}));
    add_argument("diff_prediction", Access::write, tensor);
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

class SgdOp final : public CpuOp {
 public:
  explicit SgdOp(const Sgd& desc) : CpuOp(name_of(desc)), desc_(desc) {
    add_argument("parameters", Access::read_write, canonical({desc.count}));
    add_argument("gradients", Access::read, canonical({desc.count}));
    set_implementation(own_loop);
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    descend(floats(arguments[0]), floats(arguments[1]), desc_.learning_rate,
            static_cast<std::size_t>(desc_.count), execution.threads);
  }

 private:
  Sgd desc_;
};

class AccumulateOp final : public CpuOp {
 public:
  explicit AccumulateOp(const Accumulate& desc)
      : CpuOp(name_of(desc)), count_(static_cast<std::size_t>(desc.count)) {
    add_argument("source", Access::read, canonical({desc.count}));
    add_argument("destination", Access::read_write, canonical({desc.count}));
    set_implementation(own_loop);
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    accumulate(floats(arguments[1]), floats(arguments[0]), count_, execution.threads);
  }

 private:
  std::size_t count_;
};

}  // namespace

Planned plan(const MseLoss& desc) {
  const auto name = name_of(desc);
  check_extents(name, desc.shape);
  check_dtype(name, desc.dtype);
  if (desc.total_elements < element_count(desc.shape)) {
    throw UsageError(
        fmt::format("{}: total_elements is {}; it must be at least the {} elements of shape {}",
                    name, desc.total_elements, element_count(desc.shape), to_string(desc.shape)));
  }
  return std::make_unique<MseLossOp>(desc);
}

Planned plan(const Sgd& desc) {
  check_positive(name_of(desc), "count", desc.count);
  return std::make_unique<SgdOp>(desc);
}

Planned plan(const Accumulate& desc) {
  check_positive(name_of(desc), "count", desc.count);
  return std::make_unique<AccumulateOp>(desc);
}

}  // namespace parbench::cpu
