// Names of single devices in answers, and the comparison with one device that has all cores.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "scenarios/answers/recommend.h"

namespace parbench {

/// Returns "one core" if the first case of the strategy computes on one core, otherwise "one
/// device".
[[nodiscard]] std::string one_device_text(const Outcomes& outcomes, std::string_view strategy);

/// Returns the name of the device of strategy all-cores: "one device with all 4 cores", "the whole
/// GPU".
[[nodiscard]] std::string whole_device_text(const Outcomes& outcomes);

/// Returns a sentence that compares strategy all-cores with the other cases of a group. If another
/// case is recommended: " One device with both cores: 1.10× (1.05–1.15)."; empty if all-cores was
/// not measured, is tied with the fastest, or its gain is stated already. If all-cores is
/// recommended: " The fastest that divides the work: split 5, 1.29× (1.19–1.37)."; empty if no case
/// divides the work or the fastest such case is tied with all-cores.
[[nodiscard]] std::string whole_device_comparison(
    const Outcomes& group, const Recommendation& found,
    const std::function<std::string(const CaseSpec&)>& label);

}  // namespace parbench
