// Makes the stages of a training step.
#pragma once

#include "scenarios/training/step/training_step.h"

namespace parbench {

/// Makes a stage for each point of the layout, from the network or its division into shards. Throws
/// Unsupported if replicas with an exchange have parameters in different layouts.
void make_stages(TrainingStep& step);

}  // namespace parbench
