// The plan of a stage for its micro-batches, without memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "scenarios/training/program/parameter_store.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {

/// Layouts of a stage's parameters, and the passes of its micro-batches. Stages on devices of other
/// ranks can share a plan, because this rank does not execute them.
struct StagePlan {
  /// `layout_samples`: number of samples per micro-batch for which the layouts of parameters are
  /// chosen.
  StagePlan(Stream& stream, const StageRange& range, const std::vector<std::int64_t>& micro_batches,
            std::int64_t layout_samples);

  ParameterStore store;
  std::map<std::int64_t, std::unique_ptr<StageProgram>> programs = {};  // by number of samples
  std::size_t scratch_bytes = 0;  // scratch memory that the stream has to reserve
};

}  // namespace parbench
