// Sentences and table cells about verdicts.
#include "reports/compare/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <tuple>

#include "kernels/base/units/units.h"
#include "kernels/base/units/wide_intervals.h"
#include "reports/model/disturbances.h"
#include "reports/text/text.h"

namespace parbench::compare {
namespace {

/// Returns the number of decimals: more for a narrow interval, so that its ends differ; none for
/// large changes and wide intervals.
int decimals_of(const Change& change) {
  const double width = change.interval.high - change.interval.low;
  if (std::abs(change.value) >= 1 || width >= 0.2) return 0;
  return width < 0.002 ? 2 : 1;
}

/// Returns a fraction in percent, without the sign %: "+6.2", "−3.0", "0.0", "+∞".
std::string signed_percent(double fraction, int decimals) {
  if (std::isnan(fraction)) return std::string(no_number);
  if (std::isinf(fraction)) return fraction > 0 ? "+∞" : "−∞";
  std::string digits = fmt::format("{:.{}f}", 100 * std::abs(fraction), decimals);
  if (digits.find_first_not_of("0.") == std::string::npos) return digits;
  return (fraction > 0 ? "+" : "−") + digits;
}

enum class Scale { percent, times_as_fast, times_as_long };

/// Returns the notation of a change and its interval.
Scale scale_of(const Change& change) {
  // below a tenth, percentages of time and of speed are about equal
  constexpr double largest_share = 0.1;
  if (change.value <= -largest_share) return Scale::times_as_fast;
  return change.value >= 1 ? Scale::times_as_long : Scale::percent;
}

/// Returns "6.19–8.18×".
std::string factors_text(double low, double high) {
  constexpr std::string_view times = "×";
  const auto text = [](double factor) {
    return std::isinf(factor) ? std::string("∞×") : format_ratio(factor);
  };
  std::string interval = text(low);
  interval.resize(interval.size() - times.size());
  return interval + "–" + text(high);
}

/// Lists the first few labels; longer lists are not readable in a sentence.
std::string listed(const std::vector<std::string>& texts) {
  constexpr std::size_t max = 3;
  const std::span<const std::string> shown = std::span(texts).first(std::min(texts.size(), max));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (shown.size() < texts.size()) text += fmt::format(" and {} more", texts.size() - shown.size());
  return text;
}

std::string failures_text(const Comparison& comparison) {
  std::vector<std::string> labels;
  for (const Row& row : comparison.rows) {
    if (row.state == MatchState::failed_now) labels.push_back(row.label);
  }
  std::string text;
  if (!labels.empty()) {
    text =
        fmt::format("{} failed in NEW: {}. ", format_count(labels.size(), "case"), listed(labels));
  }
  if (const std::size_t unfinished = comparison.now.unfinished; unfinished > 0) {
    text += fmt::format("NEW ended before its time, {} of it not measured to the end. ",
                        format_count(unfinished, "case"));
  } else if (comparison.now.ended_early) {
    text += "NEW ended before its time, between two processes or while its cases were profiled. ";
  }
  const std::size_t processes = comparison.now.process_errors.size();
  if (processes == 0) return text;
  return text + fmt::format("{} of NEW ended badly. ", format_count(processes, "process"));
}

/// Returns whether `one` was throttled and `other` was not, or a CPU quota slowed `one` but not
/// `other`, or the quota withheld more from `one` by at least `min_cores_taken`.
bool is_throttled_more(const std::optional<Measured>& one, const std::optional<Measured>& other) {
  if (!one || !other) return false;
  const double lost_more = one->quota_lost - other->quota_lost;
  return (!one->throttled_by.empty() && other->throttled_by.empty()) ||
         (lost_more > 0 && other->quota_lost == 0) || lost_more >= min_cores_taken;
}

/// Returns in how many cases one side was throttled more than the other; stated before the
/// verdicts.
std::string throttled_side_text(const Comparison& comparison) {
  std::string text;
  for (const bool of_now : {true, false}) {
    std::vector<std::string> reasons;
    double quota_lost = 0;
    std::size_t count = 0;
    for (const Row& row : comparison.rows) {
      const auto& [one, other] = of_now ? std::tie(row.now, row.base) : std::tie(row.base, row.now);
      if (row.state != MatchState::comparable || !is_throttled_more(one, other)) continue;
      ++count;
      quota_lost = std::max(quota_lost, one->quota_lost);
      for (const std::string& reason : one->throttled_by) {
        if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(reason);
      }
    }
    if (count == 0) continue;
    if (quota_lost > 0) reasons.push_back(report::quota_text(quota_lost));
    text += fmt::format(
        "{} was throttled more than {} in {} of {}, which may explain the change: {}. ",
        of_now ? "NEW" : "BASE", of_now ? "BASE" : "NEW", count,
        format_count(comparison.count(MatchState::comparable), "case"), fmt::join(reasons, ", "));
  }
  return text;
}

/// Returns the beginning of the answer if the pairs ended early: the reason; else empty.
std::string ending_text(const Comparison& comparison) {
  if (!comparison.pairs) return {};
  const PairsEnd end = comparison.pairs->end;
  if (end == PairsEnd::interrupted) return "Interrupted: ";
  if (end == PairsEnd::failed) return "A command failed: ";
  const bool settled = comparison.count(Verdict::undecided) == 0;
  return end == PairsEnd::time_spent && !settled ? "The time is spent (--max-time): " : "";
}

using Counts = std::vector<std::pair<std::size_t, std::string_view>>;

/// Returns "1 improved, 8 the same"; empty if all counts are zero.
std::string counts_text(const Counts& counts) {
  return report::joined(counts, ", ", [](const auto& one) {
    return one.first > 0 ? fmt::format("{} {}", one.first, one.second) : std::string();
  });
}

/// Counts the cases of BASE that could not be compared, except failures.
Counts missing_counts(const Comparison& comparison) {
  return {{comparison.count(MatchState::not_measured), "not measured"},
          {comparison.count(MatchState::not_comparable), "not comparable"},
          {comparison.count(MatchState::only_base), "only in BASE"}};
}

/// Returns "Undecided: 31 of 43 cases" if fewer than half are decided or the outcome is
/// `too_few_decided`; else empty.
std::string undecided_text(const Comparison& comparison) {
  const std::size_t decided = comparison.decided();
  const std::size_t all = comparison.decidable();
  const bool too_few = comparison.outcome() == Outcome::too_few_decided;
  if (!too_few && 2 * decided >= all) return {};
  std::string text = fmt::format("Undecided: {} of {}", all - decided, format_count(all, "case"));
  if (const std::string missing = counts_text(missing_counts(comparison)); !missing.empty()) {
    text += fmt::format(" ({})", missing);
  }
  if (!too_few) return text;
  return text + fmt::format("; {} must be decided (--require-decided)",
                            format_percent(comparison.rule.required_decided, 0));
}

std::string regressions_text(const Comparison& comparison, std::size_t compared) {
  std::vector<std::string> texts;
  for (const Row& row : comparison.rows) {
    if (row.verdict() != Verdict::regressed) continue;
    texts.push_back(fmt::format("{} {} ({})", row.label, change_text(row.judgement->change),
                                interval_text(row.judgement->change)));
  }
  if (texts.empty())
    return fmt::format("No regression found in {}", format_count(comparison.decided(), "case"));
  return fmt::format("{} of {} regressed: {}", texts.size(), format_count(compared, "case"),
                     listed(texts));
}

/// Returns a space and the text as a sentence, to append to another one; empty for an empty text.
std::string as_sentence(const std::string& text) { return text.empty() ? text : ' ' + text + '.'; }

std::string nothing_text(const Comparison& comparison) {
  const auto failed = std::ranges::find_if(comparison.rows, [](const Row& row) {
    return row.state != MatchState::failed_now && !row.reason.empty();
  });
  if (failed != comparison.rows.end()) {
    return fmt::format("Nothing could be compared: {}: {}.", failed->label, failed->reason);
  }
  if (comparison.rows.empty()) return "Nothing could be compared: the reports have no cases.";
  // Failures are already listed, so whether BASE has these cases does not matter.
  if (comparison.count(MatchState::failed_now) > 0) return "Nothing could be compared.";
  return fmt::format("Nothing could be compared: no case is in both reports{}.",
                     comparison.pairs ? "" : "; measure the same cases with parbench --rerun BASE");
}

/// Formats "2026-11-21T19:57:32Z" as "2026-11-21 19:57 UTC"; other texts stay unchanged.
std::string time_text(const std::string& utc) {
  if (utc.size() != 20 || utc[10] != 'T' || utc.back() != 'Z') return utc;
  return fmt::format("{} {} UTC", utc.substr(0, 10), utc.substr(11, 5));
}

/// Formats the confidence of the shown intervals: "99%", "99.17 to 99.58%".
std::string confidences_text(const Comparison& comparison) {
  double min = 1;
  double max = 0;
  for (const Row& row : comparison.rows) {
    if (!row.judgement) continue;
    min = std::min(min, row.judgement->change.interval.confidence);
    max = std::max(max, row.judgement->change.interval.confidence);
  }
  // Rounds down, because no interval has 100% confidence.
  const auto percent = [](double confidence) {
    constexpr double rounding_error = 1e-6;
    return format_number(std::floor(1e4 * confidence + rounding_error) / 100, 4);
  };
  const std::string low = percent(min);
  const std::string high = percent(max);
  return low == high ? low + '%' : fmt::format("{} to {}%", low, high);
}

/// Returns the threshold and significance; empty if nothing was judged.
std::string rule_text(const Comparison& comparison) {
  const std::size_t judged = static_cast<std::size_t>(std::ranges::count_if(
      comparison.rows, [](const Row& row) { return row.judgement.has_value(); }));
  if (judged == 0) return {};
  const auto percent = [](double fraction) { return format_number(100 * fraction, 3) + '%'; };
  std::string text;
  if (comparison.rule.threshold > 0) {
    text = fmt::format("Changes below {} do not count (--threshold). ",
                       percent(comparison.rule.threshold));
  }
  return text + fmt::format(
                    "Chance of any false alarm in {}: at most {} (Holm's correction; each interval "
                    "holds the true change with {}).",
                    format_count(judged, "case"), percent(comparison.rule.significance),
                    confidences_text(comparison));
}

/// Defines the times of both sides if `show` may print other numbers for the same report: means
/// over pairs or processes. Empty otherwise, and if nothing was judged.
std::string times_text(const Comparison& comparison) {
  const bool judged = std::ranges::any_of(comparison.rows,
                                          [](const Row& row) { return row.judgement.has_value(); });
  if (comparison.pairs && judged) {
    return fmt::format(
        "BASE and NEW are geometric means over the pairs{}.",
        comparison.pairs->measure == "wall" ? "" : "; a report's own medians differ a little");
  }
  const auto has_several_processes = [](const std::optional<Measured>& side) {
    return side && side->processes > 1;
  };
  const bool differ = std::ranges::any_of(comparison.rows, [&](const Row& row) {
    return row.judgement && (has_several_processes(row.base) || has_several_processes(row.now));
  });
  return differ ? "BASE and NEW are geometric means of the processes' medians, and the change is "
                  "their ratio; show prints the median of those medians."
                : "";
}

}  // namespace

std::string change_text(const Change& change) {
  const Scale scale = scale_of(change);
  if (scale == Scale::times_as_fast) {
    return format_ratio(1 / (1 + change.value)) + " as fast";
  }
  if (scale == Scale::times_as_long) return format_ratio(1 + change.value) + " as long";
  constexpr std::string_view plus = "+";
  constexpr std::string_view minus = "−";
  const std::string percent = signed_percent(change.value, decimals_of(change));
  if (percent.starts_with(plus)) return percent.substr(plus.size()) + "% slower";
  return percent.starts_with(minus) ? percent.substr(minus.size()) + "% faster" : "no change";
}

std::string interval_text(const Change& change) {
  const Interval& interval = change.interval;
  if (is_unknown_change(interval)) return std::string(unknown_text);
  const Scale scale = scale_of(change);
  if (scale == Scale::times_as_fast) {
    return factors_text(1 / (1 + interval.high), 1 / (1 + interval.low));
  }
  if (scale == Scale::times_as_long) return factors_text(1 + interval.low, 1 + interval.high);
  const int decimals = decimals_of(change);
  return fmt::format("{} to {}%", signed_percent(interval.low, decimals),
                     signed_percent(interval.high, decimals));
}

std::string seconds_text(const std::optional<Measured>& measured) {
  return measured ? format_duration(measured->seconds) : std::string(no_number);
}

std::string sentence(const Comparison& comparison) {
  const std::size_t compared = comparison.count(MatchState::comparable);
  std::string text;
  for (const std::string& caution : comparison.cautions) text += caution + ' ';
  text += ending_text(comparison) + failures_text(comparison);
  if (compared == 0) return text + nothing_text(comparison);
  text += throttled_side_text(comparison);
  const std::size_t undecided = comparison.count(Verdict::undecided);
  const std::string lead =
      comparison.count(Verdict::regressed) > 0 ? std::string() : undecided_text(comparison);
  text += (lead.empty() ? regressions_text(comparison, compared) : lead) + '.';
  text += as_sentence(counts_text({{comparison.count(Verdict::improved), "improved"},
                                   {comparison.count(Verdict::same), "the same"},
                                   {lead.empty() ? undecided : 0, "undecided"}}));
  Counts others = lead.empty() ? missing_counts(comparison) : Counts();
  others.emplace_back(comparison.count(MatchState::only_now), "only in NEW");
  return text + as_sentence(counts_text(others));
}

std::string state_text(const Row& row) {
  if (const auto verdict = row.verdict()) return std::string(to_string(*verdict));
  constexpr std::array texts{"",  // comparable: the row has a verdict
                             "failed",     "not measured", "not comparable", "only in BASE",
                             "only in NEW"};
  return texts.at(static_cast<std::size_t>(row.state));
}

std::string throttling_text(const Row& row) {
  std::vector<std::string> texts;
  for (const auto& [measured, side] : {std::pair(&row.base, "BASE"), std::pair(&row.now, "NEW")}) {
    if (!*measured) continue;
    std::vector<std::string> reasons = (*measured)->throttled_by;
    if (const double lost = (*measured)->quota_lost; lost > 0) {
      reasons.push_back(fmt::format("CPU quota ({} of the CPU time)", format_percent(lost, 0)));
    }
    if (!reasons.empty()) texts.push_back(fmt::format("{} in {}", fmt::join(reasons, ", "), side));
  }
  return report::joined(texts, "; ");
}

std::string cuts_text(const Row& row) {
  if (!row.cuts) return {};
  return fmt::format("cut at {} in BASE, at {} in NEW", row.cuts->base, row.cuts->now);
}

std::string side_text(const Comparison& comparison, const Side& side) {
  std::vector<std::string> items{side.name, side.program};
  if (side.commit) {
    items.push_back(fmt::format("commit {}{}", report::short_commit(*side.commit),
                                side.dirty ? " with changes" : ""));
  }
  items.push_back(format_count(side.processes, comparison.pairs ? "run" : "process"));
  items.push_back(time_text(side.started_utc));
  return report::joined(items, " · ");
}

std::string facts_text(const ScenarioFacts& scenario) {
  std::vector<std::string> items = scenario.common;
  items.push_back("on " + scenario.machine);
  if (!scenario.machine_difference.empty()) {
    items.push_back("machines differ: " + scenario.machine_difference);
  }
  if (!scenario.machine_unknown.empty()) {
    items.push_back("not compared: " + scenario.machine_unknown);
  }
  for (const std::string& difference : scenario.hidden_differences) {
    items.push_back("compared although they differ: " + difference);
  }
  return report::joined(items, " · ");
}

std::vector<std::string> all_notes(const Comparison& comparison) {
  std::vector<std::string> notes = comparison.notes;
  if (comparison.pairs) notes.push_back(pairs_text(*comparison.pairs));
  if (std::string times = times_text(comparison); !times.empty()) notes.push_back(std::move(times));
  if (std::string rule = rule_text(comparison); !rule.empty()) notes.push_back(std::move(rule));
  return notes;
}

}  // namespace parbench::compare
