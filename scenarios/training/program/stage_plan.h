// What a stage of a model plans for its micro-batches, without memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "scenarios/training/program/parameter_store.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {

/// The layouts of a stage's parameters, and the passes of its micro-batches. Stages on devices of
/// other ranks, which execute nothing here, may have one in common.
struct StagePlan {
  /// `layout_samples`: parameters have the layouts that suit micro-batches of so many samples.
  StagePlan(Stream& stream, const StageRange& range, const std::vector<std::int64_t>& micro_batches,
            std::int64_t layout_samples);

  ParameterStore store;
  std::map<std::int64_t, std::unique_ptr<StageProgram>> programs = {};  // by samples
  std::size_t scratch_bytes = 0;  // that the stream has to reserve
};

}  // namespace parbench
