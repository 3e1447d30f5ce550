#include "bench/sampling/answer_warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <ranges>
#include <set>

#include "kernels/base/units/units.h"
#include "reports/model/disturbances.h"
#include "reports/statistics/statistics.h"

namespace parbench {
namespace {

/// Returns "all 7 cases", "both cases", "3 of 7 cases".
std::string cases_text(std::size_t count, std::size_t all) {
  if (all == 1) return "the case";
  if (count == 2 && all == 2) return "both cases";
  return count == all ? fmt::format("all {}", format_count(all, "case"))
                      : fmt::format("{} of {} cases", count, all);
}

std::size_t measured_count(const std::vector<report::CaseResult>& cases) {
  return static_cast<std::size_t>(
      std::ranges::count(cases, report::CaseStatus::measured, &report::CaseResult::status));
}

std::optional<std::string> throttling_warning(const std::vector<report::CaseResult>& cases) {
  std::vector<std::string> reasons;
  for (const report::CaseResult& one : cases) report::add_throttles(reasons, one);
  if (reasons.empty()) return std::nullopt;
  const auto count = std::ranges::count_if(cases, report::is_throttled);
  return fmt::format("Careful: {} ran on a throttled device ({}).",
                     cases_text(static_cast<std::size_t>(count), measured_count(cases)),
                     fmt::join(reasons, ", "));
}

/// Returns a warning with the largest share of the CPU time that a CPU quota withheld.
std::optional<std::string> quota_warning(const std::vector<report::CaseResult>& cases) {
  const auto count = std::ranges::count_if(cases, report::is_over_quota);
  if (count == 0) return std::nullopt;
  return fmt::format(
      "Careful: a CPU quota withheld up to {} of the CPU time in {}; repeat without it (docker run "
      "without --cpus, systemd without CPUQuota=), or with a larger one.",
      format_percent(std::ranges::max(cases, {}, &report::CaseResult::quota_lost).quota_lost, 0),
      cases_text(static_cast<std::size_t>(count), measured_count(cases)));
}

std::optional<std::string> disturbance_warning(const std::vector<report::CaseResult>& cases) {
  const auto count = std::ranges::count_if(cases, report::are_cores_taken);
  if (count == 0) return std::nullopt;
  const auto taken = [](const report::CaseResult& one) { return report::cores_taken(one); };
  return fmt::format(
      "Careful: other programs took up to {} of the CPU time in {}; repeat on a quiet machine.",
      format_percent(std::ranges::max(cases | std::views::transform(taken)), 0),
      cases_text(static_cast<std::size_t>(count), measured_count(cases)));
}

/// Returns the number of independent values of a case: samples, or processes that took them.
std::size_t values_of(const report::CaseResult& one, bool of_processes) {
  return of_processes ? process_medians(one.samples).size() : one.samples.size();
}

const report::CaseResult& with_fewest_values(const std::vector<report::CaseResult>& cases,
                                             bool of_processes) {
  return *std::ranges::min_element(cases, {}, [&](const report::CaseResult& one) {
    return one.status == report::CaseStatus::measured ? values_of(one, of_processes)
                                                      : std::numeric_limits<std::size_t>::max();
  });
}

/// Returns "2 of 3 cases have fewer than the 6 samples that an interval of 95% needs (fewest: 1)".
std::string few_values_text(const std::vector<report::CaseResult>& cases, bool of_processes,
                            std::size_t fewest) {
  const auto has_few = [&](const report::CaseResult& one) {
    return one.status == report::CaseStatus::measured &&
           values_of(one, of_processes) < needed_values;
  };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(cases, has_few));
  const std::size_t measured = measured_count(cases);
  return fmt::format("{} {} fewer than the {} {} that an interval of {} needs (fewest: {})",
                     cases_text(count, measured), count == 1 ? "has" : "have", needed_values,
                     of_processes ? "processes" : "samples", format_percent(wanted_confidence, 0),
                     fewest);
}

/// Returns a clause with the flag that gives a case more samples; empty if unknown.
std::string remedy_of(const report::CaseResult& fewest) {
  if (fewest.stopped_because == "max-time") return "a longer --max-time gives more";
  return fewest.stopped_because == report::total_time ? "a longer --max-total-time gives more" : "";
}

/// Numbers of cases with the same strategy or the same value of a parameter: all, and those that
/// were left out for lack of time.
struct Share {
  std::string what;  // "b", "n 4000"
  std::size_t cases = 0;
  std::size_t left_out = 0;

