// Notes of cases, by their names.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/report.h"

namespace parbench::report {

/// The note of a case that has no profile although profiling was on; its text is the reason.
inline constexpr std::string_view no_timeline = "no timeline";

/// Returns the text of a note; null where the case has none of that name.
[[nodiscard]] const std::string* find_note(const CaseResult& c, std::string_view name);

/// Returns why a measured case has no profile ("interrupted"): the note `no_timeline`, or without
/// it that profiling was off.
[[nodiscard]] std::string reason_without_profile(const CaseResult& c);

/// Returns where the stages of a case begin, "layer2.0+layer3.0" (`cut_note`); empty for a case
/// without several stages.
[[nodiscard]] std::string cut_of(const CaseResult& c);

}  // namespace parbench::report
