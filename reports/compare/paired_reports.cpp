// Collects the times of each case over pairs of reports.
#include "reports/compare/paired_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "reports/statistics/statistics.h"

namespace parbench::compare {
namespace {

/// Sets the time to the geometric mean over the pairs. The throttling warnings stay those of the
/// first pair.
void set_mean(std::optional<Measured>& measured, const std::vector<double>& log_times) {
  if (!measured || log_times.empty()) return;
  measured->seconds = std::exp(mean(log_times));
  measured->processes = static_cast<int>(log_times.size());
}

/// Merges a later pair's side: it is complete if it is complete in all pairs, and it ended early if
/// it did in any; unfinished cases and process errors add up.
void merge_side(const Side& later, Side& known) {
  known.complete = known.complete && later.complete;
  known.ended_early = known.ended_early || later.ended_early;
  known.unfinished += later.unfinished;
  std::ranges::copy(later.process_errors, std::back_inserter(known.process_errors));
}

/// Returns why a case has no judgement: there was no look yet, or it is in fewer than two pairs.
std::string trouble_of(const PairedComparison& pairs) {
  if (!pairs.looks().empty()) return "fewer than 2 pairs do not show how much they differ";
  return fmt::format("verdicts are given after {} pairs at the earliest",
                     pairs.plan().looks.front());
}

}  // namespace

LogRatios PairedReports::add(const NamedReport& base, const NamedReport& now) {
  const Options options{.rule = pairs_.plan().rule,
                        .allow_different_machine = allow_different_machine_};
  Comparison pair = matched(base, now, options);
  LogRatios ratios;
  for (const Row& row : pair.rows) {
    if (row.state != MatchState::comparable) continue;
    LogTimes& times = times_[row.name];
    times.base.push_back(std::log(row.base->seconds));
    times.now.push_back(std::log(row.now->seconds));
    ratios[row.name] = times.now.back() - times.base.back();
  }
  pairs_.add(ratios);
  for (const Row& row : pair.rows) {
    if (row.state != MatchState::comparable) pairs_.give_up(row.name);
  }
  if (first_) {
    merge_side(pair.base, first_->base);
    merge_side(pair.now, first_->now);
    merge(std::move(pair.rows));
  } else {
    first_ = std::move(pair);
  }
  return ratios;
}

/// Merges the rows of a later pair. A state other than `comparable` replaces the known state,
/// unless that is `failed_now`.
void PairedReports::merge(std::vector<Row> rows) {
  for (Row& row : rows) {
    const auto known = std::ranges::find(first_->rows, row.name, &Row::name);
    if (known == first_->rows.end()) {
      first_->rows.push_back(std::move(row));
      continue;
    }
    if (row.cuts) known->cuts = std::move(row.cuts);
    if (known->state != MatchState::failed_now && row.state != MatchState::comparable) {
      known->state = row.state;
      known->reason = std::move(row.reason);
    }
  }
}

std::optional<Comparison> PairedReports::comparison() const {
  std::optional<Comparison> result = first_;
  if (!result) return result;
  result->notes = notes_on_sides(result->base, result->now);
  result->base.processes = result->now.processes = pairs_.pairs();
  for (Row& row : result->rows) {
    const auto times = times_.find(row.name);
    if (times == times_.end()) continue;
    set_mean(row.base, times->second.base);
    set_mean(row.now, times->second.now);
  }
  for (const PairedVerdict& verdict : pairs_.verdicts()) {
    const auto row = std::ranges::find(result->rows, verdict.name, &Row::name);
    if (row->state != MatchState::comparable) continue;
    row->judgement = verdict.judgement;
    if (!row->judgement) row->reason = trouble_of(pairs_);
  }
  sort_rows(result->rows);
  return result;
}

}  // namespace parbench::compare
