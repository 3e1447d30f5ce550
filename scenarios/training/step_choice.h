// How users choose the variants of a training step: axes that scenarios with an update share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"
#include "scenarios/models/network.h"
#include "scenarios/training/optimizer.h"

namespace parbench {

inline constexpr std::string_view default_schedule = "gpipe";

/// The axes "schedule" and "partition" of strategies with stages.
[[nodiscard]] Axis schedule_axis(std::vector<std::string> strategies);
[[nodiscard]] Axis partition_axis(std::vector<std::string> strategies);

/// The sizes in "12+8+4", as the kind of axis has them.
[[nodiscard]] std::vector<std::int64_t> sizes_in(const std::string& text);
/// The samples of each micro-batch: equal ones with a smaller last one, or the sizes as listed.
[[nodiscard]] std::vector<std::int64_t> micro_batches_of(std::int64_t batch, const Value& split);

/// The axes "optimizer", "clip" and "recompute".
[[nodiscard]] Axis optimizer_axis();
[[nodiscard]] Axis clip_axis();
[[nodiscard]] Axis recompute_axis();

// Add what was asked for, or the default, which names leave out.
void add_optimizer_choice(const Parameters& asked, Parameters& parameters);
void add_clip_choice(const Parameters& asked, Parameters& parameters);
void add_recompute_choice(const Parameters& asked, Parameters& parameters);

/// Adds the partition into several stages that was asked for, or the default. Throws UsageError for
/// one that the network does not have.
void add_partition_choice(const Parameters& asked, const Network& network, int stages,
                          Parameters& parameters);

/// Whether a resolved case keeps only what crosses units (StageRange::recompute).
[[nodiscard]] bool recomputes(const Parameters& parameters);

/// A device's share of the speed of as many devices as there are: 1 is linear scaling.
[[nodiscard]] Metric scaling_efficiency(const CaseSpec& baseline, std::int64_t devices);

/// Why a strategy that divides a step over devices has no case: it needs several, and of one kind.
[[nodiscard]] std::string needs_alike_devices(const Scenario::Request& request);

/// The optimizer of a resolved case.
[[nodiscard]] Optimizer optimizer_of(const Parameters& parameters);

}  // namespace parbench
