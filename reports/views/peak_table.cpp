// Formats peaks as tables.
#include "reports/views/peak_table.h"

#include "kernels/base/units/wide_intervals.h"
#include "reports/model/peaks.h"
#include "reports/statistics/statistics.h"
#include "reports/text/paragraph.h"

namespace parbench::report {

TableCell peak_cell(const Peak& peak) {
  TableCell cell{.text = rate_text(peak)};
  if (peak.interval) {
    cell.range = half_width_text(relative_half_width(*peak.interval, peak.value));
  }
  return cell;
}

std::string to_table(const Fingerprint& device, const std::vector<Peak>& peaks,
                     const TextStyle& style) {
  Table table;
  add_column(table, {.title = "peak", .align = Align::left}, peaks, &Peak::what);
  add_column(table, {.title = "best rate", .range_title = "± 95% CI", .range_align = Align::right},
             peaks, peak_cell);
  add_column(table, {.title = "measured", .align = Align::left, .narrow = {1}}, peaks,
             &Peak::measured_utc);
  return hanging("", printable(to_text(device)), style, Emphasis::bold) +
         (peaks.empty() ? std::string() : to_text(table, style));
}

std::string peaks_footnote(const TextStyle& style) {
  return hanging("",
                 "gemm: products of square matrices, a multiply-add counts two. memory: bytes that "
                 "computing reads and writes in the device's memory; copy: the same by its copy "
                 "lane. h2d, d2h: bytes from pinned memory of the host to the device and back. "
                 "Each is the best median of several sizes or ways, with the device alone.",
                 style);
}

}  // namespace parbench::report
