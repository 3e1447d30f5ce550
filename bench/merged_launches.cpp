// Merging by the names of cases.
#include "bench/merged_launches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "bench/looks.h"

namespace parbench {
namespace {

using report::CaseResult;
using report::CaseStatus;

/// A case as one launch has left it.
struct Part {
  int launch = 0;
  int first_round = 0;
  const CaseResult* found = nullptr;
};

std::string launch_name(int launch, int launches) {
  return fmt::format("launch {} of {}", launch + 1, launches);
}

/// What is later in the list tells more of how a measurement went.
int gravity(std::string_view stopped_because) {
  static constexpr std::array<std::string_view, 6> order{
      "fixed count", "precision", "total-time", "max-time", "device lost", "interrupted"};
  return static_cast<int>(std::ranges::find(order, stopped_because) - order.begin());
}

/// Rounds of a session are those of all its cases.
int rounds_of(const std::vector<CaseResult>& planned, const LaunchCases& part) {
  int rounds = 0;
  for (const CaseResult& c : part.cases) {
    if (c.scenario != planned.front().scenario) continue;
    for (const report::Sample& sample : c.samples) rounds = std::max(rounds, sample.round + 1);
  }
  return rounds;
}

std::vector<Part> with_status(const std::vector<Part>& parts, CaseStatus status) {
  std::vector<Part> found;
  std::ranges::copy_if(parts, std::back_inserter(found),
                       [&](const Part& part) { return part.found->status == status; });
  return found;
}

/// Without a number: as the launch has left it, which is named.
CaseResult given_up(const Part& part, int launches) {
  CaseResult result = *part.found;
  result.samples.clear();
  if (!result.error.empty()) {
    result.error = fmt::format("in {}: {}", launch_name(part.launch, launches), result.error);
  }
  return result;
}

void append_samples(CaseResult& result, const Part& part) {
  for (report::Sample sample : part.found->samples) {
    sample.process = part.launch;
    sample.round += part.first_round;
    result.samples.push_back(std::move(sample));
  }
}

/// The lower of two in the middle.
std::optional<Bound> middle_bound(const std::vector<Part>& parts) {
  std::vector<Bound> bounds;
  for (const Part& part : parts) {
    if (part.found->bound) bounds.push_back(*part.found->bound);
  }
  if (bounds.empty()) return std::nullopt;
  std::ranges::sort(bounds, {}, &Bound::seconds);
  return bounds[(bounds.size() - 1) / 2];
}

/// A launch that did not come to its end may not have looked, and says so.
void take_profile(CaseResult& result, const std::vector<Part>& parts) {
  if (result.profile) return;
  const auto looked =
      std::ranges::find_if(parts, [](const Part& part) { return part.found->profile.has_value(); });
  if (looked == parts.end()) return;
  result.profile = looked->found->profile;
  std::erase_if(result.notes, [](const auto& note) { return note.first == no_timeline; });
}

void note_differences(CaseResult& result, const std::vector<Part>& measured) {
  std::vector<int> others;
  for (const Part& part : measured) {
    if (part.found->kernels != result.kernels) others.push_back(part.launch + 1);
  }
  if (others.empty()) return;
  result.notes.emplace_back(
      "other kernels", fmt::format("than in launch {}: in launch {}", measured.front().launch + 1,
                                   fmt::join(others, ", ")));
}

void note_skips(CaseResult& result, const std::vector<Part>& skipped, int launches) {
  for (const Part& part : skipped) {
    result.notes.emplace_back(fmt::format("skipped in {}", launch_name(part.launch, launches)),
                              part.found->error);
  }
}

CaseResult merged_case(const CaseResult& planned, const std::vector<Part>& parts, int launches) {
  const std::vector<Part> failed = with_status(parts, CaseStatus::failed);
  if (!failed.empty()) return given_up(failed.front(), launches);
  const std::vector<Part> measured = with_status(parts, CaseStatus::measured);
  const std::vector<Part> skipped = with_status(parts, CaseStatus::skipped);
  if (measured.empty() && !skipped.empty()) return given_up(skipped.front(), launches);
  if (measured.empty()) return parts.empty() ? planned : given_up(parts.front(), launches);

  CaseResult result = *measured.front().found;
  result.samples.clear();
  result.statistics.reset();
  result.speedup.reset();
  result.metrics.clear();
  for (const Part& part : measured) {
    append_samples(result, part);
    if (gravity(part.found->stopped_because) > gravity(result.stopped_because)) {
      result.stopped_because = part.found->stopped_because;
    }
    const auto& verification = part.found->verification;
    if (verification && result.verification &&
        verification->largest_error > result.verification->largest_error) {
      result.verification = verification;
    }
  }
  result.bound = middle_bound(measured);
  take_profile(result, measured);
  note_differences(result, measured);
  note_skips(result, skipped, launches);
  return result;
}

}  // namespace

std::vector<CaseResult> merged(const std::vector<CaseResult>& planned,
                               std::span<const LaunchCases> parts, int launches) {
  std::vector<int> first_rounds{0};
  for (const LaunchCases& part : parts) {
    first_rounds.push_back(first_rounds.back() + rounds_of(planned, part));
  }
  std::vector<CaseResult> result;
  for (const CaseResult& one : planned) {
    std::vector<Part> found;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto place = std::ranges::find(parts[i].cases, one.name, &CaseResult::name);
      if (place != parts[i].cases.end()) {
        found.push_back({parts[i].launch, first_rounds[i], &*place});
      }
    }
    result.push_back(merged_case(one, found, launches));
  }
  return result;
}

}  // namespace parbench
