// Computes the results in a report from the specs and samples of a session.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/sampling/answer_warnings.h"
#include "bench/sampling/preparation.h"
#include "bench/sampling/sampler.h"
#include "reports/model/report.h"
#include "reports/statistics/statistics.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Fills what is known of a case before its samples: verification, memory, work and kernels.
void describe_prepared(const PreparedCase& prepared, const CaseSpec& spec, const Context& context,
                       report::CaseResult& result);

/// The kernels that a plan's operations run on, in the order of first use; operations with the same
/// name and kernel, chosen in the same way, are counted. Without those that name no kernel.
[[nodiscard]] std::vector<report::Kernel> kernels_of(const Plan& plan);

/// Returns a note with the number of kernels that tuning left to the heuristics: the figures of
/// such a case are not those of its fastest kernels. Nothing where there are none.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> tuning_note(
    const std::vector<report::Kernel>& kernels);

/// A metric of a case, with the other cases of the session that it needs.
struct PairedMetric {
  std::string name;
  std::vector<std::size_t> others;
  CombineRound value;
  std::function<std::string(double value, std::span<const double> medians)> remark;
  std::string unit = {};  // as of the scenario's Metric
};

/// The cases that one case of a session is compared with, by the indices of the specs.
struct Comparisons {
  std::optional<std::size_t> baseline;  // that its speedup is measured against
  std::vector<PairedMetric> metrics;    // those whose cases the session has
};

/// Returns the comparisons of each spec. Searches names once for a session.
[[nodiscard]] std::vector<Comparisons> comparisons_of(const Scenario& scenario,
                                                      const std::vector<CaseSpec>& specs);

/// Returns the prepared cases whose samples are paired with those of a case: its baseline, and for
/// each metric all cases that it needs or none.
[[nodiscard]] std::vector<std::size_t> compared_with(
    const Comparisons& comparisons, const std::function<bool(std::size_t)>& is_prepared);

/// How a case without a number ends, and why.
struct CaseEnd {
  report::CaseStatus status = report::CaseStatus::failed;
  std::string reason;
};

/// Returns how a case ends that threw: skipped where it is not supported or lacks memory, otherwise
/// failed.
[[nodiscard]] CaseEnd end_of(const std::exception_ptr& thrown);

/// Returns what the sampler needs of a prepared case. With the result of an `earlier` part of the
/// run it goes on from there, unless the case had come to its end.
[[nodiscard]] SamplerCase sampler_case(const PreparedCase& prepared,
                                       const report::CaseResult* earlier);

/// Marks a case with samples as measured and fills its statistics, throughput, efficiency (with a
/// bound) and the condition of its devices.
void summarise_case(report::CaseResult& measured);

/// Fills speedups and metrics of `cases`, which are in the order of the specs and summarised.
void compare_cases(const std::vector<Comparisons>& comparisons,
                   std::vector<report::CaseResult>& cases);

/// Returns the metrics of one of `cases`, which are in the order of the specs, from the rounds in
/// which all cases that they need were sampled; omits metrics whose cases were not all measured.
[[nodiscard]] std::vector<report::Metric> metrics_of(const Comparisons& comparisons,
                                                     const std::vector<report::CaseResult>& cases,
                                                     std::size_t index);

/// Returns the scenario's answer from the measured ones of `cases`, which are in the order of the
/// specs, or why there is none; nothing without any case. An answer that throws does not affect the
/// numbers; one from throttled cases, from cases whose cores other programs had, from fewer samples
/// than an interval needs, without baselines, or from samples taken for a profiler, carries a
/// remark.
[[nodiscard]] std::optional<report::Answer> answer_of(const Scenario& scenario,
                                                      const std::vector<CaseSpec>& specs,
                                                      const std::vector<report::CaseResult>& cases,
                                                      const AnswerConditions& conditions);

/// Returns the indices of all cases, those that the answer speaks of and their baselines first:
/// where the time ends before all are profiled, the answer has its reasons.
[[nodiscard]] std::vector<std::size_t> profiling_order(const std::vector<report::CaseResult>& cases,
                                                       const std::optional<report::Answer>& answer);

}  // namespace parbench
