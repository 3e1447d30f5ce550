// Reports whose launches took what a test says.
#pragma once

#include <string>
#include <vector>

#include "reports/report.h"

namespace parbench::compare {

/// A measured case of scenario "made", strategy "one", parameter `n`, with some samples around each
/// launch's median.
[[nodiscard]] report::Case made_case(int n, const std::vector<double>& launch_medians);

/// Five launches around `seconds`, within a thousandth or so.
[[nodiscard]] std::vector<double> steady(double seconds);

/// Cases n:0, n:1, … on a machine with two cores.
[[nodiscard]] report::Report made_report(const std::vector<std::vector<double>>& launch_medians);

}  // namespace parbench::compare
