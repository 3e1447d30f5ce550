// Renders the calls of a profile.
#include "reports/views/call_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "reports/model/ceilings.h"
#include "reports/model/printable.h"
#include "reports/model/without_profile.h"
#include "reports/text/paragraph.h"
#include "reports/text/table.h"
#include "reports/units/units.h"

namespace parbench::report {
namespace {

std::string rate_cell(double amount, double seconds, std::string_view unit) {
  return amount > 0 && seconds > 0 ? format_rate(amount / seconds, unit) : std::string();
}

std::string share_cell(double amount, double seconds, const std::optional<double>& peak) {
  if (!peak || !(amount > 0) || !(seconds > 0)) return {};
  return format_percent(amount / seconds / *peak, 0);
}

std::string case_text(const CaseResult& c, const Ceilings& ceilings, const TextStyle& style) {
  const std::vector<CallMetrics>& calls = c.profile->metrics.calls;
  double all_seconds = 0;
  for (const CallMetrics& call : calls) all_seconds += call.seconds;
  Table table;
  const auto add = [&](const std::string& title, auto cell, int rank = 0,
                       Align align = Align::right) {
    const bool is_heading = table.columns.empty();
    add_column(table, {.title = title, .align = align, .narrow = {rank, is_heading}}, calls, cell);
  };
  using Call = const CallMetrics&;
  add(
      "call", [](Call call) { return call.name; }, 0, Align::left);
  add(
      "kind", [](Call call) { return std::string(name_of(call.kind)); }, 1, Align::left);
  add(
      "count", [](Call call) { return std::to_string(call.count); }, 2);
  add("time", [](Call call) { return format_duration(call.seconds); });
  add("share", [&](Call call) { return format_percent(call.seconds / all_seconds); });
  add(
      "FLOP/s", [](Call call) { return rate_cell(call.flops, call.seconds, "FLOP"); }, 4);
  add("of peak",
      [&](Call call) { return share_cell(call.flops, call.seconds, ceilings.flops(call.kind)); });
  add(
      "B/s", [](Call call) { return rate_cell(call.bytes, call.seconds, "B"); }, 3);
  add("of peak",
      [&](Call call) { return share_cell(call.bytes, call.seconds, ceilings.bytes(call.kind)); });
  std::vector<std::string> items{c.dtype, format_duration(all_seconds) + " in calls"};
  if (c.profile->deviation) items.push_back(deviation_text(*c.profile));
  return emphasised(c.name, Emphasis::bold, style.color) + '\n' +
         joined_items(items, style, Emphasis::none) + to_text(table, style);
}

constexpr std::string_view how_to_read =
    "Of one execution of each case: seconds of all calls together, also of those that ran at once. "
    "Bytes are the least traffic, every argument read or written once, so that what stays in a "
    "cache may pass the peak. FLOPs are those of the operation's definition, so a convolution by "
    "Winograd's algorithm, which needs fewer, may pass the peak too; so may a product that stays "
    "in a faster cache than those of the peak, and a peak that was measured while the machine was "
    "busy is too low (--refresh).";
constexpr std::string_view what_peaks_are =
    "The peaks are the best that `parbench peaks` measured on one device alone: a product in the "
    "case's number format, traffic with its memory, and for copies its copy lane.";
constexpr std::string_view how_to_have_peaks =
    "No peaks of these devices were known to the run: `parbench peaks` measures them for later "
    "ones.";

}  // namespace

std::string calls_table(const Report& report, const TextStyle& style) {
  const Report shown = printable(report);
  std::string text;
  bool peaks = false;
  std::map<std::string, std::size_t> without;  // by reason
  std::size_t shown_cases = 0;
  for (const CaseResult& c : shown.cases) {
    if (!c.profile || c.profile->metrics.calls.empty()) {
      ++without[c.status == CaseStatus::measured ? reason_without_profile(c) : "not measured"];
      continue;
    }
    const Ceilings ceilings = common_ceilings(shown, c);
    ++shown_cases;
    peaks = peaks || ceilings.known();
    text += case_text(c, ceilings, style) + '\n';
  }
  const auto add = [&](std::string_view note) {
    text += hanging("", note, style.width, Emphasis::none, style.color);
  };
  if (shown_cases > 0) {
    add(how_to_read);
    add(peaks ? what_peaks_are : how_to_have_peaks);
  }
  for (const auto& [reason, count] : without) {
    add(fmt::format("{} without calls: {}.", format_count(count, "case"), reason));
  }
  return text;
}

}  // namespace parbench::report
