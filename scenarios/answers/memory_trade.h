// What a choice that saves memory costs in time.
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
  std::string_view usual;              // the value that the others are compared with: "none"
  std::vector<std::string_view> work;  // parameters of what is computed: "model", "batch"
};

/// Returns the time and the memory of each device with every value of the choice, of the fastest
/// case that was measured with more than one: "Recompute none with split 4: 59.61 ms, peak memory
/// 41 + 133 MiB; block: 78.34 ms, 35 + 133 MiB." `place` returns "with split 4" of a case. Of
/// several works, which have no common time, it has the ranges of the ratios. Empty where no case
/// was measured with the usual value and another one.
[[nodiscard]] std::string memory_trade_text(
    const std::vector<CaseOutcome>& outcomes, const MemoryChoice& choice,
    const std::function<std::string(const CaseSpec&)>& place);

}  // namespace parbench
