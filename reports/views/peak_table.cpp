// Renders peaks as tables.
#include "reports/views/peak_table.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "reports/model/peaks.h"
#include "reports/statistics/statistics.h"
#include "reports/text/grid.h"
#include "reports/text/paragraph.h"
#include "reports/text/text.h"
#include "reports/units/units.h"

namespace parbench::report {
namespace {

std::string interval_text(const Peak& peak) {
  if (!peak.interval) return {};
  return fmt::format("± {}", format_percent(relative_half_width(*peak.interval, peak.value)));
}

}  // namespace

std::string to_table(const Fingerprint& device, const std::vector<Peak>& peaks,
                     const TextStyle& style) {
  Grid grid;
  const auto add = [&](std::string title, Align align, std::size_t gap,
                       const std::function<std::string(const Peak&)>& cell) {
    Column column{std::move(title), {}, align, "", gap};
    for (const Peak& peak : peaks) column.cells.push_back(printable(cell(peak)));
    grid.columns.push_back(std::move(column));
  };
  add("peak", Align::left, 2, [](const Peak& peak) { return peak.what; });
  add("best rate", Align::right, 2, rate_text);
  add("± 95% CI", Align::right, 1, interval_text);
  add("measured", Align::left, 2, [](const Peak& peak) { return peak.measured_utc; });
  grid.emphasis.assign(peaks.size(), Emphasis::none);
  return emphasised(printable(to_text(device)), Emphasis::bold, style.color) + '\n' +
         grid.render(style.color);
}

std::string peaks_footnote(const TextStyle& style) {
  return hanging("",
                 "gemm: products of square matrices, a multiply-add counts two. memory: bytes read "
                 "and written within the device's memory by all that computes; copy: the same by "
                 "its copy lane. h2d, d2h: bytes from pinned memory of the host to the device and "
                 "back. Each is the best median of several sizes or ways, with the device alone.",
                 style.width, Emphasis::none, style.color);
}

}  // namespace parbench::report
