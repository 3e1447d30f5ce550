// Decides which cases stay unchanged, and merges the two parts of a case.
#include "bench/sampling/earlier_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reports/model/notes.h"
#include "reports/statistics/statistics.h"
#include "scenarios/plan/bounds.h"

namespace parbench {
namespace {

constexpr std::string_view skipped_note = "skipped in the resumed run";

void erase_note(report::CaseResult& result, std::string_view name) {
  std::erase_if(result.notes, [&](const auto& note) { return note.first == name; });
}

}  // namespace

const report::CaseResult* find_measured(const std::vector<report::CaseResult>* cases,
                                        const std::string& name) {
  if (cases == nullptr) return nullptr;
  const auto found = std::ranges::find(*cases, name, &report::CaseResult::name);
  if (found == cases->end()) return nullptr;
  return found->samples.empty() && !report::has_equal_plan(*found) ? nullptr : &*found;
}

EarlierPart::EarlierPart(const std::vector<report::CaseResult>* cases,
                         const std::vector<CaseSpec>& specs,
                         const std::vector<Comparisons>& comparisons, bool profiles) {
  for (const CaseSpec& spec : specs) known_.push_back(find_measured(cases, spec.name()));
  for (std::size_t i = 0; i < specs.size(); ++i) {
    final_.push_back(is_finished(i) &&
                     (!profiles || known_[i]->profile || report::has_equal_plan(*known_[i])));
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (is_finished(i)) continue;
    for (const std::size_t other : compared_with(comparisons[i], [](auto) { return true; })) {
      final_[other] = false;
    }
  }
}

std::string EarlierPart::forget_if_cut_elsewhere(std::size_t index, const report::CaseResult& now) {
  const report::CaseResult* known = find(index);
  const std::string cut = report::cut_of(now);
  if (known == nullptr || report::cut_of(*known) == cut) return {};
  std::string difference = fmt::format("cut at {} instead of {}", cut, report::cut_of(*known));
  known_[index] = nullptr;
  final_[index] = false;
  return difference;
}

report::CaseResult EarlierPart::kept(std::size_t index, report::CaseResult now) const {
  const report::CaseResult* known = find(index);
  if (known == nullptr || now.status == report::CaseStatus::failed) return now;
  report::CaseResult result = *known;
  if (now.status == report::CaseStatus::skipped) {
    erase_note(result, skipped_note);
    result.notes.emplace_back(skipped_note, now.error);
  } else if (report::is_left_out_of_time(now) && !is_finished(index)) {
    result.stopped_because = report::total_time;
  }
  return result;
}

void EarlierPart::complete(std::size_t index, bool has_bound, report::CaseResult& sampled) const {
  const report::CaseResult* known = find(index);
  if (known == nullptr) return;
  if (known->bound && !has_bound) {
    const double before = median(seconds_of(known->samples));
    const double now = median(seconds_of(sampled.samples));
    sampled.bound = before > 0 ? scaled(*known->bound, now / before) : *known->bound;
  }
  if (!known->profile || sampled.profile) return;
  sampled.profile = known->profile;
  erase_note(sampled, report::no_timeline);
}

}  // namespace parbench
