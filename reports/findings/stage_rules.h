// Rules about models that are divided among devices: their partition, micro-batches and memory.
#pragma once

#include <optional>

#include "reports/findings/rules.h"

namespace parbench::report {

/// Applies if the model can be divided into its stages in only one way. Advises data parallelism if
/// imbalance costs at least 10% of the time and the case is not launch-bound.
[[nodiscard]] std::optional<Remark> only_cut(const CaseResult& one, const Roles& roles);

/// Applies if a device computes at least 10% longer than the mean (`busiest_device`).
[[nodiscard]] std::optional<Remark> unbalanced(const Profiled& one, const ProfiledCases& all);

/// Applies if small micro-batches lose at least 10% of the computing rate, and cost at least as
/// much time as bubbles. The remedy is the opposite of `micro_batches_too_few`.
[[nodiscard]] std::optional<Remark> micro_batches_too_small(const Profiled& one,
                                                            const ProfiledCases& all);
/// Applies if idle devices (bubbles and imbalance) cost at least 10% of the time, and more than
/// small micro-batches.
[[nodiscard]] std::optional<Remark> micro_batches_too_few(const Profiled& one,
                                                          const ProfiledCases& all);

/// Applies if a device holds at least twice as many bytes as another one that holds any, and at
/// least 1% of the memory that it has. Does not apply to cases whose profile shows fewer than two
/// computing devices. Suggests the advised schedule only if there are more micro-batches than
/// devices, because that schedule saves no memory otherwise.
[[nodiscard]] std::optional<Remark> uneven_memory(const CaseResult& one, const Roles& roles);

}  // namespace parbench::report
