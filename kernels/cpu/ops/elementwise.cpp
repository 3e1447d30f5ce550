// Activation functions, additions and their backward operations on activations.
#include <stdexcept>

#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/loop_op.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

/// oneDNN's name of an element-wise function, and its two parameters.
struct Eltwise {
  dnnl::algorithm algorithm;
  float alpha;
  float beta;
};

// Returns oneDNN's algorithm of an activation function. Uses clip_v2, whose derivative is 0 at both
// limits; the derivative of oneDNN's clip is 1 at the upper limit.
template <class Desc>
Eltwise eltwise_of(const Desc& desc) {
  using Algorithm = dnnl::algorithm;
  switch (desc.kind) {
    case ActivationKind::relu:
      return {Algorithm::eltwise_relu_use_dst_for_bwd, 0, 0};
    case ActivationKind::gelu:
      return {Algorithm::eltwise_gelu_erf, 0, 0};
    case ActivationKind::gelu_tanh:
      return {Algorithm::eltwise_gelu_tanh, 0, 0};
    case ActivationKind::sigmoid:
      return {Algorithm::eltwise_logistic_use_dst_for_bwd, 0, 0};
    case ActivationKind::tanh:
      return {Algorithm::eltwise_tanh_use_dst_for_bwd, 0, 0};
    case ActivationKind::clip:
      return {Algorithm::eltwise_clip_v2, desc.low, desc.high};
  }
  throw std::logic_error("an activation function without an algorithm");
}

dnnl::eltwise_forward::primitive_desc plan_eltwise(const memory::desc& data,
                                                   const Eltwise& function) {
  return {
      {dnnl::prop_kind::forward_training, function.algorithm, data, function.alpha, function.beta},
      user_scratchpad(),
      engine()};
}

template <class Desc>
Planned plan_function(const Desc& desc, const Eltwise& function) {
  const auto chosen = plan_eltwise(activation_desc(desc.shape, desc.dtype), function);
  return primitive_op(desc, chosen, dnnl::eltwise_forward(chosen), {DNNL_ARG_SRC, DNNL_ARG_DST});
}

}  // namespace

Planned plan(const ActivationForward& desc) { return plan_function(desc, eltwise_of(desc)); }

Planned plan(const Scale& desc) {
  return plan_function(desc, {dnnl::algorithm::eltwise_linear, desc.factor, desc.addend});
}

Planned plan(const ActivationBackward& desc) {
  const memory::desc data = activation_desc(desc.shape, desc.dtype);
  const Eltwise function = eltwise_of(desc);
  const auto chosen = dnnl::eltwise_backward::primitive_desc(
      {function.algorithm, data, data, function.alpha, function.beta}, user_scratchpad(), engine(),
      plan_eltwise(data, function));
  const int kept = backward_reads_source(desc.kind) ? DNNL_ARG_SRC : DNNL_ARG_DST;
  return primitive_op(desc, chosen, dnnl::eltwise_backward(chosen),
                      {kept, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC});
}

Planned plan(const Add& desc) {
  const memory::desc data = activation_desc(desc.shape, desc.dtype);
  const auto chosen = dnnl::binary::primitive_desc({dnnl::algorithm::binary_add, data, data, data},
                                                   user_scratchpad(), engine());
  return primitive_op(desc, chosen, dnnl::binary(chosen),
                      {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1, DNNL_ARG_DST});
}

Planned plan(const AddReluBackward& desc) {
  const auto count = static_cast<std::size_t>(element_count(desc.shape));
  const LoopNeeds needs{.opaque_bytes = mask_bytes(count)};
  return typed_loop_op(
      desc, needs,
      [count, two = desc.two_gradients]<class Element>(
          Element /*unused*/, const Execution& execution, Addresses arguments) {
        const auto at = [&](std::size_t i) { return reinterpret_cast<Element*>(arguments[i]); };
        const auto* mask = reinterpret_cast<const std::uint8_t*>(arguments[0]);
        const Element* b = two ? at(2) : nullptr;
        masked_sum(at(arguments.size() - 1), mask, at(1), b, count, execution.threads);
      });
}

}  // namespace parbench::cpu
