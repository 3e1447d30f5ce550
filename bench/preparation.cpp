// Keeps outputs of references alive exactly as long as a later case needs them.
#include "bench/preparation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/error.h"

namespace parbench {

Preparation::Preparation(const Scenario& scenario, Context& context,
                         const std::vector<CaseSpec>& specs, MakePlanRunner make_runner,
                         std::function<double()> now)
    : scenario_(scenario),
      context_(context),
      specs_(specs),
      make_runner_(std::move(make_runner)),
      now_(std::move(now)) {
  for (const CaseSpec& spec : specs_) {
    std::optional<CaseSpec> reference = scenario_.reference(spec);
    if (reference && reference->name() == spec.name()) reference.reset();
    if (reference) ++uses_left_[reference->name()];
    references_.push_back(std::move(reference));
  }
  find_order();
}

std::optional<std::string> Preparation::reference_name(std::size_t index) const {
  if (!references_[index]) return std::nullopt;
  return references_[index]->name();
}

void Preparation::find_order() {
  std::vector<std::string> groups;  // in the order in which they first appear
  std::map<std::string, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const std::string group = reference_name(i).value_or(specs_[i].name());
    if (!members.contains(group)) groups.push_back(group);
    auto& group_members = members[group];
    const bool leads = !references_[i];
    group_members.insert(leads ? group_members.begin() : group_members.end(), i);
  }
  for (const std::string& group : groups) {
    order_.insert(order_.end(), members[group].begin(), members[group].end());
  }
}

PreparedCase Preparation::run_once(const CaseSpec& spec) {
  context_.begin_case();
  PreparedCase prepared;
  prepared.subject = scenario_.prepare(spec, context_);
  context_.commit();
  prepared.runner = make_runner_(prepared.subject->plan());
  prepared.subject->reset();
  const double begin = now_();
  prepared.execution_seconds = prepared.runner->run().seconds;
  prepared.warm_up_seconds = now_() - begin;
  return prepared;
}

OutputValues Preparation::run_reference(const CaseSpec& reference) {
  const PreparedCase run = run_once(reference);
  OutputValues values = read_outputs(*run.subject);
  if (const auto problem = run.subject->check()) throw Error(*problem);
  return values;
}

const OutputValues& Preparation::reference_outputs(const CaseSpec& reference) {
  const std::string name = reference.name();
  if (const auto found = outputs_.find(name); found != outputs_.end()) return found->second;
  if (!failures_.contains(name)) {
    try {
      return outputs_[name] = run_reference(reference);
    } catch (const OutOfMemory&) {
      throw;
    } catch (const Unsupported&) {
      throw;
    } catch (const std::exception& error) {
      failures_[name] = error.what();
    }
  }
  throw Error(fmt::format("cannot be verified, because its reference {} failed: {}", name,
                          failures_[name]));
}

PreparedCase Preparation::run_and_verify(std::size_t index) {
  const std::optional<CaseSpec>& reference = references_[index];
  if (reference) (void)reference_outputs(*reference);
  PreparedCase prepared = run_once(specs_[index]);
  OutputValues got = read_outputs(*prepared.subject);
  report::Verification comparison;
  if (reference) {
    comparison = compare(got, reference_outputs(*reference), prepared.subject->tolerance());
    comparison.against = reference->name();
  }
  prepared.verification = with_check(*prepared.subject, std::move(comparison));
  const std::string name = specs_[index].name();
  if (!uses_left_.contains(name)) return prepared;
  if (prepared.verification.passed) {
    outputs_[name] = std::move(got);
  } else {
    failures_[name] = prepared.verification.detail;
  }
  return prepared;
}

PreparedCase Preparation::prepare(std::size_t index) {
  try {
    return run_and_verify(index);
  } catch (const std::exception& error) {
    const std::string name = specs_.at(index).name();
    if (uses_left_.contains(name)) failures_[name] = error.what();
    throw;
  }
}

void Preparation::release_reference(std::size_t index) {
  const std::optional<std::string> name = reference_name(index);
  if (!name || --uses_left_.at(*name) > 0) return;
  uses_left_.erase(*name);
  outputs_.erase(*name);
}

}  // namespace parbench
