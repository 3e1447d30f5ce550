// Batch normalisation in training, and its backward pass, on oneDNN.
#include <fmt/format.h>

#include <array>
#include <span>

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

// Argument positions, as ops.h lists them.
enum ForwardSlot : std::size_t {
  source,
  scale,
  shift,
  running_mean,
  running_variance,
  destination,
  mean,
  variance,
  mask,
  addend
};

// With an addend, the ReLU comes behind the addition.
bool fuses_relu(const BatchNormForward& desc) { return desc.relu && !desc.add; }

class BatchNormForwardOp final : public CpuOp {
 public:
  BatchNormForwardOp(const BatchNormForward& desc,
                     const dnnl::batch_normalization_forward::primitive_desc& chosen);
  void execute(const Execution& execution, std::span<std::byte* const> arguments) override;

 private:
  void bind(const dnnl::batch_normalization_forward::primitive_desc& chosen);
  void move_running(std::byte* running, const std::byte* batch, float correction) const;
  void add_shortcut(const Execution& execution, std::span<std::byte* const> arguments) const;

  PrimitiveCall call_;
  bool fuses_relu_;
  bool adds_;
  DType dtype_;
  std::size_t count_;
  std::size_t channels_;
  float momentum_;
  float unbiased_;  // variance's factor n/(n − 1)
};

BatchNormForwardOp::BatchNormForwardOp(
    const BatchNormForward& desc, const dnnl::batch_normalization_forward::primitive_desc& chosen)
    : CpuOp(desc),
      call_(chosen, dnnl::batch_normalization_forward(chosen)),
      fuses_relu_(fuses_relu(desc)),
      adds_(desc.add),
      dtype_(desc.dtype),
      count_(static_cast<std::size_t>(element_count(desc.shape))),
      channels_(static_cast<std::size_t>(desc.shape[1])),
      momentum_(desc.momentum) {
  const double count = static_cast<double>(desc.shape[0] * desc.shape[2] * desc.shape[3]);
  unbiased_ = static_cast<float>(count / (count - 1));
  bind(chosen);
  add_scratch(call_.scratch_bytes());
  set_kernel(adds_ ? fmt::format("{}, addition in a vector loop", chosen.impl_info_str())
                   : chosen.impl_info_str());
}

void BatchNormForwardOp::bind(const dnnl::batch_normalization_forward::primitive_desc& chosen) {
  add_tensors(*this, fuses_relu_ ? chosen.workspace_desc().get_size() : mask_bytes(count_));
  const memory::desc channel = memory_desc(canonical({static_cast<std::int64_t>(channels_)}));
  bind_slot(*this, source, call_, DNNL_ARG_SRC, chosen.src_desc());
  bind_slot(*this, scale, call_, DNNL_ARG_SCALE, channel);
  bind_slot(*this, shift, call_, DNNL_ARG_SHIFT, channel);
  bind_slot(*this, destination, call_, DNNL_ARG_DST, chosen.dst_desc());
  bind_slot(*this, mean, call_, DNNL_ARG_MEAN, channel);
  bind_slot(*this, variance, call_, DNNL_ARG_VARIANCE, channel);
  if (fuses_relu_) bind_slot(*this, mask, call_, DNNL_ARG_WORKSPACE, chosen.workspace_desc());
}

void BatchNormForwardOp::move_running(std::byte* running, const std::byte* batch,
                                      float correction) const {
  auto* moving = reinterpret_cast<float*>(running);
  const auto* current = reinterpret_cast<const float*>(batch);
  for (std::size_t i = 0; i < channels_; ++i) {
    moving[i] += momentum_ * (correction * current[i] - moving[i]);
  }
}

// A pass of its own: normalising and adding in one would save only 0.2% of a training step
// (docs/decisions/0028-fused-shortcut.md).
void BatchNormForwardOp::add_shortcut(const Execution& execution,
                                      std::span<std::byte* const> arguments) const {
  auto* bits = reinterpret_cast<std::uint8_t*>(arguments[mask]);
  const auto run = [&]<class Element>(Element* out) {
    const auto* in = reinterpret_cast<const Element*>(arguments[addend]);
    add_relu(out, bits, in, count_, execution.threads);
  };
  if (dtype_ == DType::bf16) {
    run(reinterpret_cast<std::uint16_t*>(arguments[destination]));
  } else {
    run(reinterpret_cast<float*>(arguments[destination]));
  }
}

void BatchNormForwardOp::execute(const Execution& execution,
                                 std::span<std::byte* const> arguments) {
  const std::array<std::byte*, 7> addresses{arguments[source],
                                            arguments[scale],
                                            arguments[shift],
                                            arguments[destination],
                                            arguments[mean],
                                            arguments[variance],
                                            fuses_relu_ ? arguments[mask] : nullptr};
  call_.run(execution, std::span(addresses).first(fuses_relu_ ? 7 : 6), execution.scratch);
  if (adds_) add_shortcut(execution, arguments);
  move_running(arguments[running_mean], arguments[mean], 1.0F);
  move_running(arguments[running_variance], arguments[variance], unbiased_);
}

}  // namespace

Planned plan(const BatchNormForward& desc) {
  const auto chosen =
      plan_forward(activation_desc(desc.shape, desc.dtype), desc.epsilon, fuses_relu(desc));
  return std::make_unique<BatchNormForwardOp>(desc, chosen);
}

Planned plan(const BatchNormBackward& desc) {
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
