// Parameters and the state of the optimiser on a server, to which all devices send gradients.
#pragma once

#include "scenarios/training/checks/update_checks.h"
#include "scenarios/training/step/step_tasks.h"

namespace parbench {

/// Adds what follows the passes in a step of a synchronous parameter server: workers push their
/// gradients, the server adds them, clips and updates, and workers pull the parameters. Returns
/// where the results lie.
[[nodiscard]] UpdatedParameters write_server(StepTasks& tasks);

}  // namespace parbench
