// An exchange in which the last replica adds the gradients of all.
#pragma once

#include "scenarios/training/step/step_tasks.h"

namespace parbench {

/// Adds the tasks between the passes and the updates: all other replicas send their gradients to
/// the last one, which adds them to its own and sends the sums back. Every replica then has the
/// same sums, bit for bit.
void write_star(StepTasks& tasks);

}  // namespace parbench
