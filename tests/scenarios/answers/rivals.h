// Stands in for the test of samples in tests of answers, which have none.
#pragma once

#include <algorithm>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench::test {

/// Cases that take at most `share` longer than the fastest cannot be distinguished from it.
inline PossiblyFastest within(double share) {
  return [share](const std::vector<const CaseOutcome*>& some) {
    double min = some.front()->median_seconds;
    for (const CaseOutcome* one : some) min = std::min(min, one->median_seconds);
    std::vector<const CaseOutcome*> fastest;
    std::ranges::copy_if(some, std::back_inserter(fastest), [&](const CaseOutcome* one) {
      return one->median_seconds <= min * (1 + share);
    });
    return fastest;
  };
}

}  // namespace parbench::test
