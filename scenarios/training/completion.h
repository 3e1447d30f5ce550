// Positions in a pass after which its calls no longer access given regions.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/framework/plan.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// Returns whether two views have bytes in common.
[[nodiscard]] bool overlap(const BufferView& a, const BufferView& b);

/// A position in a pass: after the first `calls` calls of the part with index `part`.
struct PassPosition {
  std::size_t part = 0;
  std::size_t calls = 0;
  friend auto operator<=>(const PassPosition&, const PassPosition&) = default;
};

/// Returns, for each region, the position after which no call accesses this region or one before it
/// in the list. All calls must be operations.
[[nodiscard]] std::vector<PassPosition> completions(const std::vector<PassPart>& parts,
                                                    const std::vector<BufferView>& regions);

}  // namespace parbench
