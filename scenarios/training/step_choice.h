// How users choose the variants of a training step: axes that scenarios with an update share.
#pragma once

#include "scenarios/framework/parameters.h"
#include "scenarios/training/optimizer.h"

namespace parbench {

/// The axes "optimizer" and "clip".
[[nodiscard]] Axis optimizer_axis();
[[nodiscard]] Axis clip_axis();

// Add what was asked for, or the default, which names leave out.
void add_optimizer_choice(const Parameters& asked, Parameters& parameters);
void add_clip_choice(const Parameters& asked, Parameters& parameters);

/// The optimizer of a resolved case.
[[nodiscard]] Optimizer optimizer_of(const Parameters& parameters);

}  // namespace parbench
