#include "bench/sampling/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <new>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "bench/execution/submit_mode.h"
#include "kernels/base/error.h"
#include "reports/model/disturbances.h"
#include "reports/statistics/answer_cases.h"
#include "reports/statistics/conditions.h"
#include "reports/statistics/fastest.h"
#include "scenarios/framework/all_cores.h"

namespace parbench {
namespace {

std::optional<TimeShares> shares_of(const report::CaseResult& measured) {
  if (!measured.profile || measured.profile->deviation) return std::nullopt;
  const TimelineMetrics& metrics = measured.profile->metrics;
  const double time = metrics.span * static_cast<double>(metrics.devices.size());
  if (!(time > 0)) return std::nullopt;
  TimeShares shares;
  for (const DeviceMetrics& one : metrics.devices) {
    shares.compute += one.compute / time;
    shares.exposed += (one.busy - one.compute) / time;
    shares.idle += one.idle / time;
  }
  return shares;
}

CaseOutcome outcome_of(const CaseSpec& spec, const report::CaseResult& measured) {
  CaseOutcome outcome;
  outcome.spec = spec;
  outcome.median_seconds = measured.statistics->median;
  outcome.interval = measured.statistics->median_interval;
  if (measured.bound && !report::is_bound_disproved(measured)) {
    outcome.efficiency = measured.efficiency;
    outcome.critical_path = measured.bound->critical_path;
  }
  outcome.speedup = measured.speedup;
  outcome.shares = shares_of(measured);
  if (report::has_several_processes(measured)) {
    outcome.processes = static_cast<int>(process_medians(measured.samples).size());
  }
  for (const report::Metric& metric : measured.metrics) {
    outcome.metrics[metric.name] = {.value = metric.value, .interval = metric.interval};
  }
  for (const report::DeviceMemory& held : measured.memory) {
    outcome.memory.push_back(static_cast<double>(held.bytes));
  }
  return outcome;
}

/// Sets the load on the cores. Sets the minimum speedup if the load took at least `min_cost` of the
/// baseline's time: the speedup over the baseline without the load. Sets the maximum speedup if the
/// load took as much of the case's time: the speedup of the case without the load.
void add_load(CaseOutcome& outcome, const report::CaseResult& measured,
              const report::CaseResult& baseline) {
  /// A smaller share of the time changes a ratio by less than the minimum gain.
  constexpr double min_cost = 0.05;
  outcome.load = std::max(report::cores_taken(measured), report::cores_taken(baseline));
  const auto ratio = [&](Samples before, Samples own) -> std::optional<Ratio> {
    const auto median = paired_ratio(before, own);
    if (!median) return std::nullopt;
    return Ratio{median->value, median->interval, baseline.name};
  };
  if (report::load_cost(baseline) >= min_cost) {
    outcome.min_speedup = ratio(report::samples_without_load(baseline), measured.samples);
  }
  if (report::load_cost(measured) >= min_cost) {
    outcome.max_speedup = ratio(baseline.samples, report::samples_without_load(measured));
  }
}

/// Returns the number of cores of all devices for a case with a number of devices among its
/// parameters, otherwise of the first device.
std::size_t cores_of_case(const CaseSpec& spec, const std::vector<report::Device>& devices) {
  if (devices.empty()) return 0;
  const bool uses_all = spec.parameters.find(devices_parameter) != nullptr;
  return uses_all ? report::cores_of(devices).different : devices.front().cores.size();
}

/// The measured cases of a scenario, as input of its answer.
class MeasuredCases {
 public:
  void add(const CaseSpec& spec, const report::CaseResult& measured,
           const std::vector<report::Device>& devices,
           const std::vector<report::CaseResult>& cases) {
    CaseOutcome& outcome = outcomes_.emplace_back(outcome_of(spec, measured));
    outcome.cores = cores_of_case(spec, devices);
    outcome.load = report::cores_taken(measured);
    if (measured.speedup) {
      const auto baseline =
          std::ranges::find(cases, measured.speedup->baseline, &report::CaseResult::name);
      if (baseline != cases.end()) add_load(outcome, measured, *baseline);
    }
    samples_.emplace_back(measured.samples);
  }

