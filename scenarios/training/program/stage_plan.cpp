// Plans the passes of a stage.
#include "scenarios/training/program/stage_plan.h"

#include <iterator>
#include <set>
#include <utility>

namespace parbench {

StagePlan::StagePlan(Stream& stream, const StageRange& range,
                     const std::vector<std::int64_t>& micro_batches, std::int64_t layout_samples)
    : store(stream, micro_batches.size() == 1) {
  // Tune all products before any operation is prepared (Device::tune). If kernels were measured in
  // the order of preparation, weight gradients and forward passes would use up the time for tuning,
  // because data gradients are prepared last.
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
