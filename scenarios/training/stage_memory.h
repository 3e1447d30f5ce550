// The memory of a stage that other cases or devices have in common with it, and its initial values.
#pragma once

#include <functional>

#include "scenarios/training/stage.h"

namespace parbench {

/// Places all but the gradients. Cases of a run that have the same stage in the same layouts share
/// its parameters and running statistics, which change as the cases train, and the batch.
[[nodiscard]] StageMemory shared_memory(CaseParts& parts, const Stage::Options& options,
                                        const StagePlan& plan);
/// The same with parameters and their copies elsewhere, with symbolic views.
[[nodiscard]] StageMemory memory_without_parameters(CaseParts& parts, const Stage::Options& options,
                                                    const StagePlan& plan);
/// Of a stage that is the whole network and gets parameters and samples from another device in
/// every step: memory for them is the case's own, the first reset fills it with NaN, and there is
/// no target.
[[nodiscard]] StageMemory fed_memory(CaseParts& parts, const Stage::Options& options,
                                     const StagePlan& plan);

/// Makes the case's reset write the initial values of parameters that are not elsewhere.
void initialize_parameters_at_reset(CaseParts& parts, const Stage& stage);
/// Makes it write those of one parameter after the other to `memory`, which has room for the
/// largest, and call `keep` with the parameter's own view behind each.
using KeepParameter = std::function<void(Stream& stream, const BufferView& parameter)>;
void initialize_parameters_at_reset(CaseParts& parts, const Stage& stage, const BufferView& memory,
                                    const KeepParameter& keep);
/// Makes it write zeros to memory for f32 numbers.
void zero_at_reset(CaseParts& parts, int device, const BufferView& memory);

}  // namespace parbench
