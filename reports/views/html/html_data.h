// What the page's script draws from: the numbers of a report that its pictures need, and no more.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/units/interval.h"
#include "reports/io/json.h"
#include "reports/views/html/html.h"

namespace parbench::report {

/// With as many digits as anybody can see, six; null where the number is not finite.
[[nodiscard]] Json short_number(double value);

/// [value, low, high]; without interval [value].
[[nodiscard]] Json value_with_interval(double value, const std::optional<Interval>& interval);

/// The ids of a report and of one of its scenarios on the page, by their places.
[[nodiscard]] std::string report_id(std::size_t report);
[[nodiscard]] std::string scenario_id(std::size_t report, std::size_t scenario);

/// A list of the scenarios of all reports, in the order of the page; reports/web/src/data.ts
/// describes it. Only measured cases are in it. Texts are those of the tables.
[[nodiscard]] Json page_data(const std::vector<NamedReport>& reports);
/// The same as text for a script element.
[[nodiscard]] std::string page_data_text(const std::vector<NamedReport>& reports);

}  // namespace parbench::report