  [[nodiscard]] bool is_missing() const { return cases == left_out; }
};

/// Counts the cases by the names that `names` returns for each, in order of first appearance.
template <typename Names>
std::vector<Share> shares_of(const std::vector<report::CaseResult>& cases, Names names) {
  std::vector<Share> shares;
  for (const report::CaseResult& one : cases) {
    for (const std::string& name : names(one)) {
      auto share = std::ranges::find(shares, name, &Share::what);
      if (share == shares.end()) share = shares.insert(share, {.what = name});
      ++share->cases;
      if (report::is_left_out_of_time(one)) ++share->left_out;
    }
  }
  return shares;
}

std::vector<std::string> missing_of(const std::vector<Share>& shares) {
  std::vector<std::string> names;
  for (const Share& share : shares) {
    if (share.is_missing()) names.push_back(share.what);
  }
  return names;
}

/// Returns " (among them all of strategy b and all of n 4000)": strategies of which all cases were
/// left out for lack of time, and parameter values of which all cases of the other strategies were.
/// Empty if there are none, or if all cases were left out.
std::string missing_text(const std::vector<report::CaseResult>& cases) {
  const auto strategy = [](const report::CaseResult& one) { return std::vector{one.strategy}; };
  const std::vector<std::string> strategies = missing_of(shares_of(cases, strategy));
  std::vector<report::CaseResult> others;
  for (const report::CaseResult& one : cases) {
    if (std::ranges::find(strategies, one.strategy) == strategies.end()) others.push_back(one);
  }
  const auto values = [](const report::CaseResult& one) {
    std::vector<std::string> texts;
    for (const auto& [name, value] : one.parameters) {
      texts.push_back(fmt::format("{} {}", name, to_string(value)));
    }
    return texts;
  };
  std::vector<std::string> missing;
  if (!strategies.empty()) {
    missing.push_back(fmt::format("all of {} {}",
                                  strategies.size() == 1 ? "strategy" : "strategies",
                                  format_list(strategies)));
  }
  for (const std::string& value : missing_of(shares_of(others, values))) {
    missing.push_back("all of " + value);
  }
  if (missing.empty() || std::ranges::all_of(cases, report::is_left_out_of_time)) return {};
  return fmt::format(" (among them {})", format_list(missing));
}

/// Returns "20 of 63 cases measured; no time for 41 (among them all of strategy b), 1 failed, 1
/// skipped". A case with the plan of another counts as measured.
std::string coverage_text(const std::vector<report::CaseResult>& cases) {
  const auto count = [&](auto&& predicate) {
    return static_cast<std::size_t>(std::ranges::count_if(cases, predicate));
  };
  const auto ended = [&](report::CaseStatus status) {
    return count([&](const report::CaseResult& one) {
      return one.status == status && !report::has_equal_plan(one) &&
             !report::is_left_out_of_time(one);
    });
  };
  std::vector<std::string> missing;
  const auto add = [&](std::size_t number, std::string text) {
    if (number > 0) missing.push_back(std::move(text));
  };
  const std::size_t left = count(report::is_left_out_of_time);
  add(left, fmt::format("no time for {}{}", left, missing_text(cases)));
  std::size_t others = 0;
  for (const auto& [status, word] : {std::pair(report::CaseStatus::failed, "failed"),
                                     std::pair(report::CaseStatus::skipped, "skipped"),
                                     std::pair(report::CaseStatus::not_run, "not run")}) {
    const std::size_t number = ended(status);
    others += number;
    add(number, fmt::format("{} {}", number, word));
  }
  if (left > 1 && left == cases.size()) return fmt::format("no time for any of {} cases", left);
  return fmt::format("{} of {} measured; {}", cases.size() - left - others,
                     format_count(cases.size(), "case"), fmt::join(missing, ", "));
}

/// Missing baselines of one strategy, and the cases that need them.
struct MissingBaseline {
  std::set<std::string> reasons;
  std::vector<std::string> strategies;  // strategies of cases without a gain
  std::size_t without = 0;              // cases without a gain
  bool has_any = false;                 // whether other cases have a measured baseline
};

/// Returns why a case was not measured; empty if it was.
std::string reason_of(const report::CaseResult& one) {
  switch (one.status) {
    case report::CaseStatus::measured:
      return {};
    case report::CaseStatus::failed:
      return "failed";
    case report::CaseStatus::skipped:
      return "was skipped";
    case report::CaseStatus::not_run:
      break;
  }
  return report::is_left_out_of_time(one) ? "was not measured (out of time)" : "was not measured";
}

/// Returns why the baseline of a measured case is missing; nothing if the baseline was measured.
std::optional<std::string> reason_without_baseline(const Scenario& scenario,
                                                   const std::vector<CaseSpec>& specs,
                                                   const std::vector<report::CaseResult>& cases,
                                                   const CaseSpec& spec) {
  const auto found = std::ranges::find_if(
      specs, [&](const CaseSpec& other) { return scenario.is_baseline_of(other, spec); });
  if (found == specs.end()) return "was not measured (not part of this run)";
  std::string reason = reason_of(cases[static_cast<std::size_t>(found - specs.begin())]);
  if (reason.empty()) return std::nullopt;
  return reason;
}

std::string text_of(std::string_view baseline, const MissingBaseline& missing) {
  const std::string reason =
      missing.reasons.size() == 1 ? *missing.reasons.begin() : "was not measured";
  if (missing.has_any) {
    return fmt::format("Gains are relative to {}, which {} for {}; their gains are unknown.",
                       baseline, reason, format_count(missing.without, "case"));
  }
  return fmt::format("Gains are relative to {}, which {}: the gains of {} are unknown.", baseline,
                     reason, format_list(missing.strategies));
}

}  // namespace

