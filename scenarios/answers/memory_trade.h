// Cost in time of a choice that saves memory.
#pragma once

#include <functional>
#include <string>

#include "scenarios/answers/recommend.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns time and memory per device of the fastest case with the usual value of an axis that
/// trades memory for time (the first value of the quick preset), and of the cases that differ from
/// that case only in this value: "Recompute none (pipeline with split 4): 59.61 ms, peak memory 41
/// + 133 MiB; block: 78.34 ms, 35 + 133 MiB." If the measured cases do different work, so that
/// their times cannot be compared, the text has ranges of ratios. Empty if no case was measured
/// with both the usual and another value.
[[nodiscard]] std::string memory_trade_text(
    const Scenario& scenario, const Axis& axis, const Outcomes& outcomes,
    const std::function<std::string(const CaseSpec&)>& label);

}  // namespace parbench
