// Checks that stages have equal parameters.
#pragma once

#include <optional>
#include <string>

#include "scenarios/framework/case_data.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// Returns the first difference between two stages with the same layers: of a parameter, bit for
/// bit, or of its gradient if gradients are compared. Nothing if they are equal.
[[nodiscard]] std::optional<std::string> unequal_parameters(CaseData& data, const Stage& first,
                                                            const Stage& other,
                                                            bool with_gradients);

}  // namespace parbench
