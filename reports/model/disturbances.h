// What disturbed the measurement of a case: throttled devices, and cores that other programs had.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Returns whether so many samples of the case are marked that its numbers need a warning.
[[nodiscard]] bool is_throttled(const CaseResult& c);

/// Adds the reasons that throttled the case ("power cap on cuda:0") to a list, each once;
/// nothing for a case that needs no warning.
void add_throttles(std::vector<std::string>& known, const CaseResult& c);

/// Other programs disturb a case whose cores they had for so much of the time.
constexpr double min_cores_taken = 0.10;

/// Returns the largest share over the devices of a case of the time for which other programs had
/// the cores that its threads wanted: what these were denied, as far as other programs used cores,
/// for threads also wait for each other. 0 where that is not known.
[[nodiscard]] double cores_taken(const CaseResult& c);

/// Returns whether other programs had the cores of a case so often that its times need a warning.
[[nodiscard]] inline bool is_disturbed(const CaseResult& c) {
  return cores_taken(c) >= min_cores_taken;
}

}  // namespace parbench::report
