// Copies between any two layouts and element types.
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {

Planned plan(const Reorder& desc) {
  const dnnl::memory::desc source = memory_desc(desc.source);
  const dnnl::memory::desc destination = memory_desc(desc.destination);
  const dnnl::reorder::primitive_desc chosen(engine(), source, engine(), destination,
                                             user_scratchpad());
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::reorder(chosen));
  op->bind(DNNL_ARG_FROM, source);
  op->bind(DNNL_ARG_TO, destination);
  return op;
}

}  // namespace parbench::cpu
