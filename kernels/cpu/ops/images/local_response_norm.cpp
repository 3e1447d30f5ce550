// Local response normalisation, forward and backward, on oneDNN.
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

constexpr auto across_channels = dnnl::algorithm::lrn_across_channels;

template <class Desc>
dnnl::lrn_forward::primitive_desc plan_response_norm(const Desc& desc, const memory::desc& data) {
  return {{dnnl::prop_kind::forward_training, across_channels, data, desc.size, desc.alpha,
           desc.beta, desc.offset},
          user_scratchpad(),
          engine()};
}

/// Returns the layout of the tensor that the forward pass saves. Reference implementations save
/// nothing: oneDNN omits the argument, and the operand then has one element.
memory::desc saved_desc(const dnnl::lrn_forward::primitive_desc& forward) {
  const memory::desc saved = forward.workspace_desc();
  return saved.get_size() > 0 ? saved : memory_desc(canonical({1}));
}

}  // namespace

Planned plan(const LocalResponseNormForward& desc) {
  const memory::desc data = activation_desc(desc.shape, desc.dtype);
  const auto chosen = plan_response_norm(desc, data);
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::lrn_forward(chosen));
  op->bind(DNNL_ARG_SRC, data);
  op->bind(DNNL_ARG_DST, data);
  op->bind(DNNL_ARG_WORKSPACE, saved_desc(chosen));
  return op;
}

Planned plan(const LocalResponseNormBackward& desc) {
  const memory::desc data = activation_desc(desc.shape, desc.dtype);
  const auto forward = plan_response_norm(desc, data);
  const auto chosen = dnnl::lrn_backward::primitive_desc(
      {across_channels, data, data, desc.size, desc.alpha, desc.beta, desc.offset},
      user_scratchpad(), engine(), forward);
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::lrn_backward(chosen));
  op->bind(DNNL_ARG_SRC, data);
  op->bind(DNNL_ARG_DIFF_DST, data);
  op->bind(DNNL_ARG_WORKSPACE, saved_desc(forward));
  op->bind(DNNL_ARG_DIFF_SRC, data);
  return op;
}

}  // namespace parbench::cpu
