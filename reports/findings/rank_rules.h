// Rules about the ranks of a run that an MPI launcher started.
#pragma once

#include <optional>

#include "reports/findings/rules.h"

namespace parbench::report {

/// Applies if one rank waits less for messages than all others, in more samples than chance
/// explains and by at least 5% of the time: the other ranks wait for it.
[[nodiscard]] std::optional<Remark> slowest_rank(const CaseResult& one, const Roles& roles);

}  // namespace parbench::report
