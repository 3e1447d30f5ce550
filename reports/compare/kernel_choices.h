// Differences in how the kernels of two reports were chosen (--autotune).
#pragma once

#include <string>
#include <vector>

#include "reports/compare/match.h"

namespace parbench::compare {

/// Returns a sentence if kernels of comparable cases were chosen by measuring on one side only, or
/// by measuring on both sides with different results; empty otherwise. Kernels that libraries
/// choose by themselves are not compared: their differences come from the versions of the
/// libraries.
[[nodiscard]] std::vector<std::string> cautions_on_kernel_choices(
    const std::vector<Match>& matches);

}  // namespace parbench::compare
