// Rules about communication between devices that divide the samples of a step.
#pragma once

#include <optional>

#include "reports/findings/rules.h"

namespace parbench::report {

/// Names the device with the longest communication that no computation hides, what is transferred,
/// and the share of the known rate of its copies. Applies only if more overlap is possible.
[[nodiscard]] std::optional<Remark> exposed_communication(const Profiled& one,
                                                          const ProfiledCases& all);

/// Apply if the size of exchanges can be chosen. `buckets_too_small`: there are many exchanges, and
/// starting them takes longer than the part that remains after the backward pass. The other rule:
/// the opposite.
[[nodiscard]] std::optional<Remark> buckets_too_small(const Profiled& one,
                                                      const ProfiledCases& all);
[[nodiscard]] std::optional<Remark> buckets_too_large(const Profiled& one,
                                                      const ProfiledCases& all);

/// The loss of computing rate from dividing the samples of a step among devices.
struct LostByParts {
  LikeRates rates;
  double lost = 0;  // share of the rate that a whole step has on one device
};

/// Returns the loss if it is at least 10%, no copies explain it, and the samples allow it.
[[nodiscard]] std::optional<LostByParts> lost_by_parts(const Profiled& one,
                                                       const ProfiledCases& all);

/// Calls on parts of the samples compute at a lower rate than calls on all of them. Names the call
/// that loses most.
[[nodiscard]] std::optional<Remark> batch_too_small(const Profiled& one, const ProfiledCases& all);

}  // namespace parbench::report
