// User choices for variants of a training step: axes that scenarios with an update share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/framework/scenario.h"
#include "scenarios/models/network.h"
#include "scenarios/training/optimizer.h"

namespace parbench {

inline constexpr std::string_view default_schedule = "gpipe";

/// Return the axes "schedule" and "partition" for strategies with stages.
[[nodiscard]] Axis schedule_axis(std::vector<std::string> strategies);
[[nodiscard]] Axis partition_axis(std::vector<std::string> strategies);

/// Returns the sizes in "12+8+4" (AxisKind::sizes).
[[nodiscard]] std::vector<std::int64_t> sizes_in(const std::string& text);
/// Returns the samples of each micro-batch: equal sizes with a smaller last one, or the listed
/// sizes.
[[nodiscard]] std::vector<std::int64_t> micro_batches_of(std::int64_t batch, const Value& split);

/// Returns the axis "micro-batches", which sets the axis "split" by the number of micro-batches.
/// Cases only have the size as parameter, so that a case has one name, however it was requested.
[[nodiscard]] Axis micro_batches_axis(std::vector<std::string> strategies);
/// Returns the number of micro-batches that the user requested; nothing if it is derived from
/// "split". Throws UsageError if both are given.
[[nodiscard]] std::optional<std::int64_t> asked_micro_batches(const Scenario::Request& request);
/// Returns the value of "split" that divides samples into `count` micro-batches, of at least one
/// sample each: a size, possibly with a smaller last micro-batch, or a list of sizes that differ by
/// at most one.
[[nodiscard]] Value split_into(std::int64_t samples, std::int64_t count);

/// Return the axes "optimizer", "clip" and "recompute".
[[nodiscard]] Axis optimizer_axis();
[[nodiscard]] Axis clip_axis();
[[nodiscard]] Axis recompute_axis();

// Add the requested value, or the default, which names omit.
void add_optimizer_choice(const Parameters& asked, Parameters& parameters);
void add_clip_choice(const Parameters& asked, Parameters& parameters);
void add_recompute_choice(const Parameters& asked, Parameters& parameters);

/// Adds the requested partition into several stages, or the default. Throws UsageError if the
/// network does not have it.
void add_partition_choice(const Parameters& asked, const Network& network, int stages,
                          Parameters& parameters);

/// Returns whether a resolved case keeps only tensors that cross units (StageRange::recompute).
[[nodiscard]] bool recomputes(const Parameters& parameters);

/// Returns Scenario::model_notes of cases that train models: names of files with such convolutions.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> notes_on_trained_models(
    const std::vector<CaseSpec>& specs);

/// Returns the metric of scaling: the speed divided by that of one device times the number of
/// devices; 1 is linear.
[[nodiscard]] Metric scaling_efficiency(const CaseSpec& baseline, std::int64_t devices);

/// Returns why a strategy that divides a step over devices has no case: it needs several devices of
/// one kind.
[[nodiscard]] std::string needs_alike_devices(const Scenario::Request& request);

/// Returns the optimizer of a resolved case.
[[nodiscard]] Optimizer optimizer_of(const Parameters& parameters);

}  // namespace parbench
