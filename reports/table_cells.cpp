// Cells of tables from the fields of a case.
#include "reports/table_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "reports/throttling.h"
#include "reports/units.h"

namespace parbench::report {
namespace {

/// "1.71× (1.69–1.73)" in the two parts that stand below each other: the value, and the interval
/// with its mark.
std::pair<std::string, std::string> parts_of(const std::string& text,
                                             const std::optional<Interval>& interval) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  std::string range = text.substr(std::min(blank + 1, text.size()));
  if (is_low(interval)) range += low_confidence_mark;
  return {text.substr(0, blank), std::move(range)};
}

std::string samples_text(const CaseResult& c) {
  std::map<int, std::size_t> processes;
  for (const Sample& sample : c.samples) ++processes[sample.process];
  if (processes.size() <= 1) return fmt::format("{}", c.samples.size());
  const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(processes.begin(), processes.end(), by_count);
  const std::string each = fmt::format("{}×{}", processes.size(), least->second);
  return least->second == most->second ? each : fmt::format("{}–{}", each, most->second);
}

}  // namespace

std::string_view status_word(const CaseResult& c) {
  switch (c.status) {
    case CaseStatus::measured:
      return "no statistics";
    case CaseStatus::failed:
      return "failed";
    case CaseStatus::skipped:
      return "skipped";
    case CaseStatus::not_run:
      break;
  }
  return "not run";
}

std::string status_reason(const CaseResult& c) {
  if (c.status != CaseStatus::measured || c.statistics || !c.error.empty()) return c.error;
  return "measured, but the report lacks its \"statistics\"; take the report as the run has "
         "written "
         "it";
}

std::string status_cell(const CaseResult& c, Reasons& reasons) {
  return std::string(status_word(c)) + reasons.reference(status_reason(c));
}

std::string median_cell(const CaseResult& c, bool others_marked) {
  const std::string_view blank = others_marked ? " " : "";
  return fmt::format("{}{}", format_duration(c.statistics->median),
                     is_throttled(c) ? throttled_mark : blank);
}

std::string interval_cell(const CaseResult& c, bool others_marked) {
  const Statistics& s = *c.statistics;
  if (!s.median_interval || !(s.median > 0)) return {};
  const double half_width = (s.median_interval->high - s.median_interval->low) / 2;
  const std::string_view blank = others_marked ? " " : "";
  return fmt::format("± {}{}", format_percent(half_width / s.median),
                     is_low(s.median_interval) ? low_confidence_mark : blank);
}

const Ending* ending_of(const CaseResult& c) {
  const auto* const found = std::find_if(endings.begin(), endings.end(), [&](const Ending& ending) {
    return c.stopped_because == ending.reason;
  });
  return found == endings.end() ? nullptr : found;
}

std::string samples_cell(const CaseResult& c, bool others_marked) {
  const Ending* ending = ending_of(c);
  const std::string_view blank = others_marked ? " " : "";
  return fmt::format("{}{}", samples_text(c), ending != nullptr ? ending->mark : blank);
}

bool is_no_bound(const CaseResult& c) {
  return c.bound && c.efficiency > max_credible_efficiency;
}

std::string efficiency_cell(const CaseResult& c) {
  if (is_no_bound(c)) return std::string(no_bound_mark);
  return c.bound && c.efficiency > 0 ? format_percent(c.efficiency, 0) : "";
}

std::string throughput_cell(const CaseResult& c) {
  if (!(c.amount > 0) || !(c.statistics->median > 0)) return {};
  return format_rate(c.amount / c.statistics->median, c.amount_unit);
}

std::pair<std::string, std::string> parts_of(const Ratio& speedup) {
  const auto& interval = speedup.interval;
  const std::string text = interval ? format_ratio(speedup.value, interval->low, interval->high)
                                    : format_ratio(speedup.value);
  return parts_of(text, interval);
}

std::pair<std::string, std::string> parts_of(const Metric& metric) {
  const auto& interval = metric.interval;
  return parts_of(interval ? format_percent(metric.value, interval->low, interval->high)
                           : format_percent(metric.value, 0),
                  interval);
}

std::string joined(const std::pair<std::string, std::string>& parts) {
  return parts.second.empty() ? parts.first : parts.first + ' ' + parts.second;
}

const Metric* find_metric(const CaseResult& c, const std::string& name) {
  const auto found = std::find_if(c.metrics.begin(), c.metrics.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  return found == c.metrics.end() ? nullptr : &*found;
}

std::string memory_cell(const CaseResult& c, const std::vector<std::string>& devices) {
  if (c.memory.empty()) return {};
  std::vector<double> bytes;
  for (const std::string& device : devices) {
    const auto at = std::find_if(c.memory.begin(), c.memory.end(),
                                 [&](const DeviceMemory& m) { return m.device == device; });
    bytes.push_back(at == c.memory.end() ? 0 : static_cast<double>(at->bytes));
  }
  return format_bytes(bytes);
}

}  // namespace parbench::report
