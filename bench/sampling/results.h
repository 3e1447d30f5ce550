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

/// Sets a case's facts before its samples: verification, memory, work and kernels.
void describe_prepared(const PreparedCase& prepared, const CaseSpec& spec, const Context& context,
                       report::CaseResult& result);

/// Returns the kernels of a plan's operations and collectives in the order of first use, with the
/// number of calls of the same name, kernel and way of choosing it. Omits calls without a kernel.
[[nodiscard]] std::vector<report::Kernel> kernels_of(const Plan& plan);

/// Returns a note with the number of kernels that tuning left to the heuristics, because such a
/// case may not use its fastest kernels; nothing if there are none.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> tuning_note(
    const std::vector<report::Kernel>& kernels);

/// A metric of a case, with the other cases of the session that it needs.
struct PairedMetric {
  std::string name;
  std::vector<std::size_t> others;
  CombineRound value;
  std::function<std::string(double value, std::span<const double> medians)> remark;
  std::string unit = {};  // unit of the scenario's Metric
};

/// The cases that one case of a session is compared with, by the indices of the specs.
struct Comparisons {
  std::optional<std::size_t> baseline;  // baseline of its speedup
  std::vector<PairedMetric> metrics;    // metrics whose cases are all in the session
};

/// Returns the comparisons of each spec. Searches names only once per session.
[[nodiscard]] std::vector<Comparisons> comparisons_of(const Scenario& scenario,
                                                      const std::vector<CaseSpec>& specs);

/// Returns the prepared cases whose samples are paired with those of a case: its baseline, and for
/// each metric all cases that it needs or none.
[[nodiscard]] std::vector<std::size_t> compared_with(
    const Comparisons& comparisons, const std::function<bool(std::size_t)>& is_prepared);

/// Status and reason of a case without a time.
struct CaseEnd {
  report::CaseStatus status = report::CaseStatus::failed;
  std::string reason;
};

/// Returns the end of a case that threw: skipped if it is not supported or lacks memory, otherwise
/// failed.
[[nodiscard]] CaseEnd end_of(const std::exception_ptr& thrown);

/// Returns the sampler's input for a prepared case, with the samples of an `earlier` part of the
/// run (may be null). If that part sampled the case to the end, the case has ended.
[[nodiscard]] SamplerCase sampler_case(const PreparedCase& prepared,
                                       const report::CaseResult* earlier);

/// Marks a case with samples as measured and sets its statistics, throughput, efficiency (if it has
/// a bound) and the condition of its devices.
void summarise_case(report::CaseResult& measured);

/// Sets speedups and metrics of `cases`, which are summarised and in the order of the specs.
void compare_cases(const std::vector<Comparisons>& comparisons,
                   std::vector<report::CaseResult>& cases);

/// Returns the metrics of one of `cases`, which are in the order of the specs. A metric is computed
/// from the rounds in which all cases that it needs were sampled, and omitted without such a round.
[[nodiscard]] std::vector<report::Metric> metrics_of(const Comparisons& comparisons,
                                                     const std::vector<report::CaseResult>& cases,
                                                     std::size_t index);

/// Returns the scenario's answer from the measured cases among `cases`, which are in the order of
/// the specs, or why there is none; nothing if there are no cases. If the scenario throws, the text
/// of the answer says so. If a case was measured, the answer has the warnings of answer_warnings.h.
[[nodiscard]] std::optional<report::Answer> answer_of(const Scenario& scenario,
                                                      const std::vector<CaseSpec>& specs,
                                                      const std::vector<report::CaseResult>& cases,
                                                      const AnswerConditions& conditions);

/// Returns the indices of all cases, those in the answer and their baselines first, so that these
/// have profiles if the time ends before all are profiled.
[[nodiscard]] std::vector<std::size_t> profiling_order(const std::vector<report::CaseResult>& cases,
                                                       const std::optional<report::Answer>& answer);

}  // namespace parbench
