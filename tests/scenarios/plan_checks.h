// What must hold of every plan, and how tests run one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench::test {

/// Pairs of tasks that touch the same memory, at least one of them writing, without an order
/// between them: "product 3 / copy 1". Empty for a plan without data races.
[[nodiscard]] std::vector<std::string> races(const Plan& plan);

/// Whether `before` has always ended when `after` begins.
[[nodiscard]] bool is_ordered(const Plan& plan, TaskId before, TaskId after);

/// The id of the task of that name; fails the test when there is none.
[[nodiscard]] TaskId task_named(const Plan& plan, const std::string& name);

/// Enqueues the tasks one after the other in the order of the plan, waiting for each.
void run_in_order(const Plan& plan);

/// The same plan, of which one task does nothing.
[[nodiscard]] Plan without_calls_of(const Plan& plan, std::size_t skipped);

/// A spec of a scenario from axis values, the others from the quick preset, and resolved. `alike`:
/// whether the devices are.
[[nodiscard]] CaseSpec spec_of(const Scenario& scenario, const std::string& strategy,
                               const std::vector<Parameter>& values, int devices = 1,
                               bool alike = true);

/// Prepared, committed and reset.
[[nodiscard]] std::unique_ptr<Case> ready_case(const Scenario& scenario, const CaseSpec& spec,
                                               Context& context);

/// All outputs, one after the other.
[[nodiscard]] std::vector<float> all_outputs(Case& subject);

}  // namespace parbench::test
