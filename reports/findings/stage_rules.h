// Rules about models that are divided among devices: their partition, micro-batches and memory.
#pragma once

#include <optional>

#include "reports/findings/rules.h"

namespace parbench::report {

/// The model has a single partition. Advises data parallelism if the partition costs time and the
/// host does not.
[[nodiscard]] std::optional<Remark> only_cut(const CaseResult& one, const Roles& roles);

/// A device computes longer than the mean.
[[nodiscard]] std::optional<Remark> unbalanced(const Profiled& one, const ProfiledCases& all);

/// Small micro-batches cost more than waiting: the two ask for opposite changes.
[[nodiscard]] std::optional<Remark> micro_batches_too_small(const Profiled& one,
                                                            const ProfiledCases& all);
/// Waiting costs more than small micro-batches.
[[nodiscard]] std::optional<Remark> micro_batches_too_few(const Profiled& one,
                                                          const ProfiledCases& all);

/// A device holds at least twice the memory of another one. Devices without memory of the case do
/// not count, nor do cases whose profile shows one computing device. Advises the role's schedule
/// only if there are more micro-batches than devices, because it saves nothing otherwise.
[[nodiscard]] std::optional<Remark> uneven_memory(const CaseResult& one, const Roles& roles);

}  // namespace parbench::report
