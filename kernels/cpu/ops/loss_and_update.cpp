// Mean squared error, and the additions of reductions between devices, in loops of this project.
#include <numeric>

#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/loop_op.h"

namespace parbench::cpu {

Planned plan(const MseLoss& desc) {
  const auto count = static_cast<std::size_t>(element_count(desc.shape));
  const std::size_t blocks = (count + error_block - 1) / error_block;
  const LoopNeeds needs{.scratch_bytes = blocks * sizeof(double)};
  return typed_loop_op(
      desc, needs,
      [=]<class Element>(Element /*unused*/, const Execution& execution, Addresses arguments) {
        const auto at = [&](std::size_t i) { return reinterpret_cast<Element*>(arguments[i]); };
        const auto elements = static_cast<double>(desc.total_elements);
        auto* sums = reinterpret_cast<double*>(execution.scratch);
        squared_error(at(3), sums, at(0), at(1), static_cast<float>(2.0 / elements), count,
                      execution.threads);
        const auto loss = static_cast<float>(std::accumulate(sums, sums + blocks, 0.0) / elements);
        float* result = floats(arguments[2]);
        *result = desc.accumulate ? *result + loss : loss;
      });
}

Planned plan(const Accumulate& desc) {
  return loop_op(desc, [count = static_cast<std::size_t>(desc.count)](const Execution& execution,
                                                                      Addresses at) {
    accumulate(floats(at[1]), floats(at[0]), count, execution.threads);
  });
}

}  // namespace parbench::cpu
