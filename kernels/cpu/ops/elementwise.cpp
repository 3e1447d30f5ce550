// ReLU, additions and their backward steps on activations.
#include <array>

#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

constexpr auto relu = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;

dnnl::eltwise_forward::primitive_desc plan_relu(const memory::desc& data) {
  return {{dnnl::prop_kind::forward_training, relu, data, 0.0F, 0.0F}, user_scratchpad(), engine()};
}

class AddReluBackwardOp final : public CpuOp {
 public:
  explicit AddReluBackwardOp(const AddReluBackward& desc)
      : CpuOp(desc),
        dtype_(desc.dtype),
        two_gradients_(desc.two_gradients),
        count_(static_cast<std::size_t>(element_count(desc.shape))) {
    add_tensors(*this, mask_bytes(count_));
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
    const auto* mask = reinterpret_cast<const std::uint8_t*>(arguments[0]);
    const auto at = [&](std::size_t i) { return reinterpret_cast<Element*>(arguments[i]); };
    const Element* b = two_gradients_ ? at(2) : nullptr;
    masked_sum(at(arguments.size() - 1), mask, at(1), b, count_, execution.threads);
  }

  DType dtype_;
  bool two_gradients_;
  std::size_t count_;
};

}  // namespace

Planned plan(const ReluForward& desc) {
  const memory::desc data = activation_desc(desc.shape, desc.dtype);
  const auto chosen = plan_relu(data);
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::eltwise_forward(chosen));
  op->bind(DNNL_ARG_SRC, data);
  op->bind(DNNL_ARG_DST, data);
  return op;
}

Planned plan(const ReluBackward& desc) {
  const memory::desc data = activation_desc(desc.shape, desc.dtype);
  const auto chosen = dnnl::eltwise_backward::primitive_desc(
      {relu, data, data, 0.0F, 0.0F}, user_scratchpad(), engine(), plan_relu(data));
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::eltwise_backward(chosen));
  op->bind(DNNL_ARG_DST, data);
  op->bind(DNNL_ARG_DIFF_DST, data);
  op->bind(DNNL_ARG_DIFF_SRC, data);
  return op;
}

Planned plan(const Add& desc) {
  const memory::desc data = activation_desc(desc.shape, desc.dtype);
  const auto chosen = dnnl::binary::primitive_desc({dnnl::algorithm::binary_add, data, data, data},
                                                   user_scratchpad(), engine());
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::binary(chosen));
  op->bind(DNNL_ARG_SRC_0, data);
  op->bind(DNNL_ARG_SRC_1, data);
  op->bind(DNNL_ARG_DST, data);
  return op;
}

Planned plan(const AddReluBackward& desc) { return std::make_unique<AddReluBackwardOp>(desc); }

}  // namespace parbench::cpu
