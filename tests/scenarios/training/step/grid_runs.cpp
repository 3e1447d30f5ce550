// A fresh context for each run, which finds no results of others.
#include "tests/scenarios/training/step/grid_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "bench/execution/verification.h"
#include "kernels/machine/machine.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/support/cpu_devices.h"

namespace parbench::test {
namespace {

/// The outputs of a case, and how much roundings change them.
struct Reference {
  OutputValues outputs;
  Sensitivities sensitivities;
};

Reference reference_of(const Scenario& scenario, const CaseSpec& spec, int devices) {
  const auto context = context_with_shared_cores(devices);
  Reference reference;
  for (const int perturbation : {0, 1, -1, 2, -2}) {
    context->set_perturbation(perturbation);
    const auto subject = ready_case(scenario, spec, *context);
    run_in_order(subject->plan());
    if (perturbation == 0) {
      reference.outputs = read_outputs(*subject);
    } else {
      add_changes(reference.sensitivities, *subject, reference.outputs);
    }
  }
  return reference;
}

/// What is wrong with a run that leaves out a task; empty: nothing.
std::string wrong_without(const Scenario& scenario, const CaseSpec& spec, int devices,
                          std::optional<std::size_t> left_out, const Reference& reference) {
  const auto context = context_with_shared_cores(devices);
  const auto subject = ready_case(scenario, spec, *context);
  if (left_out) {
    run_in_order(without_calls_of(subject->plan(), *left_out));
  } else {
    run_in_order(subject->plan());
  }
  if (const auto wrong = subject->check()) return *wrong;
  const auto verdict =
      compare(subject->outputs(), reference.outputs, subject->tolerance(), reference.sensitivities);
  return verdict.passed ? "" : verdict.detail;
}

}  // namespace

std::vector<std::unique_ptr<Device>> devices_with_shared_cores(int devices) {
  const Machine machine;
  std::vector<std::unique_ptr<Device>> all;
  while (static_cast<int>(all.size()) < devices) {
    std::vector<std::unique_ptr<Device>> one = cpu_devices(1, machine);
    std::ranges::move(one, std::back_inserter(all));
  }
  return all;
}

std::unique_ptr<Context> context_with_shared_cores(int devices) {
  return std::make_unique<Context>(devices_with_shared_cores(devices), Context::Options{.seed = 5});
}

void expect_every_task_needed(const Scenario& scenario, const CaseSpec& spec, int devices,
                              std::size_t every) {
  constexpr std::size_t max_tried = 24;  // each is a run of its own
  const Reference reference = reference_of(scenario, *scenario.reference(spec), devices);
  EXPECT_EQ(wrong_without(scenario, spec, devices, std::nullopt, reference), "") << spec.name();
  const auto context = context_with_shared_cores(devices);
  const auto subject = ready_case(scenario, spec, *context);
  const PlanGraph& graph = subject->plan().graph();
  const std::size_t step = std::max(every, (graph.tasks.size() + max_tried - 1) / max_tried);
  for (std::size_t task = 0; task < graph.tasks.size(); task += step) {
    if (subject->plan().calls()[task].empty()) continue;
    EXPECT_NE(wrong_without(scenario, spec, devices, task, reference), "")
        << spec.name() << " without " << graph.tasks[task].name;
  }
}

}  // namespace parbench::test
