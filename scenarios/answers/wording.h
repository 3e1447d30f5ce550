// How answers write ratios, lists of cases, and at which settings something pays.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/units/recommendation.h"

namespace parbench {

/// "1.71× (1.69–1.73)"; without an interval no brackets, with one of few samples its confidence.
[[nodiscard]] std::string ratio_text(const report::Ratio& ratio);

/// "75% (73–77%)", as `ratio_text`.
[[nodiscard]] std::string percent_text(const report::Ratio& fraction);

/// "a, b and 2 more".
[[nodiscard]] std::string list_text(const std::vector<std::string>& items);

/// " It cannot be distinguished from split 3 and split 12." Empty for a single candidate.
[[nodiscard]] std::string rivals_text(const report::Recommendation& recommendation);

/// Of a recommendation that does not pay: "does not pay" where the whole interval of the gain is
/// below 1, "may pay" where it is above 1 although the baseline cannot be excluded, else "shows no
/// gain".
[[nodiscard]] std::string_view no_gain_text(const report::Recommendation& recommendation);

/// "pay at every setting", "pay at n 128 only", "pay at 3 of 7 settings", "show no gain at any
/// setting". `verb` is "pays" or "pay".
[[nodiscard]] std::string where_it_pays(std::span<const report::Recommendation> recommendations,
                                        std::string_view verb);

/// Says of a gain that is larger than the number of devices that another cause adds to it: the
/// whole sentence, with a blank before it; empty of any other gain.
[[nodiscard]] std::string superlinear_text(const report::Recommendation& recommendation,
                                           double devices, std::string_view likely_cause);

}  // namespace parbench
