// Interim looks of a paired comparison.
#include "reports/compare/paired.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "reports/statistics/statistics.h"

namespace parbench::compare {
namespace {

/// Estimates the mean of at least two differences.
Estimate estimate_of(const std::vector<double>& log_ratios) {
  const auto count = static_cast<double>(log_ratios.size());
  const double deviation = standard_deviation(log_ratios);
  return {mean(log_ratios), deviation * deviation / count, count - 1};
}

void check_looks(const std::vector<int>& looks) {
  const bool ascending = std::ranges::adjacent_find(looks, std::greater_equal<>{}) == looks.end();
  if (looks.empty() || looks.front() < 2 || !ascending) {
    throw std::invalid_argument("looks are ascending numbers of pairs, the first at least 2");
  }
}

}  // namespace

PairedComparison::PairedComparison(Plan plan) : plan_(std::move(plan)) { check_looks(plan_.looks); }

void PairedComparison::add(const LogRatios& pair) {
  if (is_finished()) throw std::logic_error("a pair for a comparison that is finished");
  for (const auto& [name, log_ratio] : pair) {
    if (!std::isfinite(log_ratio)) continue;
    CaseState& state = cases_[name];
    if (!state.given_up) state.log_ratios.push_back(log_ratio);
  }
  ++pairs_;
  if (pairs_ == next_look()) look();
}

void PairedComparison::give_up(const std::string& name) { cases_[name].given_up = true; }

void PairedComparison::conclude() {
  if (!is_finished() && !is_look()) look();
  concluded_ = true;
}

std::optional<int> PairedComparison::next_look() const {
  if (is_finished()) return std::nullopt;
  return plan_.looks[looks_so_far_.size()];
}

bool PairedComparison::is_settled() const {
  const std::vector<PairedVerdict> awaited = verdicts();
  return !awaited.empty() && std::ranges::all_of(awaited, &PairedVerdict::is_settled);
}

bool PairedComparison::is_finished() const {
  return concluded_ || is_settled() || looks_so_far_.size() == plan_.looks.size();
}

std::vector<PairedVerdict> PairedComparison::verdicts() const {
  std::vector<PairedVerdict> all;
  all.reserve(cases_.size());
  for (const auto& [name, state] : cases_) {
    if (!state.given_up) all.push_back({name, state.judged_pairs, state.judgement});
  }
  return all;
}

/// Judges all cases, also those with a verdict: Holm's procedure needs the number of all cases.
void PairedComparison::look() {
  std::vector<CaseState*> judged;
  std::vector<Estimate> estimates;
  for (auto& [name, state] : cases_) {
    if (state.log_ratios.size() < 2) continue;
    judged.push_back(&state);
    estimates.push_back(estimate_of(state.log_ratios));
  }
  Rule rule = plan_.rule;
  rule.significance /= static_cast<double>(plan_.looks.size());
  const std::vector<Judgement> judgements = judge(estimates, rule);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    std::optional<Judgement>& known = judged[i]->judgement;
    if (known && known->verdict != Verdict::undecided) continue;
    known = judgements[i];
    judged[i]->judged_pairs = static_cast<int>(judged[i]->log_ratios.size());
  }
  looks_so_far_.push_back(pairs_);
  judged_at_ = pairs_;
}

}  // namespace parbench::compare
