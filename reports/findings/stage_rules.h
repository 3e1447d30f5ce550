// Rules about models that are divided among devices: their partition, micro-batches and memory.
#pragma once

#include <optional>

#include "reports/findings/rules.h"

namespace parbench::report {

/// The model has a single partition. Data parallelism helps where the cut is what costs: not where
/// the host is.
[[nodiscard]] std::optional<Remark> only_cut(const CaseResult& one, const Roles& roles);

/// A device computes longer than the mean.
[[nodiscard]] std::optional<Remark> unbalanced(const Profiled& one, const ProfiledCases& all);

/// Small micro-batches cost more than waiting does: the two ask for opposite changes.
[[nodiscard]] std::optional<Remark> micro_batches_too_small(const Profiled& one,
                                                            const ProfiledCases& all);
/// Waiting costs more than small micro-batches do.
[[nodiscard]] std::optional<Remark> micro_batches_too_few(const Profiled& one,
                                                          const ProfiledCases& all);

/// A device holds at least twice as much as another one. One on which a case computes nothing may
/// hold as little as it likes; without a profile all that hold anything count. A schedule that
/// keeps at most one micro-batch a stage gains nothing where there are no more.
[[nodiscard]] std::optional<Remark> uneven_memory(const CaseResult& one, const Roles& roles);

}  // namespace parbench::report
