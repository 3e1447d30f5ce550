// Expands the command line to cases: all combinations of the axes' values.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cli/run_options.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// A strategy, combination or scenario that a run leaves out.
struct LeftOut {
  std::string what;    // "pipeline", "pipeline with batch 1 and split 2"
  std::string reason;  // as an error message would state it
  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

struct Expansion {
  std::vector<CaseSpec> cases;
  /// Chosen strategies without any case, or without a case for some values that the user gave or
  /// that follow from the number of devices: other flags, the number format or the devices rule
  /// them out. Omits all-cores unless strategies were chosen. Empty for the cases of a report.
  std::vector<LeftOut> left_out;
};

/// Returns a request that describes the devices of a run, without a case.
[[nodiscard]] Scenario::Request request_with(const std::vector<std::unique_ptr<Device>>& devices);

/// Returns the cases of one scenario, without duplicates: strategies in their order, the last axis
/// varying fastest. Values from the user are combined with those of the preset. A combination that
/// the scenario refuses is dropped if each of the user's values in it is part of another case of
/// the strategy. Names show every axis with several values. Empty if all chosen strategies belong
/// to other scenarios. Throws UsageError for a value that is not allowed or part of no case.
/// `devices`: from `request_with`.
[[nodiscard]] Expansion expand(const RunOptions& options, const Scenario& scenario,
                               const Scenario::Request& devices);

}  // namespace parbench
