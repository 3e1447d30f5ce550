// Rules about what devices exchange where they divide the samples of a step.
#pragma once

#include <optional>

#include "reports/findings/rules.h"

namespace parbench::report {

/// Names the device that communicates longest without computing, what is moved, and at which share
/// of the known rate of its copies. Only where more computing is possible.
[[nodiscard]] std::optional<Remark> exposed_communication(const Profiled& one,
                                                          const ProfiledCases& all);

/// Exchanges are many, and starting them takes longer than what remains of them behind the backward
/// pass; or the other way round. Only where their size can be chosen.
[[nodiscard]] std::optional<Remark> buckets_too_small(const Profiled& one,
                                                      const ProfiledCases& all);
[[nodiscard]] std::optional<Remark> buckets_too_large(const Profiled& one,
                                                      const ProfiledCases& all);

/// The rate of computing that a case loses by dividing the samples of a step among devices.
struct LostByParts {
  LikeRates rates;
  double lost = 0;  // of the rate of a whole step on one device
};

/// Returns the loss where it is 10% or more, no copies explain it, and the samples allow it.
[[nodiscard]] std::optional<LostByParts> lost_by_parts(const Profiled& one,
                                                       const ProfiledCases& all);

/// Calls on parts of the samples compute less in the same time than those on all of them. Names the
/// call that loses most.
[[nodiscard]] std::optional<Remark> batch_too_small(const Profiled& one, const ProfiledCases& all);

}  // namespace parbench::report
