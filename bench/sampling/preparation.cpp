// Keeps outputs of references as long as later cases need them, and not longer.
#include "bench/sampling/preparation.h"

#include <algorithm>
#include <utility>

#include "bench/execution/interrupt.h"
#include "bench/execution/submit_mode.h"
#include "bench/sampling/results.h"
#include "kernels/base/error.h"
#include "scenarios/framework/all_cores.h"

namespace parbench {
namespace {

/// Maximum number of runs that measure roundings. More than two, because changes of the terms of a
/// value near zero may cancel.
constexpr int max_runs_of_sensitivity = 4;

/// Throws the error of a failed reference for a case that needs the reference. The type of the
/// error makes that case end in the same way: skipped or failed.
[[noreturn]] void fail_with_reference(const std::string& name, const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Interrupted&) {
    throw;
  } catch (const OutOfTime&) {
    throw;
  } catch (const TimedOut&) {
    throw;
  } catch (const DeviceLost&) {
    throw;
  } catch (...) {
    const CaseEnd end = end_of(failure);
    const std::string text = unverified_text(name, end.reason);
    if (end.status == report::CaseStatus::skipped) throw Unsupported(text);
    throw Error(text);
  }
}

}  // namespace

Preparation::Preparation(const Scenario& scenario, Context& context,
                         const std::vector<CaseSpec>& specs, MakePlanRunner make_runner,
                         std::function<double()> now, std::function<void()> check_end)
    : scenario_(scenario),
      context_(context),
      specs_(specs),
      make_runner_(std::move(make_runner)),
      now_(std::move(now)),
      check_end_(std::move(check_end)) {
  for (const CaseSpec& spec : specs_) {
    std::optional<CaseSpec> reference = reference_of(scenario_, spec);
    if (reference) ++uses_left_[reference->name()];
    references_.push_back(std::move(reference));
  }
  find_groups();
  find_order();
}

std::optional<std::string> Preparation::reference_name(std::size_t index) const {
  if (!references_[index]) return std::nullopt;
  return references_[index]->name();
}

/// Finds the groups of cases with the same reference, in order of first appearance.
void Preparation::find_groups() {
  std::map<std::string, std::size_t> group_indices;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const auto [found, is_new] =
        group_indices.try_emplace(reference_name(i).value_or(specs_[i].name()), groups_.size());
    if (is_new) groups_.emplace_back();
    std::vector<std::size_t>& group = groups_[found->second];
    const bool leads = !references_[i];
    group.insert(leads ? group.begin() : group.end(), i);
  }
}

void Preparation::find_order() {
  order_.clear();
  for (const auto& group : groups_) order_.insert(order_.end(), group.begin(), group.end());
}

void Preparation::sort_by(const std::function<int(std::size_t)>& key) {
  for (auto& group : groups_) std::ranges::stable_sort(group, {}, key);
  std::ranges::stable_sort(groups_, {}, [&](const auto& group) { return key(group.front()); });
  find_order();
}

void Preparation::sort_groups_by(const std::function<std::size_t(std::size_t)>& key) {
  std::ranges::stable_sort(groups_, {}, [&](const auto& group) { return key(group.front()); });
  find_order();
}

void Preparation::run_once(const CaseSpec& spec) {
  check_end_();
  Context& context = context_of(spec, context_);
  context.begin_case();
  current_.emplace();
  context.with_check(check_end_,
                     [&] { current_->subject = prepare_case(scenario_, spec, context_); });
  check_end_();
  const SubmitMode mode = submit_mode_of(spec, current_->subject->plan());
  context.commit();
  current_->runner = make_runner_(current_->subject->plan(), mode);
  current_->subject->reset();
  check_end_();
  if (mode == SubmitMode::graph) {
    current_->runner->prepare_graph();
    current_->subject->forget();
    current_->subject->reset();
    check_end_();
  }
  const Timing timing = current_->runner->run();
  current_->execution_seconds = timing.seconds;
  current_->warm_up_seconds = timing.wall_seconds;
  check_end_();
}

OutputValues Preparation::run_reference(const CaseSpec& reference) {
  run_once(reference);
  OutputValues values = read_outputs(*current_->subject, std::move(spare_));
  if (const auto problem = current_->subject->check()) throw Error(*problem);
  return values;
}

