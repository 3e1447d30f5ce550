// User choices for variants of a training step: axes that scenarios with an update share.
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
/// of the step ("optimizer", "clip", "recompute"). `strategies`: to which it applies, all if empty.
/// `quick`, `published`: values of the presets, its own if empty.
[[nodiscard]] Axis step_axis(std::string_view name, std::vector<std::string> strategies = {},
                             std::vector<Value> quick = {}, std::vector<Value> published = {});

/// The values of "scaling": "batch" counts the samples of all devices, or of each.
inline constexpr const char* strong_scaling = "strong";
inline constexpr const char* weak_scaling = "weak";
[[nodiscard]] bool scales_weakly(const Parameters& parameters);

/// The samples of all devices of a resolved case.
[[nodiscard]] std::int64_t total_samples(const Parameters& parameters);

/// The sizes in "12+8+4", as the kind of axis has them.
[[nodiscard]] std::vector<std::int64_t> sizes_in(const std::string& text);
/// The samples of each micro-batch of a resolved case, by replica: "split" is their size with a
/// smaller last one, or the sizes as listed, and "accumulate" their number. There are fewer
/// replicas where the batch leaves nothing for the last ones.
[[nodiscard]] std::vector<std::vector<std::int64_t>> micro_batches_of_replicas(
    const Parameters& parameters, int replicas);

/// Adds "split", the size of the micro-batches of `samples`, or a list of sizes that differ by one:
/// as the number of micro-batches that the user requested requires, otherwise `split`, if there is
/// one. Returns why samples do not make that number. `text`: the samples in words. Throws
/// UsageError if the user gives both the number and the size.
[[nodiscard]] std::optional<Obstacle> add_split(const Scenario::Request& request,
                                                std::int64_t samples, const std::string& text,
                                                const std::optional<Value>& split,
                                                Parameters& parameters);

/// Adds what was asked for of the variants of a step, or the default, which names leave out, as far
/// as the scenario has these axes.
void add_step_choices(const std::vector<Axis>& axes, const Parameters& asked,
                      Parameters& parameters);

/// Adds the requested partition into several stages, or the default. Throws UsageError if the
/// network does not have it.
void add_partition_choice(const Parameters& asked, const Network& network, int stages,
                          Parameters& parameters);

/// Returns whether a resolved case keeps only tensors that cross units (StageRange::recompute).
[[nodiscard]] bool recomputes(const Parameters& parameters);

/// Why a strategy that divides a step over devices has no case: it needs several, and of one kind.
[[nodiscard]] std::optional<Obstacle> obstacle_of_devices(const Scenario::Request& request);
/// Why a batch has no part for every replica.
[[nodiscard]] std::optional<Obstacle> obstacle_of_replicas(std::int64_t batch, int replicas);

/// Returns the optimizer of a resolved case.
[[nodiscard]] Optimizer optimizer_of(const Parameters& parameters);

}  // namespace parbench
