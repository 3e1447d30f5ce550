// Names of a single device in answers, and its comparison with one device that has all cores.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "scenarios/answers/recommend.h"

namespace parbench {

/// Returns "one core" if the strategy's cases compute on one core, otherwise "one device".
[[nodiscard]] std::string one_device_text(const Outcomes& outcomes, std::string_view strategy);

/// Returns the name of the device of strategy all-cores: "one device with all 4 cores", "the whole
/// GPU".
[[nodiscard]] std::string whole_device_text(const Outcomes& outcomes);

/// Returns the speedup of strategy all-cores if another case is recommended: " One device with both
/// cores: 1.10× (1.05–1.15).". If all-cores is recommended, returns the fastest case that divides
/// the work: " The fastest that divides the work: split 5, 1.29× (1.19–1.37).". Empty if there is
/// no such case, if it is tied with the fastest, or if it is the case whose gain the recommendation
/// names.
[[nodiscard]] std::string whole_device_comparison(
    const Outcomes& group, const Recommendation& found,
    const std::function<std::string(const CaseSpec&)>& label);

}  // namespace parbench
