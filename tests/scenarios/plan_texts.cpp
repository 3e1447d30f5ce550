// Prints the plans of cases as text, so that two states of the code can be compared: a line for
// each task, with a number that stands for its calls. Each line of the input names a case:
//   DEVICES DTYPE SCENARIO STRATEGY AXIS=VALUE…
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <iostream>
#include <sstream>
#include <string>

#include "kernels/base/error.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/scenario.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/scenarios/training/step/grid_runs.h"

namespace parbench::test {
namespace {

std::string text_of(const Call& call) {
  if (const auto* op = std::get_if<OpCall>(&call)) {
    std::string text = op->op->name() + " " + op->op->implementation() + " " + op->layer;
    for (const BufferView& view : op->views) text += fmt::format(" {}", view.bytes);
    return text;
  }
  if (const auto* copy = std::get_if<CopyCall>(&call)) {
    return fmt::format("copy {} {}", copy->source.bytes, copy->destination.bytes);
  }
  const auto& collective = std::get<CollectiveCall>(call);
  std::string text = fmt::format("collective {}", static_cast<int>(collective.collective));
  for (const BufferView& view : collective.data) text += fmt::format(" {}", view.bytes);
  return text;
}

void print(const Context& context, Case& subject) {
  const PlanGraph& graph = subject.plan().graph();
  for (const Lane& lane : graph.lanes) fmt::print("lane {} {}\n", lane.name, lane.threads);
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    const Task& task = graph.tasks[i];
    std::string calls;
    for (const Call& call : subject.plan().calls()[i]) calls += text_of(call) + "\n";
    std::vector<std::string> lanes;
    for (const LaneId lane : task.lanes) lanes.push_back(graph.lane(lane).name);
    fmt::print("{} | {} | {} | {} | after {} | {} | {} | {} | {:.6g} | {:.6g} | {} {:x}\n", i,
               task.name, name_of(task.kind), fmt::join(lanes, ","), fmt::join(task.after, ","),
               task.cost_key, task.phase, task.micro_batch.value_or(-1), task.work.flops, task.sent,
               subject.plan().calls()[i].size(), std::hash<std::string>{}(calls));
  }
  for (int device = 0; device < context.device_count(); ++device) {
    fmt::print("memory {} {}\n", device, context.case_bytes(device));
  }
  for (const std::string& race : races(subject.plan())) fmt::print("RACE {}\n", race);
  for (const Output& output : subject.outputs()) fmt::print("output {}\n", output.name);
  fmt::print("checked {}\n", subject.checked());
  fmt::print("amount {} {}\n", subject.amount().value, subject.amount().unit);
  for (const auto& [name, value] : subject.notes()) fmt::print("note {}: {}\n", name, value);
}

void print_case(const Scenario& scenario, const CaseSpec& spec, int devices) {
  Context context(devices_with_shared_cores(devices), {.seed = 5, .measures = false});
  fmt::print("== {} {} {}\n", spec.name(), devices, spec.dtype == DType::f32 ? "f32" : "bf16");
  try {
    context.begin_case();
    const auto subject = prepare_case(scenario, spec, context);
    print(context, *subject);
  } catch (const std::exception& error) {
    fmt::print("error {}\n", error.what());
  }
}

Value value_of(const std::string& text) {
  if (text.find_first_not_of("0123456789") == std::string::npos)
    return std::int64_t{std::stoll(text)};
  if (text.find_first_not_of("0123456789.") == std::string::npos) return std::stod(text);
  return text;
}

void print_line(const ScenarioList& scenarios, const std::string& line) {
  std::istringstream words(line);
  int devices = 0;
  std::string dtype;
  std::string name;
  std::string strategy;
  words >> devices >> dtype >> name >> strategy;
  std::vector<Parameter> values;
  for (std::string word; words >> word;) {
    const std::size_t at = word.find('=');
    values.push_back({word.substr(0, at), value_of(word.substr(at + 1))});
  }
  for (const auto& scenario : scenarios) {
    if (scenario->name() != name) continue;
    try {
      CaseSpec spec = spec_of(*scenario, strategy, values, devices);
      spec.dtype = dtype == "bf16" ? DType::bf16 : DType::f32;
      print_case(*scenario, spec, devices);
      const auto reference = scenario->reference(spec);
      if (reference) print_case(*scenario, *reference, devices);
    } catch (const std::exception& error) {
      fmt::print("== {}\nrefused {}\n", line, error.what());
    }
  }
}

}  // namespace
}  // namespace parbench::test

int main() {
  const parbench::ScenarioList scenarios = parbench::built_in_scenarios();
  for (std::string line; std::getline(std::cin, line);) parbench::test::print_line(scenarios, line);
}
