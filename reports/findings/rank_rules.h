// Rules about the ranks of a run over several processes.
#pragma once

#include <optional>

#include "reports/findings/rules.h"

namespace parbench::report {

/// One rank waits for messages less than all others, in more samples than by chance: they wait for
/// it.
[[nodiscard]] std::optional<Remark> slowest_rank(const CaseResult& one, const Roles& roles);

}  // namespace parbench::report
