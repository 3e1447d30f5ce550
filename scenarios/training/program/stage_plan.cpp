// Plans the passes of a stage.
#include "scenarios/training/program/stage_plan.h"

#include <iterator>
#include <set>
#include <utility>

namespace parbench {

StagePlan::StagePlan(Stream& stream, const StageRange& range,
                     const std::vector<std::int64_t>& micro_batches, std::int64_t layout_samples)
    : store(stream, micro_batches.size() == 1) {
  // Tuning precedes all preparation. In the model's order, the time for tuning would be spent on
  // weight gradients and forward passes, before the largest data gradients, which come last.
  const std::set<std::int64_t> sizes(micro_batches.begin(), micro_batches.end());
  std::vector<OpDesc> products;
  for (const std::int64_t samples : sizes) {
    std::ranges::move(StageProgram::products(range, samples), std::back_inserter(products));
  }
  stream.device().tune(std::move(products));
  StageProgram::add_parameters(stream, range, layout_samples, store);
  for (const std::int64_t samples : micro_batches) {
    auto& program = programs[samples];
    if (!program) program = std::make_unique<StageProgram>(stream, range, samples, store);
  }
  scratch_bytes = stream.requested_scratch();
}

}  // namespace parbench
