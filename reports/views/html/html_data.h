// The data of a page's script: the numbers of a report that its pictures need.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/units/interval.h"
#include "reports/io/json.h"
#include "reports/views/html/html.h"

namespace parbench::report {

/// Rounds a number to six significant digits, more than a picture shows; null if it is not finite.
[[nodiscard]] Json short_number(double value);

/// Returns [value, low, high]; without interval [value].
[[nodiscard]] Json value_with_interval(double value, const std::optional<Interval>& interval);

/// Return the ids of a report and of one of its scenarios on the page, by index.
[[nodiscard]] std::string report_id(std::size_t report);
[[nodiscard]] std::string scenario_id(std::size_t report, std::size_t scenario);

/// Returns the scenarios of all reports in the order of the page, with measured cases only, as
/// described in reports/web/src/data.ts. Texts are equal to those of the tables.
[[nodiscard]] Json page_data(const std::vector<NamedReport>& reports);
/// Returns the data as text for a script element.
[[nodiscard]] std::string page_data_text(const std::vector<NamedReport>& reports);

}  // namespace parbench::report
