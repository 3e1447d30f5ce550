// Notes of cases by name.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/report.h"

namespace parbench::report {

/// Name of the note with the reason why a case has no profile although profiling was on.
inline constexpr std::string_view no_timeline = "no timeline";

/// Returns the text of a note; null if the case has no such note.
[[nodiscard]] const std::string* find_note(const CaseResult& c, std::string_view name);

/// Returns why a measured case has no profile ("interrupted"): the text of the note `no_timeline`,
/// or "it was not profiled" without the note.
[[nodiscard]] std::string reason_without_profile(const CaseResult& c);

/// Returns the layers at which the stages after the first one begin, "layer2.0+layer3.0"
/// (`cut_note`); empty for a case without that note.
[[nodiscard]] std::string cut_of(const CaseResult& c);

}  // namespace parbench::report
