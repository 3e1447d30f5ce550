// Whether stages that must hold the same parameters do.
#pragma once

#include <optional>
#include <string>

#include "scenarios/framework/case_data.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// The first difference between two stages with the same layers: of a parameter, bit for bit, and
/// where gradients are compared too, of its gradient. Nothing where there is none.
[[nodiscard]] std::optional<std::string> unequal_parameters(CaseData& data, const Stage& first,
                                                            const Stage& other,
                                                            bool with_gradients);

}  // namespace parbench