  [[nodiscard]] const std::vector<CaseOutcome>& outcomes() const { return outcomes_; }

  /// `some`: pointers to outcomes of this object.
  [[nodiscard]] std::vector<const CaseOutcome*> possibly_fastest(
      const std::vector<const CaseOutcome*>& some) const {
    std::vector<Samples> samples;
    for (const CaseOutcome* one : some) {
      samples.push_back(samples_.at(static_cast<std::size_t>(one - outcomes_.data())));
    }
    std::vector<const CaseOutcome*> fastest;
    for (const std::size_t index : parbench::possibly_fastest(samples)) {
      fastest.push_back(some[index]);
    }
    return fastest;
  }

 private:
  std::vector<CaseOutcome> outcomes_;
  std::vector<Samples> samples_;
};

/// Returns the median of each case over the rounds in which all of them were sampled.
std::vector<double> medians_of(const std::vector<Samples>& cases) {
  std::vector<double> medians;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto own = [i](std::span<const double> seconds, auto) { return seconds[i]; };
    medians.push_back(paired_median(cases, own).value().value);
  }
  return medians;
}

std::optional<std::size_t> baseline_of(const Scenario& scenario, const std::vector<CaseSpec>& specs,
                                       const CaseSpec& spec) {
  if (!scenario.comparable(spec)) return std::nullopt;
  const auto found = std::ranges::find_if(
      specs, [&](const CaseSpec& candidate) { return scenario.is_baseline_of(candidate, spec); });
  if (found == specs.end()) return std::nullopt;
  return static_cast<std::size_t>(found - specs.begin());
}

/// Returns the indices of the specs' names; nothing if one is missing.
std::optional<std::vector<std::size_t>> indices_of(
    const std::vector<CaseSpec>& others, const std::map<std::string, std::size_t>& indices) {
  std::vector<std::size_t> found;
  for (const CaseSpec& other : others) {
    const auto index = indices.find(other.name());
    if (index == indices.end()) return std::nullopt;
    found.push_back(index->second);
  }
  return found;
}

constexpr std::string_view by_measuring = "measuring";
constexpr std::string_view by_heuristics = "heuristics";

std::string text_of(ChosenBy by) {
  constexpr std::array<std::string_view, 3> texts{"", by_measuring, by_heuristics};
  return std::string(texts.at(static_cast<std::size_t>(by)));
}

/// Returns the kernel of a call, without a count; empty for a copy.
report::Kernel kernel_of(const Call& call) {
  if (const auto* operation = std::get_if<OpCall>(&call)) {
    const Op& op = *operation->op;
    return {op.name(), op.implementation(), 0, text_of(op.chosen_by())};
  }
  if (const auto* collective = std::get_if<CollectiveCall>(&call)) {
    return {
        std::string(name_of(collective->collective)),
        collective->communicator->method(collective->collective, collective->data.front().bytes)};
  }
  return {};
}

}  // namespace

void describe_prepared(const PreparedCase& prepared, const CaseSpec& spec, const Context& context,
                       report::CaseResult& result) {
  result.verification = prepared.verification;
  for (int device = 0; device < context.device_count(); ++device) {
    result.memory.push_back({context.device(device).info().name, context.case_bytes(device)});
  }
  const Amount amount = prepared.subject->amount();
  result.amount = amount.value;
  result.amount_unit = amount.unit;
  result.submit = submit_mode_of(spec, prepared.subject->plan());
  const Work work = prepared.subject->plan().graph().work();
  result.flops = work.flops;
  result.bytes = work.bytes;
  result.kernels = kernels_of(prepared.subject->plan());
  result.notes = prepared.subject->notes();
  if (auto note = tuning_note(result.kernels)) result.notes.push_back(*std::move(note));
}

