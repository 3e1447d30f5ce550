// Axes that scenarios about training share, and settings of steps that follow from their values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/framework/requests.h"
#include "scenarios/framework/scenario.h"
#include "scenarios/models/network.h"
#include "scenarios/training/optimizer.h"

namespace parbench {

inline constexpr const char* default_schedule = "gpipe";

/// Returns one of the axes that questions about training share, by name: the model and its sizes,
/// the batch, its division into micro-batches, "schedule" and "partition" of stages, and variants
/// of the step ("optimizer", "clip", "recompute"). `strategies`: strategies that have the axis;
/// empty: all. `quick`, `published`: values of the presets; empty: the axis's default ones.
[[nodiscard]] Axis step_axis(std::string_view name, std::vector<std::string> strategies = {},
                             std::vector<Value> quick = {}, std::vector<Value> published = {});

/// Values of "scaling": "batch" is the number of samples of all devices together (strong), or of
/// each device (weak).
inline constexpr const char* strong_scaling = "strong";
inline constexpr const char* weak_scaling = "weak";
[[nodiscard]] bool scales_weakly(const Parameters& parameters);

/// Returns the number of samples of a resolved case on all devices together.
[[nodiscard]] std::int64_t total_samples(const Parameters& parameters);

/// Parses sizes joined by '+', such as "12+8+4" (AxisKind::sizes).
[[nodiscard]] std::vector<std::int64_t> sizes_in(const std::string& text);
/// Returns the number of samples of each micro-batch of a resolved case, by replica. "split" is the
/// size of micro-batches, of which the last may be smaller, or the list of their sizes;
/// "accumulate" is their maximum number. Replicas without samples are omitted.
[[nodiscard]] std::vector<std::vector<std::int64_t>> micro_batches_of_replicas(
    const Parameters& parameters, int replicas);

/// Adds "split". If the user has requested a number of micro-batches, the value is a size or list
/// of sizes that divides `samples` into this number; otherwise it is `split`, if any. Returns an
/// obstacle if there are fewer `samples` than requested micro-batches; `text` describes the
/// samples. Throws UsageError if the user gives both number and size.
[[nodiscard]] std::optional<Obstacle> add_split(const Scenario::Request& request,
                                                std::int64_t samples, const std::string& text,
                                                const std::optional<Value>& split,
                                                Parameters& parameters);

/// Adds "optimizer", "recompute" and "clip", as far as `axes` contains them: the requested values,
/// or the defaults, which are not part of the name of a case.
void add_step_choices(const std::vector<Axis>& axes, const Parameters& asked,
                      Parameters& parameters);

/// Adds "partition": the requested partition into `stages` stages, or the default. Throws
/// UsageError if the requested partition does not exist for this network and number of stages.
void add_partition_choice(const Parameters& asked, const Network& network, int stages,
                          Parameters& parameters);

/// Returns whether a resolved case keeps only tensors that cross units (StageRange::recompute).
[[nodiscard]] bool recomputes(const Parameters& parameters);

/// Returns an obstacle unless the request has several devices, all of one kind.
[[nodiscard]] std::optional<Obstacle> obstacle_of_devices(const Scenario::Request& request);
/// Returns an obstacle if a batch, divided as by `divided_batch`, has no samples for some replicas.
[[nodiscard]] std::optional<Obstacle> obstacle_of_replicas(std::int64_t batch, int replicas);

[[nodiscard]] Optimizer optimizer_of(const Parameters& parameters);

}  // namespace parbench
