// A parameter server, which has parameters and the optimiser's state, and receives gradients from
// all devices.
#pragma once

#include "scenarios/training/checks/update_checks.h"
#include "scenarios/training/step/step_tasks.h"

namespace parbench {

/// Adds the tasks after the passes in a step of a synchronous parameter server: workers push their
/// gradients; the server adds them, clips and updates; workers pull the parameters. Returns where
/// the results are.
[[nodiscard]] UpdatedParameters write_server(StepTasks& tasks);

}  // namespace parbench
