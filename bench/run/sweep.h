// From the command line to cases: every combination of the values of every axis.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cli/run_options.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// The devices of a run, as far as the cases depend on them.
struct DeviceSet {
  int count = 1;
  bool alike = true;  // Request::devices_alike
};
[[nodiscard]] DeviceSet set_of(const std::vector<std::unique_ptr<Device>>& devices);

/// Returns the cases of one scenario: strategies in their order, the last axis varying fastest,
/// each case once. Values given by the user are combined with the preset's; a combination that the
/// scenario refuses is dropped as long as the user's values in it are part of another case. Empty
/// when the chosen strategies are all of other scenarios. Throws UsageError for a value that is not
/// allowed or can be part of no case.
[[nodiscard]] std::vector<CaseSpec> expand(const RunOptions& options, const Scenario& scenario,
                                           const DeviceSet& devices);

/// Returns the strategies of a scenario that have no case, although the user has chosen neither
/// strategies nor cases: the flags, the element type or the devices rule them out. Naming one in
/// `--strategy` is an error that says why.
[[nodiscard]] std::vector<std::string> strategies_left_out(const RunOptions& options,
                                                           const Scenario& scenario,
                                                           const std::vector<CaseSpec>& cases);

}  // namespace parbench
