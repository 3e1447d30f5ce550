// User choices for data-parallel training, and the division of a case's samples.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::vector<Axis> axes_of_data_parallel();

/// Completes and checks a combination of values, as Scenario::resolve does.
[[nodiscard]] std::optional<CaseSpec> resolved_division(const Scenario::Request& request);

/// Returns the same training step on one device, with the same `batch`.
[[nodiscard]] CaseSpec single_of(const CaseSpec& spec);
/// Returns the same training step on one device, with the samples of all devices.
[[nodiscard]] CaseSpec whole_batch_of(const CaseSpec& spec);

/// Returns whether `batch` counts the samples per device instead of those of all devices.
[[nodiscard]] bool scales_weakly(const CaseSpec& spec);

/// Returns the number of samples of all devices of a resolved case.
[[nodiscard]] std::int64_t total_samples(const Parameters& parameters);
/// Returns the micro-batches of each device that has any.
[[nodiscard]] std::vector<std::vector<std::int64_t>> micro_batches_of(const Parameters& parameters);

/// Returns whether only one device of the case computes. There is nothing to combine then, and all
/// strategies are the same step.
[[nodiscard]] bool is_undivided(const CaseSpec& spec);

/// Returns whether a device after those that compute stores the parameters.
[[nodiscard]] bool has_server_device(const Parameters& parameters);

}  // namespace parbench
