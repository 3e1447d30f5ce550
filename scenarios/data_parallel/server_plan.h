// Parameters and the state of the optimiser on a server, to which all devices send gradients.
#pragma once

#include "scenarios/data_parallel/replicas.h"

namespace parbench {

/// Adds a step of a synchronous parameter server, on device `parts.server`: workers push their
/// gradients, the server adds them, clips and updates, and workers pull the parameters. Adds
/// outputs and checks. The replicas are there, without optimisers.
void plan_parameter_server(DataParallelParts& parts, const Optimizer& optimizer);

}  // namespace parbench
