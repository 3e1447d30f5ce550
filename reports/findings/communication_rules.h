// Rules about communication between devices that divide the samples of a step.
#pragma once

#include <optional>

#include "reports/findings/rules.h"

namespace parbench::report {

/// Names the device with the longest communication that no computation hides, and gives the rate of
/// all communication. Applies from 5% of the time, if the size of the batch is a parameter and
/// `buckets_too_large` does not explain the same loss.
[[nodiscard]] std::optional<Remark> exposed_communication(const Profiled& one,
                                                          const ProfiledCases& all);

/// Each applies if the size of exchanges is a parameter, and its cost is the larger of the two and
/// takes at least 5% of the time. Cost of `buckets_too_small`: messages that are ready wait to
/// start. Cost of `buckets_too_large`: exchanges continue after the backward passes.
[[nodiscard]] std::optional<Remark> buckets_too_small(const Profiled& one,
                                                      const ProfiledCases& all);
[[nodiscard]] std::optional<Remark> buckets_too_large(const Profiled& one,
                                                      const ProfiledCases& all);

/// The loss of computing rate from dividing the samples of a step among devices.
struct LostByParts {
  LikeRates rates;
  double lost = 0;  // lost rate, as a share of the rate of a whole step on one device
};

/// Returns the loss if it is at least 10%, copies on the same cores do not explain it, and the
/// speedup of the samples does not contradict it. Requires several devices, a profiled baseline on
/// one device, and the batch as a parameter.
[[nodiscard]] std::optional<LostByParts> lost_by_parts(const Profiled& one,
                                                       const ProfiledCases& all);

/// Applies if calls on parts of the samples compute at a lower rate than calls on all of them
/// (`lost_by_parts`). Names the call that loses most.
[[nodiscard]] std::optional<Remark> batch_too_small(const Profiled& one, const ProfiledCases& all);

}  // namespace parbench::report
