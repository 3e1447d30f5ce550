#include "bench/run/merged_processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "bench/sampling/profiling_pass.h"
#include "reports/statistics/statistics.h"
#include "scenarios/plan/bounds.h"

namespace parbench {
namespace {

using report::CaseResult;
using report::CaseStatus;

struct Part {
  int process = 0;
  int first_round = 0;
  const CaseResult* found = nullptr;
};

std::string process_name(int process, int processes) {
  return fmt::format("process {} of {}", process + 1, processes);
}

/// Returns the severity of a reason to stop, as its index in ascending order.
int stop_severity(std::string_view stopped_because) {
  static constexpr std::array<std::string_view, 6> order{
      "fixed count", "precision", "total-time", "max-time", "device lost", "unfinished"};
  return static_cast<int>(std::ranges::find(order, stopped_because) - order.begin());
}

/// Returns the number of rounds in which one process sampled a scenario. The cases share the
/// rounds, but a case may end before the last one.
int rounds_of(const std::vector<CaseResult>& planned, const ProcessCases& part) {
  int rounds = 0;
  for (const CaseResult& c : part.cases) {
    if (c.scenario != planned.front().scenario) continue;
    for (const report::Sample& sample : c.samples) rounds = std::max(rounds, sample.round + 1);
  }
  return rounds;
}

/// Returns whether name, parameters, number format and use of a graph are equal.
bool is_same_case(const CaseResult& one, const CaseResult& other) {
  return one.name == other.name && one.parameters == other.parameters && one.dtype == other.dtype &&
         one.graph == other.graph;
}

std::vector<Part> with_status(const std::vector<Part>& parts, CaseStatus status) {
  std::vector<Part> found;
  std::ranges::copy_if(parts, std::back_inserter(found),
                       [&](const Part& part) { return part.found->status == status; });
  return found;
}

/// Returns the case of one process without samples; the error names the process.
CaseResult given_up(const Part& part, int processes) {
  CaseResult result = *part.found;
  result.samples.clear();
  if (!result.error.empty()) {
    result.error = fmt::format("in {}: {}", process_name(part.process, processes), result.error);
  }
  return result;
}

void append_samples(CaseResult& result, const Part& part) {
  for (report::Sample sample : part.found->samples) {
    sample.process = part.process;
    sample.round += part.first_round;
    result.samples.push_back(std::move(sample));
  }
}

/// Returns the bound of the process with the median efficiency (the lower middle one), scaled to an
/// execution of `median` seconds, because processes may run on a machine of varying speed.
std::optional<Bound> middle_bound(const std::vector<Part>& parts, double median) {
  std::vector<const CaseResult*> bounded;
  for (const Part& part : parts) {
    if (part.found->bound && part.found->statistics) bounded.push_back(part.found);
  }
  if (bounded.empty()) return std::nullopt;
  std::ranges::sort(bounded, {}, [](const CaseResult* one) {
    return one->bound->seconds / one->statistics->median;
  });
  const CaseResult& middle = *bounded[(bounded.size() - 1) / 2];
  return scaled(*middle.bound, median / middle.statistics->median);
}

/// Takes the profile of the first process that has one: a process that ended early may have only a
/// note.
void take_profile(CaseResult& result, const std::vector<Part>& parts) {
  if (result.profile) return;
  const auto profiled =
      std::ranges::find_if(parts, [](const Part& part) { return part.found->profile.has_value(); });
  if (profiled == parts.end()) return;
  result.profile = profiled->found->profile;
  std::erase_if(result.notes, [](const auto& note) { return note.first == no_timeline; });
}

void note_differences(CaseResult& result, const std::vector<Part>& measured) {
  std::vector<int> others;
  for (const Part& part : measured) {
    if (part.found->kernels != result.kernels) others.push_back(part.process + 1);
  }
  if (others.empty()) return;
  result.notes.emplace_back("other kernels",
                            fmt::format("than in process {}: in process {}",
                                        measured.front().process + 1, fmt::join(others, ", ")));
}

void note_skips(CaseResult& result, const std::vector<Part>& skipped, int processes) {
  for (const Part& part : skipped) {
    result.notes.emplace_back(fmt::format("skipped in {}", process_name(part.process, processes)),
                              part.found->error);
  }
}

CaseResult merged_case(const CaseResult& planned, const std::vector<Part>& parts, int processes) {
  const std::vector<Part> failed = with_status(parts, CaseStatus::failed);
  if (!failed.empty()) return given_up(failed.front(), processes);
  const std::vector<Part> measured = with_status(parts, CaseStatus::measured);
  const std::vector<Part> skipped = with_status(parts, CaseStatus::skipped);
  if (measured.empty() && !skipped.empty()) return given_up(skipped.front(), processes);
  if (measured.empty()) return parts.empty() ? planned : given_up(parts.front(), processes);

  CaseResult result = *measured.front().found;
  result.samples.clear();
  result.statistics.reset();
  result.speedup.reset();
  result.metrics.clear();
  for (const Part& part : measured) {
    append_samples(result, part);
    if (stop_severity(part.found->stopped_because) > stop_severity(result.stopped_because)) {
      result.stopped_because = part.found->stopped_because;
    }
    const auto& verification = part.found->verification;
    if (verification && result.verification &&
        verification->largest_error > result.verification->largest_error) {
      result.verification = verification;
    }
  }
  result.bound = middle_bound(measured, summarise(Samples(result.samples)).median);
  take_profile(result, measured);
  note_differences(result, measured);
  note_skips(result, skipped, processes);
  return result;
}

}  // namespace

std::vector<CaseResult> merged(const std::vector<CaseResult>& planned,
                               std::span<const ProcessCases> parts, int processes) {
  std::vector<int> first_rounds{0};
  for (const ProcessCases& part : parts) {
    first_rounds.push_back(first_rounds.back() + rounds_of(planned, part));
  }
  std::vector<CaseResult> result;
  for (const CaseResult& one : planned) {
    std::vector<Part> found;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto match = std::ranges::find_if(
          parts[i].cases, [&](const CaseResult& other) { return is_same_case(one, other); });
      if (match != parts[i].cases.end()) {
        found.push_back({parts[i].process, first_rounds[i], &*match});
      }
    }
    result.push_back(merged_case(one, found, processes));
  }
  return result;
}

}  // namespace parbench
