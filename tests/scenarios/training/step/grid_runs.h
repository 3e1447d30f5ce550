// Runs of steps on grids of CPU devices, also of more devices than this machine has cores.
#pragma once

#include <memory>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench::test {

/// So many CPU devices, which share cores.
[[nodiscard]] std::vector<std::unique_ptr<Device>> devices_with_shared_cores(int devices);
[[nodiscard]] std::unique_ptr<Context> context_with_shared_cores(int devices);

/// Expects that a case is verified by its checks and its reference, and that it is not where one of
/// its tasks does nothing: each in turn, or each `every`-th, and 24 of a plan of more.
void expect_every_task_needed(const Scenario& scenario, const CaseSpec& spec, int devices,
                              std::size_t every = 1);

}  // namespace parbench::test
