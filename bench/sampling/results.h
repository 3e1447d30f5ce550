// From the specs and samples of a session to what its report says.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/report.h"
#include "reports/statistics/statistics.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// The kernels that a plan's operations run on, in the order of first use; operations with the same
/// name and kernel, chosen in the same way, are counted. Without those that name no kernel.
[[nodiscard]] std::vector<report::Kernel> kernels_of(const Plan& plan);

/// How many of them tuning left to the heuristics, as a note of the case: the figures of such a
/// case are not those of its fastest kernels. Nothing where it left none.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> tuning_note(
    const std::vector<report::Kernel>& kernels);

/// A metric of a case, with the cases of the session that it needs beside it.
struct PairedMetric {
  std::string name;
  std::vector<std::size_t> others;
  CombineRound value;
};

/// What one case of a session is compared with, by the indices of the specs.
struct Comparisons {
  std::optional<std::size_t> baseline;  // that its speedup is measured against
  std::vector<PairedMetric> metrics;    // those whose cases the session has
};

/// Of each spec. Names are searched here, once for a session.
[[nodiscard]] std::vector<Comparisons> comparisons_of(const Scenario& scenario,
                                                      const std::vector<CaseSpec>& specs);

/// The cases whose samples are paired with those of another, as far as they were prepared: its
/// baseline, and all that a metric needs or none of them.
[[nodiscard]] std::vector<std::size_t> compared_with(
    const Comparisons& comparisons, const std::function<bool(std::size_t)>& is_prepared);

/// What follows from the samples of a case that has some, and from its bound if it has one: it is
/// measured, with statistics, throughput, efficiency and the condition of its devices.
void summarise_case(report::CaseResult& measured);

/// Fills speedups and metrics of `cases`, which are in the order of the specs and summarised.
void compare_cases(const std::vector<Comparisons>& comparisons,
                   std::vector<report::CaseResult>& cases);

/// The metrics of one of `cases`, which are in the order of the specs, from the rounds in which all
/// cases that they need were sampled; none of a metric whose cases were not all measured.
[[nodiscard]] std::vector<report::Metric> metrics_of(const Comparisons& comparisons,
                                                     const std::vector<report::CaseResult>& cases,
                                                     std::size_t index);

/// What the scenario says to the measured ones of `cases`, which are in the order of the specs;
/// nothing when none was measured. An answer that throws takes no number with it; one that was
/// drawn from throttled cases, or from the few samples that are taken for a profiler, says so.
[[nodiscard]] std::optional<report::Answer> answer_of(const Scenario& scenario,
                                                      const std::vector<CaseSpec>& specs,
                                                      const std::vector<report::CaseResult>& cases,
                                                      bool for_profiler);

}  // namespace parbench
