// Addition of a row to every row of a matrix, and its backward operation.
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/loop_op.h"

namespace parbench::cpu {

Planned plan(const AddRepeated& desc) {
  const auto rows = static_cast<std::size_t>(desc.repeats);
  const auto columns = static_cast<std::size_t>(desc.count);
  return typed_loop_op(desc, [=]<class Element>(Element /*unused*/, const Execution& execution,
                                                Addresses arguments) {
    const auto at = [&](std::size_t i) { return reinterpret_cast<Element*>(arguments[i]); };
    add_repeated(at(2), at(0), at(1), rows, columns, execution.threads);
  });
}

Planned plan(const SumRepeats& desc) {
  const auto rows = static_cast<std::size_t>(desc.repeats);
  const auto columns = static_cast<std::size_t>(desc.count);
  return typed_loop_op(desc, [=, accumulate = desc.accumulate]<class Element>(
                                 Element /*unused*/, const Execution& execution, Addresses at) {
    sum_repeats(floats(at[1]), reinterpret_cast<const Element*>(at[0]), rows, columns, accumulate,
                execution.threads);
  });
}

}  // namespace parbench::cpu
