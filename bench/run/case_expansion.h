// From the command line to cases: every combination of the values of every axis.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cli/run_options.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// What a run leaves out.
struct LeftOut {
  std::string what;    // "pipeline", "pipeline with batch 1 and split 2"
  std::string reason;  // why it is no case, as an error would say
  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

struct Expansion {
  std::vector<CaseSpec> cases;
  /// The chosen strategies that have no case at all, or none with some of the values that the user
  /// gave: other flags, the number format or the devices rule them out. Empty for the cases of a
  /// report.
  std::vector<LeftOut> left_out;
};

/// Returns a request that describes the devices of a run, and no case yet.
[[nodiscard]] Scenario::Request request_with(const std::vector<std::unique_ptr<Device>>& devices);

/// Returns the cases of one scenario: strategies in their order, the last axis varying fastest,
/// each case once. Values given by the user are combined with the preset's; a combination that the
/// scenario refuses is dropped as long as each of the user's values in it is part of another case
/// of the strategy. Names show every axis that has several values. Empty when the chosen strategies
/// are all of other scenarios. Throws UsageError for a value that is not allowed or can be part of
/// no case. `devices`: a request of `request_with`.
[[nodiscard]] Expansion expand(const RunOptions& options, const Scenario& scenario,
                               const Scenario::Request& devices);

}  // namespace parbench
