// Batch normalisation in training, and its backward pass, on oneDNN or in this project's loops.
#include <fmt/format.h>

#include <array>
#include <span>

#include "kernels/base/element.h"
#include "kernels/cpu/ops/batch_norm/batch_norm_slots.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/gradient_op.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

dnnl::normalization_flags flags_of(bool relu) {
  using Flags = dnnl::normalization_flags;
  const Flags affine = Flags::use_scale | Flags::use_shift;
  return relu ? affine | Flags::fuse_norm_relu : affine;
}

dnnl::batch_normalization_forward::primitive_desc plan_forward(const memory::desc& data,
                                                               float epsilon, bool relu) {
  return {{dnnl::prop_kind::forward_training, data, epsilon, flags_of(relu)},
          user_scratchpad(),
          engine()};
}

dnnl::batch_normalization_backward::primitive_desc plan_backward(const memory::desc& data,
                                                                 float epsilon, bool relu) {
  return {{dnnl::prop_kind::backward, data, data, epsilon, flags_of(relu)},
          user_scratchpad(),
          engine(),
          plan_forward(data, epsilon, relu)};
}

// With an addend, the ReLU follows the addition, so oneDNN's primitive must not apply it.
bool fuses_relu(const BatchNormForward& desc) { return desc.relu && !desc.add; }

class BatchNormForwardOp final : public CpuOp {
 public:
  BatchNormForwardOp(const BatchNormForward& desc,
                     const dnnl::batch_normalization_forward::primitive_desc& chosen);
  void execute(const Execution& execution, std::span<std::byte* const> arguments) override;

 private:
  void bind(const dnnl::batch_normalization_forward::primitive_desc& chosen);
  void add_shortcut(const Execution& execution, std::span<std::byte* const> arguments) const;

  BatchNormForward desc_;
  PrimitiveCall call_;
  bool fuses_relu_;
  std::size_t count_;
};

BatchNormForwardOp::BatchNormForwardOp(
    const BatchNormForward& desc, const dnnl::batch_normalization_forward::primitive_desc& chosen)
    : CpuOp(desc),
      desc_(desc),
      call_(chosen, dnnl::batch_normalization_forward(chosen)),
      fuses_relu_(fuses_relu(desc)),
      count_(static_cast<std::size_t>(element_count(desc.shape))) {
  bind(chosen);
  add_scratch(call_.scratch_bytes());
  set_kernel(desc.add ? fmt::format("{}, addition in a vector loop", chosen.impl_info_str())
                      : chosen.impl_info_str());
}

void BatchNormForwardOp::bind(const dnnl::batch_normalization_forward::primitive_desc& chosen) {
  add_tensors(*this, fuses_relu_ ? chosen.workspace_desc().get_size() : mask_bytes(count_));
  const memory::desc channel = memory_desc(canonical({desc_.shape[1]}));
  bind_slot(*this, forward_slot::source, call_, DNNL_ARG_SRC, chosen.src_desc());
  bind_slot(*this, forward_slot::scale, call_, DNNL_ARG_SCALE, channel);
  bind_slot(*this, forward_slot::shift, call_, DNNL_ARG_SHIFT, channel);
  bind_slot(*this, forward_slot::destination, call_, DNNL_ARG_DST, chosen.dst_desc());
  bind_slot(*this, forward_slot::mean, call_, DNNL_ARG_MEAN, channel);
  bind_slot(*this, forward_slot::variance, call_, DNNL_ARG_VARIANCE, channel);
  if (fuses_relu_)
    bind_slot(*this, forward_slot::mask, call_, DNNL_ARG_WORKSPACE, chosen.workspace_desc());
}

// Adds the addend and clamps the sum, in a pass of its own: fusing it with the normalisation would
// save only 0.2% of a training step (docs/decisions/cpu-kernels.md).
void BatchNormForwardOp::add_shortcut(const Execution& execution,
                                      std::span<std::byte* const> arguments) const {
  auto* bits = reinterpret_cast<std::uint8_t*>(arguments[forward_slot::mask]);
  with_element(desc_.dtype, [&]<class Element>(Element /*unused*/) {
    const auto* in = reinterpret_cast<const Element*>(arguments[forward_slot::addend]);
    add_relu(reinterpret_cast<Element*>(arguments[forward_slot::destination]), bits, in, count_,
             execution.threads);
  });
}

void BatchNormForwardOp::execute(const Execution& execution,
                                 std::span<std::byte* const> arguments) {
  const std::array<std::byte*, 7> addresses{arguments[forward_slot::source],
                                            arguments[forward_slot::scale],
                                            arguments[forward_slot::shift],
                                            arguments[forward_slot::destination],
                                            arguments[forward_slot::mean],
                                            arguments[forward_slot::variance],
                                            fuses_relu_ ? arguments[forward_slot::mask] : nullptr};
  call_.run(execution, std::span(addresses).first(fuses_relu_ ? 7 : 6), execution.scratch);
  if (desc_.add) add_shortcut(execution, arguments);
  move_running(desc_, arguments);
}

/// Returns whether this project's loops over pixels replace oneDNN's kernels: for channels last, if
/// the number of channels is a multiple of 8 (the loops write whole bytes of masks).
template <class Desc>
bool is_over_pixels(const Desc& desc) {
  return channel_order(desc.shape[1], desc.dtype) == ChannelOrder::last && desc.shape[1] % 8 == 0;
}

}  // namespace

void move_running(const BatchNormForward& desc, std::span<std::byte* const> arguments) {
  const auto count = static_cast<double>(desc.shape[0] * desc.shape[2] * desc.shape[3]);
  const auto unbiased = static_cast<float>(count / (count - 1));
  const auto move = [&](std::size_t running, std::size_t batch, float correction) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(desc.shape[1]); ++i) {
      float& moving = floats(arguments[running])[i];
      moving += desc.momentum * (correction * floats(arguments[batch])[i] - moving);
    }
  };
  move(forward_slot::running_mean, forward_slot::mean, 1.0F);
  move(forward_slot::running_variance, forward_slot::variance, unbiased);
}

Planned plan(const BatchNormForward& desc) {
  if (is_over_pixels(desc)) return plan_over_pixels(desc);
  const auto chosen =
      plan_forward(activation_desc(desc.shape, desc.dtype), desc.epsilon, fuses_relu(desc));
  return std::make_unique<BatchNormForwardOp>(desc, chosen);
}

Planned plan(const BatchNormBackward& desc) {
  if (is_over_pixels(desc)) return plan_over_pixels(desc);
  const auto chosen =
      plan_backward(activation_desc(desc.shape, desc.dtype), desc.epsilon, desc.relu);
  const memory::desc channel = memory_desc(canonical({desc.shape[1]}));
  auto op = std::make_unique<GradientOp>(desc, chosen, dnnl::batch_normalization_backward(chosen),
                                         desc.accumulate);
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind(DNNL_ARG_MEAN, channel);
  op->bind(DNNL_ARG_VARIANCE, channel);
  op->bind(DNNL_ARG_SCALE, channel);
  op->bind(DNNL_ARG_SHIFT, channel);
  if (desc.relu) op->bind(DNNL_ARG_WORKSPACE, chosen.workspace_desc());
  op->bind(DNNL_ARG_DIFF_SRC, chosen.diff_src_desc());
  op->bind_gradient(DNNL_ARG_DIFF_SCALE, channel);
  op->bind_gradient(DNNL_ARG_DIFF_SHIFT, channel);
  return op;
}

}  // namespace parbench::cpu
