// Formats the calls of a profile.
#include "reports/views/call_table.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/base/units/units.h"
#include "reports/model/ceilings.h"
#include "reports/model/notes.h"
#include "reports/model/printable.h"
#include "reports/text/paragraph.h"

namespace parbench::report {
namespace {

/// Min share of all calls' time for a row of its own.
constexpr double min_shown_share = 0.005;

std::string rate_cell(double amount, double seconds, std::string_view unit) {
  return amount > 0 && seconds > 0 ? format_rate(amount / seconds, unit) : std::string();
}

std::string share_cell(double amount, double seconds, const std::optional<double>& peak) {
  if (!peak || !(amount > 0) || !(seconds > 0)) return {};
  return format_percent(amount / seconds / *peak, 0);
}

/// Returns the name and the layer: "convolution_forward · layer1.0.conv1". The shapes of the
/// tensors replace a missing layer; without both, returns the name alone.
std::string name_of_calls(const CallMetrics& call) {
  const std::string& where = call.layer.empty() ? call.tensors : call.layer;
  return where.empty() ? call.name : fmt::format("{} · {}", call.name, where);
}

/// Returns the rows. Calls with less than `min_shown_share` of the time share a row, because a
/// network has hundreds of calls.
std::vector<CallMetrics> shown_calls(const std::vector<CallMetrics>& calls, double all_seconds) {
  std::vector<CallMetrics> shown;
  std::vector<CallMetrics> others;
  for (const CallMetrics& call : calls) {
    (call.seconds < min_shown_share * all_seconds ? others : shown).push_back(call);
  }
  if (others.size() < 2) return calls;
  CallMetrics sum{.name = fmt::format("{} others", others.size())};
  for (const CallMetrics& call : others) {
    sum.count += call.count;
    sum.seconds += call.seconds;
    sum.team_waiting += call.team_waiting;
  }
  shown.push_back(std::move(sum));
  return shown;
}

double seconds_in_calls(const CaseResult& c) {
  double seconds = 0;
  for (const CallMetrics& call : c.profile->metrics.calls) seconds += call.seconds;
  return seconds;
}

Table table_of_calls(const CaseResult& c, const Ceilings& ceilings) {
  const double all_seconds = seconds_in_calls(c);
  const std::vector<CallMetrics> calls = shown_calls(c.profile->metrics.calls, all_seconds);
  Table table;
  const auto add = [&](const std::string& title, auto cell, Narrow narrow = {},
                       Align align = Align::right) {
    add_column(table, {.title = title, .align = align, .narrow = narrow}, calls, cell);
  };
  using Call = const CallMetrics&;
  add("call", name_of_calls, {.rank = 0, .is_heading = true}, Align::left);
  add(
      "kernel", [](Call call) { return call.kernel; }, {.rank = 4}, Align::left);
  add("count", [](Call call) { return std::to_string(call.count); }, {.rank = 3});
  add("time", [](Call call) { return format_duration(call.seconds); });
  add("share", [&](Call call) { return format_percent(call.seconds / all_seconds); });
  add("waiting", [](Call call) { return share_cell(call.team_waiting, call.seconds, 1); },
      {.rank = 2});
  add("FLOP/s", [](Call call) { return rate_cell(call.flops, call.seconds, "FLOP"); }, {.rank = 5});
  add("of peak",
      [&](Call call) { return share_cell(call.flops, call.seconds, ceilings.flops(call.kind)); });
  add("B/s", [](Call call) { return rate_cell(call.bytes, call.seconds, "B"); }, {.rank = 1});
  add("of peak",
      [&](Call call) { return share_cell(call.bytes, call.seconds, ceilings.bytes(call.kind)); });
  return table;
}

std::string case_text(const CaseResult& c, const Ceilings& ceilings, const TextStyle& style) {
  std::vector<std::string> items{c.dtype, format_duration(seconds_in_calls(c)) + " in calls"};
  if (c.profile->deviation) items.push_back("the profiled run " + deviation_text(*c.profile));
  return emphasised(c.name, Emphasis::bold, style.color) + '\n' +
         joined_items(items, style, Emphasis::none) + to_text(table_of_calls(c, ceilings), style);
}

constexpr std::string_view how_to_read =
    "Times are those of one execution of each case: the seconds of all calls, including calls that "
    "ran at once. waiting: the share in which a core had no work, as a mean over the threads of a "
    "call. Bytes are the minimal traffic, every argument read or written once, so that what stays "
    "in "
    "a cache may pass the peak. FLOPs are those of the operation's definition, so a convolution by "
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

Table table_of_calls(const Report& report, const CaseResult& c) {
  return table_of_calls(c, common_ceilings(report, c));
}

std::string calls_table(const Report& report, const TextStyle& style) {
  const Report shown = printable(report);
  std::string text;
  bool peaks = false;
  std::map<std::string, std::size_t> without;  // number of cases, by reason
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
  const auto add = [&](std::string_view note) { text += hanging("", note, style); };
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
