// Reports whose processes took what a test says.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench::compare {

/// A measured case of scenario "made", strategy "one", parameter `n`, with some samples around each
/// process's median.
[[nodiscard]] report::CaseResult made_case(int n, const std::vector<double>& process_medians);

/// Five processes around `seconds`, within a thousandth or so.
[[nodiscard]] std::vector<double> steady(double seconds);

/// Cases n:0, n:1, … on a machine with two cores.
[[nodiscard]] report::Report made_report(const std::vector<std::vector<double>>& process_medians);

}  // namespace parbench::compare
