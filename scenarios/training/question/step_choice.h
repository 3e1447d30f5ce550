// User choices for variants of a training step: axes that scenarios with an update share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/framework/requests.h"
#include "scenarios/framework/scenario.h"
#include "scenarios/models/network.h"
#include "scenarios/training/optimizer.h"

namespace parbench {

inline constexpr std::string_view default_schedule = "gpipe";

/// Return the axes "schedule" and "partition" for strategies with stages.
[[nodiscard]] Axis schedule_axis(std::vector<std::string> strategies);
[[nodiscard]] Axis partition_axis(std::vector<std::string> strategies);

/// Values of "scaling": "batch" is the number of samples of all devices together (strong), or of
/// each device (weak).
inline constexpr std::string_view strong_scaling = "strong";
inline constexpr std::string_view weak_scaling = "weak";
[[nodiscard]] bool scales_weakly(const Parameters& parameters);

/// Returns the number of samples of a resolved case on all devices together.
[[nodiscard]] std::int64_t total_samples(const Parameters& parameters);

/// Returns the sizes in "12+8+4" (AxisKind::sizes).
[[nodiscard]] std::vector<std::int64_t> sizes_in(const std::string& text);
/// Returns the number of samples of each micro-batch of a resolved case, by replica. "split" is the
/// size of micro-batches, of which the last may be smaller, or the list of their sizes;
/// "accumulate" is their number. There are fewer replicas if the batch has no samples for the last
/// ones.
[[nodiscard]] std::vector<std::vector<std::int64_t>> micro_batches_of_replicas(
    const Parameters& parameters, int replicas);

/// Returns the axis "micro-batches", which sets the axis "split" by the number of micro-batches.
/// Cases only have the size as parameter, so that a case has one name, however it was requested.
[[nodiscard]] Axis micro_batches_axis(std::vector<std::string> strategies);
/// Returns the number of micro-batches that the user requested; nothing if it is derived from
/// "split". Throws UsageError if both are given.
[[nodiscard]] std::optional<std::int64_t> asked_micro_batches(const Scenario::Request& request);
/// Returns why samples cannot be divided into the number of micro-batches that the user requested.
/// `text`: describes the samples.
[[nodiscard]] std::optional<Obstacle> obstacle_of_micro_batches(std::optional<std::int64_t> asked,
                                                                std::int64_t samples,
                                                                const std::string& text);
/// Returns the value of "split" that divides samples into `count` micro-batches, of at least one
/// sample each: a size, possibly with a smaller last micro-batch, or a list of sizes that differ by
/// at most one.
[[nodiscard]] Value split_into(std::int64_t samples, std::int64_t count);

/// Return the axes "optimizer", "clip" and "recompute".
[[nodiscard]] Axis optimizer_axis();
[[nodiscard]] Axis clip_axis();
[[nodiscard]] Axis recompute_axis();

/// Adds the requested values of those of these axes that the scenario has, or the defaults, which
/// names omit.
void add_step_choices(const std::vector<Axis>& axes, const Parameters& asked,
                      Parameters& parameters);

/// Adds the requested partition into several stages, or the default. Throws UsageError if the
/// network does not have it.
void add_partition_choice(const Parameters& asked, const Network& network, int stages,
                          Parameters& parameters);

/// Returns whether a resolved case keeps only tensors that cross units (StageRange::recompute).
[[nodiscard]] bool recomputes(const Parameters& parameters);

/// Returns Scenario::model_notes of cases that train models: names of files with
/// convolutions_without_normalisation.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> notes_on_trained_models(
    const std::vector<CaseSpec>& specs);

/// Returns the metric of scaling efficiency: the speed divided by the speed of one device times the
/// number of devices; 1 is linear.
[[nodiscard]] Metric scaling_efficiency(const CaseSpec& baseline, std::int64_t devices);

/// Returns why a strategy cannot divide a step over the devices of the request: it needs several
/// devices of one kind.
[[nodiscard]] std::optional<Obstacle> obstacle_of_devices(const Scenario::Request& request);
/// Returns why a batch cannot be divided over replicas: each needs at least one sample.
[[nodiscard]] std::optional<Obstacle> obstacle_of_replicas(std::int64_t batch, int replicas);

/// Returns the optimizer of a resolved case.
[[nodiscard]] Optimizer optimizer_of(const Parameters& parameters);

}  // namespace parbench
