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

/// Returns whether the streams of a device that compute have more threads than it has cores. False
/// where no timeline shows it.
[[nodiscard]] bool has_more_threads_than_cores(const CaseResult& c, const std::string& device);

/// Returns the largest share of the time over the devices of a case in which their threads were
/// ready to run while other programs had the core. 0 where that is not known, and on devices whose
/// own threads are more than their cores.
[[nodiscard]] double cores_taken(const CaseResult& c);

}  // namespace parbench::report
