// How answers name one device of some cores, and what they say of one device with the cores of all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenarios/answers/recommend.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// "one core" where the cases of the strategy compute on one core, else "one device".
[[nodiscard]] std::string one_device_text(const std::vector<CaseOutcome>& outcomes,
                                          std::string_view strategy);

/// "one device with all 4 cores", "the whole GPU": the device of strategy all-cores.
[[nodiscard]] std::string whole_device_text(const std::vector<CaseOutcome>& outcomes);

/// Says how fast one device with the cores of all is, or where that is recommended the fastest case
/// that divides the work: " One device with both cores: 1.10× (1.05–1.15).", " The fastest
/// that divides the work: split 5, 1.29× (1.19–1.37).". Empty without one of them, and where the
/// two are tied.
[[nodiscard]] std::string whole_device_comparison(
    const std::vector<const CaseOutcome*>& group, const Recommendation& found,
    const std::vector<CaseOutcome>& outcomes,
    const std::function<std::string(const CaseSpec&)>& label);

}  // namespace parbench
