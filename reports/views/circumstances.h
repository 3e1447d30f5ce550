// Warns about circumstances of a measurement that affect its times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// The circumstances of each report, with the name of the report in warnings.
using NamedCircumstances = std::vector<std::pair<std::string, const NamedTexts*>>;

/// Returns a sentence per circumstance that distorts times, preceded by the names of the reports
/// that have the circumstance: "BASE and NEW (some runs): the library is a debug build …".
[[nodiscard]] std::vector<std::string> circumstance_warnings(const NamedCircumstances& reports);

/// Returns the differences between circumstances that both sides record, one item each:
/// "library_build_type: release before, debug now".
[[nodiscard]] std::vector<std::string> circumstance_differences(const NamedTexts& before,
                                                                const NamedTexts& now);

/// Returns the notes on the models of a run as sentences: "my.onnx: 2 convolutions and …".
[[nodiscard]] std::vector<std::string> notes_on_models(const Report& report);

/// Returns the notes on a report's file and the warnings about its circumstances as sentences.
[[nodiscard]] std::vector<std::string> notes_on_file(const Report& report);

/// Returns "numbers that are not finite were read as missing: line 12, 'nan' (and 2 more)."
[[nodiscard]] std::string to_text(const FileNote& note);

}  // namespace parbench::report
