// Cost in time of a choice that saves memory.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// A parameter that trades memory for time.
struct MemoryChoice {
  std::string_view name;               // "recompute"
  std::string_view usual;              // the value to compare others with: "none"
  std::vector<std::string_view> work;  // parameters that determine the work: "model", "batch"
};

/// Returns time and memory per device for every value of the choice, for the fastest case that was
/// measured with several values: "Recompute none with split 4: 59.61 ms, peak memory 41 + 133 MiB;
/// block: 78.34 ms, 35 + 133 MiB." `place` returns "with split 4" for a case. If the cases do
/// different work, whose times cannot be compared, the text has ranges of ratios. Empty if no case
/// was measured with both the usual and another value.
[[nodiscard]] std::string memory_trade_text(
    const std::vector<CaseOutcome>& outcomes, const MemoryChoice& choice,
    const std::function<std::string(const CaseSpec&)>& place);

}  // namespace parbench
