// Compares the outputs of a case with its reference: a wrong result gets no number.
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

/// Reads all outputs. Throws Error for two outputs of one name, since one of them would not be
/// compared. `memory`: values
/// that are no longer needed, whose memory is reused.
[[nodiscard]] OutputValues read_outputs(Case& subject, OutputValues memory = {});

/// Returns outputs over values that have been read already, which must outlive them.
[[nodiscard]] std::vector<Output> as_outputs(const OutputValues& values);

/// How much other roundings change the outputs of a case, by name.
using Sensitivities = std::map<std::string, Sensitivity>;

/// Reads the outputs of a case after a run from changed parameters (Context::set_perturbation), and
/// adds how far they are from the unchanged values.
void add_changes(Sensitivities& sensitivities, Case& changed, const OutputValues& values);

/// Reads outputs one after the other, so that only one is held at a time, and compares them
/// (`agreement`). Fails for an output that is missing, unexpected or there twice, a size that
/// differs, a value that is not finite on either side, an error above the tolerance, and a
/// reference without outputs or with one that has no values, which would verify nothing; the detail
/// names output and index. `largest_error` is the largest finite error over what the tolerance
/// allows for it.
[[nodiscard]] report::Verification compare(const std::vector<Output>& outputs,
                                           const OutputValues& want, const Tolerance& tolerance,
                                           const Sensitivities& sensitivities = {});

/// Adds the verdict of Case::check to a comparison, and what it examined to the detail. Without a
/// comparison (`against` is empty) the case is verified by its own check alone, and `against` says
/// what that examines; a case that has no check either fails.
[[nodiscard]] report::Verification with_check(Case& subject, report::Verification comparison);

/// Returns the reason why a case without a reference's outputs has no number.
[[nodiscard]] std::string unverified_text(std::string_view reference, std::string_view reason);

}  // namespace parbench