std::optional<std::string> preliminary_warning(const std::vector<report::CaseResult>& cases,
                                               const AnswerConditions& conditions,
                                               bool is_answered) {
  const bool of_processes = conditions.processes > 1;
  const report::CaseResult& fewest = with_fewest_values(cases, of_processes);
  const std::size_t count = values_of(fewest, of_processes);
  const auto left = std::ranges::count_if(cases, report::is_left_out_of_time);
  const bool has_few = is_answered && !conditions.for_profiler && count < needed_values;
  if (!has_few && left == 0) return std::nullopt;
  std::vector<std::string> parts;
  std::string remedy;
  if (has_few) {
    parts.push_back(few_values_text(cases, of_processes, count));
    remedy = of_processes && conditions.processes < static_cast<int>(needed_values)
                 ? fmt::format("--processes {} gives them", needed_values)
                 : remedy_of(fewest);
  }
  if (left > 0) {
    parts.push_back(coverage_text(cases));
    remedy = "a longer --max-total-time measures them";
  }
  if (!remedy.empty()) parts.push_back(remedy);
  return fmt::format("Preliminary: {}.", fmt::join(parts, "; "));
}

std::string undecided_text(const std::vector<report::CaseResult>& cases) {
  const bool lacks_time = std::ranges::any_of(cases, report::is_left_out_of_time);
  return fmt::format("Not decided: {}{}.", coverage_text(cases),
                     lacks_time ? "; a longer --max-total-time measures them" : "");
}

std::optional<std::string> coverage_warning(const std::vector<report::CaseResult>& cases) {
  const auto is_covered = [](const report::CaseResult& one) {
    return one.status == report::CaseStatus::measured || report::has_equal_plan(one);
  };
  const bool is_said = std::ranges::any_of(cases, report::is_left_out_of_time);
  if (is_said || std::ranges::all_of(cases, is_covered)) return std::nullopt;
  return coverage_text(cases) + ".";
}

std::vector<std::string> baseline_warnings(const Scenario& scenario,
                                           const std::vector<CaseSpec>& specs,
                                           const std::vector<report::CaseResult>& cases) {
  std::map<std::string, MissingBaseline> missing;  // by strategy of the baseline
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const CaseSpec& spec = specs[i];
    const std::string baseline(scenario.baseline_strategy_of(spec));
    if (cases[i].status != report::CaseStatus::measured || !scenario.comparable(spec)) continue;
    if (baseline.empty() || spec.strategy == baseline) continue;
    MissingBaseline& one = missing[baseline];
    const auto reason = reason_without_baseline(scenario, specs, cases, spec);
    if (!reason) {
      one.has_any = true;
      continue;
    }
    one.reasons.insert(*reason);
    ++one.without;
    if (std::ranges::find(one.strategies, spec.strategy) == one.strategies.end()) {
      one.strategies.push_back(spec.strategy);
    }
  }
  std::vector<std::string> warnings;
  for (const auto& [baseline, one] : missing) {
    if (one.without > 0) warnings.push_back(text_of(baseline, one));
  }
  return warnings;
}

std::optional<std::string> sharing_warning(const std::vector<report::Device>& devices) {
  const report::DeviceCores cores = report::cores_of(devices);
  if (!cores.are_shared()) return std::nullopt;
  return fmt::format(
      "Careful: the {} share {}, so these times and gains do not apply to devices with separate "
      "cores.",
      format_count(
          std::ranges::count_if(devices, [](const auto& device) { return !device.cores.empty(); }),
          "device"),
      format_count(cores.different, "core"));
}

std::vector<std::string> disturbance_warnings(const std::vector<report::CaseResult>& cases,
                                              const report::Answer& answer) {
  const auto has_load = [](const Recommendation& one) { return one.load > 0; };
  const bool is_said =
      !answer.recommendations.empty() && std::ranges::all_of(answer.recommendations, has_load);
  std::vector<std::string> warnings;
  for (const auto& warning : {throttling_warning(cases), quota_warning(cases),
                              is_said ? std::nullopt : disturbance_warning(cases)}) {
    if (warning) warnings.push_back(*warning);
  }
  return warnings;
}

}  // namespace parbench