std::vector<report::Kernel> kernels_of(const Plan& plan) {
  std::vector<report::Kernel> kernels;
  std::map<std::array<std::string, 3>, std::size_t> indices;
  for (const std::vector<Call>& calls : plan.calls()) {
    for (const Call& call : calls) {
      const report::Kernel kernel = kernel_of(call);
      if (kernel.implementation.empty()) continue;
      const auto [known, is_new] = indices.try_emplace(
          {kernel.operation, kernel.implementation, kernel.chosen_by}, kernels.size());
      if (is_new) kernels.push_back(kernel);
      ++kernels[known->second].count;
    }
  }
  return kernels;
}

std::optional<std::pair<std::string, std::string>> tuning_note(
    const std::vector<report::Kernel>& kernels) {
  int measured = 0;
  int left = 0;
  for (const report::Kernel& kernel : kernels) {
    if (kernel.chosen_by == by_measuring) measured += kernel.count;
    if (kernel.chosen_by == by_heuristics) left += kernel.count;
  }
  if (left == 0) return std::nullopt;
  return std::pair{"autotune", fmt::format("{} of {} kernels not chosen by measuring, for lack of "
                                           "time or memory to measure them",
                                           left, measured + left)};
}

std::vector<Comparisons> comparisons_of(const Scenario& scenario,
                                        const std::vector<CaseSpec>& specs) {
  std::map<std::string, std::size_t> indices;
  for (std::size_t i = 0; i < specs.size(); ++i) indices.emplace(specs[i].name(), i);
  std::vector<Comparisons> all;
  for (const CaseSpec& spec : specs) {
    Comparisons& one = all.emplace_back();
    one.baseline = baseline_of(scenario, specs, spec);
    for (Metric& metric : scenario.metrics(spec)) {
      auto others = indices_of(metric.others, indices);
      if (!others) continue;
      one.metrics.push_back({std::move(metric.name), std::move(*others), std::move(metric.value),
                             std::move(metric.remark), std::move(metric.unit)});
    }
  }
  return all;
}

std::vector<std::size_t> compared_with(const Comparisons& comparisons,
                                       const std::function<bool(std::size_t)>& is_prepared) {
  std::vector<std::size_t> others;
  if (comparisons.baseline && is_prepared(*comparisons.baseline)) {
    others.push_back(*comparisons.baseline);
  }
  for (const PairedMetric& metric : comparisons.metrics) {
    if (!std::ranges::all_of(metric.others, is_prepared)) continue;
    others.insert(others.end(), metric.others.begin(), metric.others.end());
  }
  return others;
}

CaseEnd end_of(const std::exception_ptr& thrown) {
  using enum report::CaseStatus;
  try {
    std::rethrow_exception(thrown);
  } catch (const Unsupported& error) {
    return {skipped, error.what()};
  } catch (const OutOfMemory& error) {
    return {skipped, error.what()};
  } catch (const std::bad_alloc&) {
    return {skipped, "out of memory on the host; use a smaller case"};
  } catch (const std::exception& error) {
    return {failed, error.what()};
  } catch (...) {
    return {failed, "an exception that is not a std::exception"};
  }
}

SamplerCase sampler_case(const PreparedCase& prepared, const report::CaseResult* earlier) {
  SamplerCase result{prepared.execution_seconds, prepared.warm_up_seconds};
  if (earlier == nullptr) return result;
  result.samples = earlier->samples;
  if (!report::is_unfinished(*earlier)) result.stopped_because = earlier->stopped_because;
  return result;
}

void summarise_case(report::CaseResult& measured) {
  if (measured.samples.empty()) return;
  measured.status = report::CaseStatus::measured;
  measured.statistics = summarise(Samples(measured.samples));
  report::summarise_conditions(measured);
  const double median_seconds = measured.statistics->median;
  if (!(median_seconds > 0)) return;
  measured.throughput = measured.amount / median_seconds;
  if (measured.bound) measured.efficiency = measured.bound->seconds / median_seconds;
}

