// Chooses the units of a case's numbers in a table.
#include "reports/views/cases/case_cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/units/units.h"

namespace parbench::report {
namespace {

/// Formats a bandwidth in GB/s at any size, so that a column of bandwidths has one unit.
TableCell bandwidth_cell(double bytes_per_second) {
  constexpr double giga = 1e9;
  constexpr double smallest_with_three_digits = 0.1;
  const double rate = bytes_per_second / giga;
  int digits = 2;
  if (rate >= smallest_with_three_digits) digits = 3;
  return {.text = fmt::format("{:#.{}g} GB/s", rate, digits), .number = bytes_per_second};
}

}  // namespace

bool has_bandwidths(const Cases& cases) {
  return std::ranges::any_of(cases, [](const CaseResult* c) {
    return std::ranges::any_of(c->metrics, [](const Metric& one) { return one.unit == "B"; });
  });
}

TableCell throughput_cell(const CaseResult& c, bool as_bandwidth) {
  const double rate = c.amount / c.statistics->median;
  if (!(c.amount > 0) || !(c.statistics->median > 0)) return {};
  if (as_bandwidth) return bandwidth_cell(rate);
  return {.text = format_rate(rate, c.amount_unit), .number = rate};
}

TableCell metric_cell(const CaseResult& c, const std::string& name) {
  const auto metric = std::ranges::find(c.metrics, name, &Metric::name);
  if (metric == c.metrics.end()) return {};
  if (metric->unit == "B") return bandwidth_cell(metric->value);
  if (!metric->unit.empty()) {
    return {.text = format_rate(metric->value, metric->unit), .number = metric->value};
  }
  const auto& interval = metric->interval;
  TableCell cell =
      estimate_cell(interval ? format_percent(metric->value, interval->low, interval->high)
                             : format_percent(metric->value, 0),
                    metric->value, interval);
  if (!metric->remark.empty()) cell.mark = metric_remark_mark;
  return cell;
}

TableCell memory_cell(const CaseResult& c, const std::vector<std::string>& devices) {
  if (c.memory.empty()) return {};
  std::vector<double> bytes;
  const auto of = [&](const std::string& device) {
    return std::ranges::find(c.memory, device, &DeviceMemory::device);
  };
  const auto has = [&](const std::string& device) { return of(device) != c.memory.end(); };
  if (std::ranges::any_of(devices, has)) {
    for (const std::string& device : devices) {
      bytes.push_back(has(device) ? static_cast<double>(of(device)->bytes) : 0);
    }
  } else {
    for (const DeviceMemory& held : c.memory) bytes.push_back(static_cast<double>(held.bytes));
  }
  const double max = std::ranges::max(bytes);
  return {.text = format_bytes(max),
          .number = max,
          .note = bytes.size() > 1 ? format_bytes(bytes) : std::string()};
}

}  // namespace parbench::report