const OutputValues& Preparation::reference_outputs(const CaseSpec& reference) {
  const std::string name = reference.name();
  if (const auto found = outputs_.find(name); found != outputs_.end()) return found->second;
  if (!failures_.contains(name)) {
    try {
      return outputs_[name] = run_reference(reference);
    } catch (...) {
      failures_[name] = std::current_exception();
    }
  }
  fail_with_reference(name, failures_[name]);
}

/// Returns whether a case is compared with a reference. A case whose reference is its own variant
/// without a graph may have no outputs; then only its check verifies it.
bool Preparation::compares(std::size_t index, const std::vector<Output>& outputs) const {
  return references_[index] && (!outputs.empty() || scenario_.reference(specs_[index]));
}

report::Verification Preparation::verify(std::size_t index) {
  Case& subject = *current_->subject;
  const std::string name = specs_[index].name();
  const bool is_reference = uses_left_.contains(name);
  if (is_reference) outputs_[name] = read_outputs(subject, std::move(spare_));
  const std::vector<Output> outputs = is_reference ? as_outputs(outputs_[name]) : subject.outputs();
  report::Verification comparison;
  if (compares(index, outputs)) {
    const CaseSpec& reference = *references_[index];
    const Tolerance tolerance = tolerance_of_case(specs_[index], subject);
    comparison = compare(outputs, reference_outputs(reference), tolerance,
                         sensitivities_[reference.name()].outputs);
    comparison.against = reference.name();
    if (!tolerance.is_exact() && may_be_rounding(index, comparison)) {
      measure_sensitivity(reference);
      run_once(specs_[index]);
      return verify(index);
    }
  }
  comparison = with_check(subject, std::move(comparison));
  if (is_reference && !comparison.passed) throw_away(name, comparison.detail);
  return comparison;
}

/// Returns whether to measure the effect of roundings on the reference: the error exceeds the
/// tolerance, the reference can be perturbed, and its maximum number of runs is not reached.
bool Preparation::may_be_rounding(std::size_t index, const report::Verification& comparison) const {
  const CaseSpec& reference = *references_[index];
  return comparison.largest_error > 1 && is_perturbed(reference) &&
         sensitivities_.at(reference.name()).runs < max_runs_of_sensitivity;
}

/// Measures how roundings change the outputs of a reference. Opposite changes move a value near
/// zero to either side of zero, so that one of the two runs differs from the unchanged run.
void Preparation::measure_sensitivity(const CaseSpec& reference) {
  Context& context = context_of(reference, context_);
  MeasuredSensitivity& measured = sensitivities_[reference.name()];
  const int number = measured.runs / 2 + 1;
  try {
    for (const int perturbation : {number, -number}) {
      context.set_perturbation(perturbation);
      run_once(reference);
      add_changes(measured.outputs, *current_->subject, outputs_.at(reference.name()));
      ++measured.runs;
    }
  } catch (...) {
    context.set_perturbation(0);
    throw;
  }
  context.set_perturbation(0);
}

void Preparation::throw_away(const std::string& reference, const std::string& reason) {
  outputs_.erase(reference);
  failures_[reference] = std::make_exception_ptr(Error(reason));
}

PreparedCase Preparation::prepare(std::size_t index) {
  const CaseSpec& spec = specs_.at(index);
  try {
    const double begin = now_();
    if (references_[index]) (void)reference_outputs(*references_[index]);
    const double referred = now_() - begin;
    run_once(spec);
    const double executed = now_();
    current_->verification = verify(index);
    current_->verification_seconds = referred + now_() - executed;
    PreparedCase ready = std::move(*current_);
    current_.reset();
    return ready;
  } catch (const TimedOut&) {
    throw;  // keep the case: running work still uses it
  } catch (...) {
    current_.reset();
    if (uses_left_.contains(spec.name())) failures_[spec.name()] = std::current_exception();
    throw;
  }
}

void Preparation::release_reference(std::size_t index) {
  const std::optional<std::string> name = reference_name(index);
  if (!name || --uses_left_.at(*name) > 0) return;
  uses_left_.erase(*name);
  if (const auto found = outputs_.find(*name); found != outputs_.end()) {
    spare_ = std::move(found->second);
    outputs_.erase(found);
  }
  sensitivities_.erase(*name);
}

}  // namespace parbench
