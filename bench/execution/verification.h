// Compares the outputs of a case with its reference. A case with wrong results is not timed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Contents of a case's outputs by name.
using OutputValues = std::map<std::string, std::vector<float>>;

/// Reads all outputs. Throws Error if two outputs have the same name, because one would not be
/// compared. `memory`: values that are no longer needed; their memory is reused.
[[nodiscard]] OutputValues read_outputs(Case& subject, OutputValues memory = {});

/// Returns outputs that refer to values read before. The values must outlive them.
[[nodiscard]] std::vector<Output> as_outputs(const OutputValues& values);

/// Effect of other roundings on the outputs of a case, by name.
using Sensitivities = std::map<std::string, Sensitivity>;

/// Reads the outputs after a run with changed parameters (Context::set_perturbation), and adds
/// their distances from the unchanged values.
void add_changes(Sensitivities& sensitivities, Case& changed, const OutputValues& values);

/// Compares outputs with the reference (`agreement`). Reads and holds one output at a time. Fails
/// for a missing, unexpected or duplicate output, a different size, a value that is not finite on
/// either side, an error above the tolerance, and a reference without outputs or with an empty one,
/// because it would verify nothing. The detail of a wrong value names output and index.
/// `largest_error`: the largest finite error relative to the tolerance.
[[nodiscard]] report::Verification compare(const std::vector<Output>& outputs,
                                           const OutputValues& want, const Tolerance& tolerance,
                                           const Sensitivities& sensitivities = {});

/// Adds the result of Case::check to a comparison that passed, and what the check examined to the
/// detail; returns a failed comparison unchanged. If there was no comparison (`against` is empty),
/// only the check verifies the case, and `against` names what it examines; a case without a check
/// fails.
[[nodiscard]] report::Verification with_check(Case& subject, report::Verification comparison);

/// Returns the error text of a case whose reference failed or was skipped for `reason`.
[[nodiscard]] std::string unverified_text(std::string_view reference, std::string_view reason);

}  // namespace parbench
