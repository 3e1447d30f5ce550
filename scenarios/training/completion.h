// Where a pass completes what it writes.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/framework/plan.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// Whether two views have bytes in common.
[[nodiscard]] bool overlap(const BufferView& a, const BufferView& b);

/// After how many calls nothing touches a region any more. All of them are operations.
[[nodiscard]] std::size_t calls_until_complete(const std::vector<Call>& calls,
                                               const BufferView& region);

/// A place in a pass: behind so many calls of a part.
struct PassPlace {
  std::size_t part = 0;
  std::size_t calls = 0;
  friend auto operator<=>(const PassPlace&, const PassPlace&) = default;
};

/// Behind which place nothing touches a region any more, nor any of those before it.
[[nodiscard]] std::vector<PassPlace> completions(const std::vector<PassPart>& parts,
                                                 const std::vector<BufferView>& regions);

}  // namespace parbench
