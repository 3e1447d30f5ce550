// Runs a backward primitive and accumulates its gradients if required.
#include "kernels/cpu/ops/gradient_op.h"

#include <algorithm>
#include <array>

#include "kernels/cpu/ops/flat_loops.h"

namespace parbench::cpu {

GradientOp::GradientOp(const OpDesc& desc, const dnnl::primitive_desc_base& plan,
                       const dnnl::primitive& primitive, bool accumulate)
    : CpuOp(desc), call_(plan, primitive), accumulate_(accumulate) {
  set_kernel(plan.impl_info_str());
  add_scratch(call_.scratch_bytes());
}

void GradientOp::bind(int argument, const dnnl::memory::desc& layout) {
  bind_next(*this, call_, argument, layout);
  ++others_;
}

void GradientOp::bind_gradient(int argument, const dnnl::memory::desc& layout) {
  bind_next(*this, call_, argument, layout);
  const std::size_t bytes = layout.get_size();
  gradients_.push_back({accumulate_ ? add_scratch(bytes) : 0, bytes / sizeof(float)});
}

void GradientOp::execute(const Execution& execution, std::span<std::byte* const> arguments) {
  if (!accumulate_) {
    call_.run(execution, arguments, execution.scratch);
    return;
  }
  std::array<std::byte*, max_arguments> addresses{};
  std::ranges::copy(arguments, addresses.begin());
  for (std::size_t i = 0; i < gradients_.size(); ++i) {
    addresses.at(others_ + i) = execution.scratch + gradients_[i].scratch;
  }
  call_.run(execution, std::span(addresses).first(arguments.size()), execution.scratch);
  for (std::size_t i = 0; i < gradients_.size(); ++i) {
    cpu::accumulate(floats(arguments[others_ + i]), floats(addresses.at(others_ + i)),
                    gradients_[i].count, execution.threads);
  }
}

}  // namespace parbench::cpu
