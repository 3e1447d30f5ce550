// What users choose of data-parallel training, and how a case's samples are divided.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::vector<Axis> axes_of_data_parallel();

/// Completes and checks a combination of values, as Scenario::resolve does.
[[nodiscard]] Resolution resolved_division(const Scenario::Request& request);

/// The same training step on one device, with the same `batch`.
[[nodiscard]] CaseSpec single_of(const CaseSpec& spec);
/// The same, with all the samples that the case has on all devices.
[[nodiscard]] CaseSpec whole_batch_of(const CaseSpec& spec);

/// Whether `batch` is the samples of each device, not of all of them.
[[nodiscard]] bool scales_weakly(const CaseSpec& spec);

/// The samples of all devices of a resolved case.
[[nodiscard]] std::int64_t total_samples(const Parameters& parameters);
/// The micro-batches of each device that has any.
[[nodiscard]] std::vector<std::vector<std::int64_t>> micro_batches_of(const Parameters& parameters);

/// Whether the case has one device that computes, though others stand by: then there is nothing to
/// combine, and all strategies are the same step.
[[nodiscard]] bool is_undivided(const CaseSpec& spec);

/// Whether parameters lie on a device behind those that compute.
[[nodiscard]] bool has_server_device(const Parameters& parameters);

}  // namespace parbench