void compare_cases(const std::vector<Comparisons>& comparisons,
                   std::vector<report::CaseResult>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    report::CaseResult& one = cases[i];
    if (one.samples.empty()) continue;
    if (comparisons[i].baseline) {
      const report::CaseResult& baseline = cases[*comparisons[i].baseline];
      const auto ratio = paired_ratio(Samples(baseline.samples), Samples(one.samples));
      if (ratio) one.speedup = {ratio->value, ratio->interval, baseline.name};
    }
    one.metrics = metrics_of(comparisons[i], cases, i);
  }
}

std::vector<report::Metric> metrics_of(const Comparisons& comparisons,
                                       const std::vector<report::CaseResult>& cases,
                                       std::size_t index) {
  std::vector<report::Metric> metrics;
  for (const PairedMetric& metric : comparisons.metrics) {
    std::vector<Samples> samples{cases[index].samples};
    for (const std::size_t other : metric.others) samples.emplace_back(cases[other].samples);
    const auto median = paired_median(samples, metric.value);
    if (!median) continue;
    metrics.push_back({.name = metric.name,
                       .value = median->value,
                       .interval = median->interval,
                       .unit = metric.unit});
    if (metric.remark) {
      metrics.back().remark = metric.remark(median->value, medians_of(samples));
    }
  }
  return metrics;
}

std::optional<report::Answer> answer_of(const Scenario& scenario,
                                        const std::vector<CaseSpec>& specs,
                                        const std::vector<report::CaseResult>& cases,
                                        const AnswerConditions& conditions) {
  MeasuredCases measured;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (cases[i].status == report::CaseStatus::measured) {
      measured.add(specs[i], cases[i], conditions.devices, cases);
    }
  }
  if (cases.empty()) return std::nullopt;
  report::Answer answer{std::string(scenario.name()), std::string(scenario.question())};
  if (measured.outcomes().empty()) {
    answer.text = undecided_text(cases);
    return answer;
  }
  bool is_answered = true;
  try {
    Conclusion conclusion = scenario.answer(
        measured.outcomes(), [&](const auto& some) { return measured.possibly_fastest(some); });
    answer.text = std::move(conclusion.text);
    answer.recommendations = std::move(conclusion.recommendations);
    is_answered = conclusion.is_answered;
  } catch (const std::exception& error) {
    answer.text = fmt::format(
        "The measurements are valid, but the answer could not be computed: {}", error.what());
  }
  const auto preliminary = preliminary_warning(cases, conditions, is_answered);
  answer.preliminary = preliminary.has_value();
  if (preliminary) answer.warnings.push_back(*preliminary);
  if (const auto shared = sharing_warning(conditions.devices)) answer.warnings.push_back(*shared);
  if (const auto coverage = coverage_warning(cases)) answer.warnings.push_back(*coverage);
  std::ranges::move(baseline_warnings(scenario, specs, cases), std::back_inserter(answer.warnings));
  std::ranges::move(disturbance_warnings(cases, answer), std::back_inserter(answer.warnings));
  if (conditions.for_profiler) answer.warnings.emplace_back(profiler_warning);
  return answer;
}

std::vector<std::size_t> profiling_order(const std::vector<report::CaseResult>& cases,
                                         const std::optional<report::Answer>& answer) {
  std::set<std::string> first;
  if (answer) {
    first = report::cases_of_answer(*answer, cases);
    for (const Recommendation& one : answer->recommendations) {
      if (one.gaining) first.insert(one.gaining->name);
      if (one.gain) first.insert(one.gain->baseline);
    }
  }
  std::vector<std::size_t> order(cases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_partition(order,
                                [&](std::size_t i) { return first.contains(cases[i].name); });
  return order;
}

}  // namespace parbench
