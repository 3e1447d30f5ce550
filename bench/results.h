// From the specs and samples of a session to what its report says.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "reports/report.h"
#include "scenarios/scenario.h"

namespace parbench {

/// The case of the session that another's speedup is measured against, as the scenario has it.
[[nodiscard]] std::optional<std::size_t> baseline_of(const Scenario& scenario,
                                                     const std::vector<CaseSpec>& specs,
                                                     std::size_t index);

/// The cases of the session whose samples are paired with those of another: its baseline and those
/// that its metrics need.
[[nodiscard]] std::vector<std::size_t> compared_with(const Scenario& scenario,
                                                     const std::vector<CaseSpec>& specs,
                                                     std::size_t index);

/// The metrics of one of `cases`, which are in the order of the specs, from the rounds in which all
/// cases that they need were sampled; none of a metric whose cases were not all measured.
[[nodiscard]] std::vector<report::Metric> metrics_of(const Scenario& scenario,
                                                     const std::vector<CaseSpec>& specs,
                                                     const std::vector<report::Case>& cases,
                                                     std::size_t index);

/// What the scenario says to the measured ones of `cases`, which are in the order of the specs;
/// nothing when none was measured. An answer that throws takes no number with it.
[[nodiscard]] std::optional<report::Answer> answer_of(const Scenario& scenario,
                                                      const std::vector<CaseSpec>& specs,
                                                      const std::vector<report::Case>& cases);

}  // namespace parbench
