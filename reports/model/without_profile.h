// Why a measured case has no profile.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/report.h"

namespace parbench::report {

/// The note of a case that has no profile although profiling was on; its text is the reason.
inline constexpr std::string_view no_timeline = "no timeline";

/// Returns that reason ("interrupted"), or without such a note that profiling was off.
[[nodiscard]] std::string reason_without_profile(const CaseResult& c);

}  // namespace parbench::report
