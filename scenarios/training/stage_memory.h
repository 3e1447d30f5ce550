// Memory of stages that several cases or devices use, and its values after a reset.
#pragma once

#include <functional>

#include "scenarios/training/stage.h"

namespace parbench {

/// Returns memory for everything except gradients. Cases on a device share equal inputs and
/// targets, and the parameters and running statistics of equal stages with equal layouts. Training
/// changes parameters and statistics; the reset of a case restores them.
[[nodiscard]] StageMemory shared_memory(CaseParts& parts, const Stage::Options& options,
                                        const StagePlan& plan);
/// Like `shared_memory`, but parameters and their packed copies are `elsewhere`.
[[nodiscard]] StageMemory memory_without_parameters(CaseParts& parts, const Stage::Options& options,
                                                    const StagePlan& plan);
/// Returns memory for a stage that is the whole network and gets parameters and samples from
/// another device in every step. Memory of parameters and samples is not shared with other cases;
/// the first reset fills it with NaN, except for tokens. There is no memory for a target.
[[nodiscard]] StageMemory fed_memory(CaseParts& parts, const Stage::Options& options,
                                     const StagePlan& plan);

/// Makes the case's reset write the initial values of parameters that are stored in the stage.
void initialize_parameters_at_reset(CaseParts& parts, const Stage& stage);
/// For parameters stored elsewhere: makes the case's reset write the initial values of one
/// parameter after the other to the beginning of `memory`, which has room for the largest. After
/// each parameter, the reset calls `keep` with a view without memory: the parameter's offset and
/// size in the region.
using KeepParameter = std::function<void(Stream& stream, const BufferView& parameter)>;
void initialize_parameters_at_reset(CaseParts& parts, const Stage& stage, const BufferView& memory,
                                    const KeepParameter& keep);
/// Makes the case's reset write zeros to memory for f32 numbers.
void zero_at_reset(CaseParts& parts, int device, const BufferView& memory);

}  // namespace parbench
