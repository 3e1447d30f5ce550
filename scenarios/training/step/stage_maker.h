// Makes the stages of a training step.
#pragma once

#include "scenarios/training/step/training_step.h"

namespace parbench {

/// Makes a stage for each point of the layout, of the network or of its division into shards.
/// Throws Unsupported where replicas have parameters in different layouts.
void make_stages(TrainingStep& step);

}  // namespace parbench
