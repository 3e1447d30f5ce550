// Copies between any two layouts and element types.
#include <fmt/format.h>

#include "kernels/base/error.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/runtime/engine.h"
#include "kernels/ops/checks.h"

namespace parbench::cpu {

Planned plan(const Reorder& desc) {
  const auto name = name_of(desc);
  check_extents(name, desc.source.shape);
  if (desc.source.shape != desc.destination.shape) {
    throw UsageError(fmt::format("{}: the shapes {} and {} differ", name,
                                 to_string(desc.source.shape), to_string(desc.destination.shape)));
  }
  const dnnl::memory::desc source = memory_desc(desc.source);
  const dnnl::memory::desc destination = memory_desc(desc.destination);
  const dnnl::reorder::primitive_desc chosen(engine(), source, engine(), destination,
                                             user_scratchpad());
  auto op = std::make_unique<PrimitiveOp>(name, chosen, dnnl::reorder(chosen));
  op->bind("source", Access::read, DNNL_ARG_FROM, source, desc.source);
  op->bind("destination", Access::write, DNNL_ARG_TO, destination, desc.destination);
  return op;
}

}  // namespace parbench::cpu
