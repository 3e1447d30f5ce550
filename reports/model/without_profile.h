// Why a measured case has no profile.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/report.h"

namespace parbench::report {

/// The note of a case that was to be looked at and was not; its text is the reason.
inline constexpr std::string_view no_timeline = "no timeline";

/// "interrupted"; where no note tells, that it was not looked at.
[[nodiscard]] std::string reason_without_profile(const CaseResult& c);

}  // namespace parbench::report
