// Order and memory accesses of plans.
#include "tests/scenarios/plan_checks.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace parbench::test {
namespace {

struct Touch {
  BufferView view;
  bool writes = false;
};

std::vector<Touch> touches_of(const Task& task) {
  std::vector<Touch> touches;
  for (const Call& call : task.calls) {
    if (const auto* copy = std::get_if<CopyCall>(&call)) {
      touches.push_back({copy->destination, true});
      touches.push_back({copy->source, false});
      continue;
    }
    const auto& op = std::get<OpCall>(call);
    for (std::size_t i = 0; i < op.views.size(); ++i) {
      BufferView view = op.views[i];
      view.bytes = std::min(view.bytes, op.op->arguments()[i].tensor.bytes);
      touches.push_back({view, op.op->arguments()[i].access != Access::read});
    }
  }
  return touches;
}

bool collide(const Touch& a, const Touch& b) {
  return (a.writes || b.writes) && a.view.buffer == b.view.buffer &&
         a.view.offset < b.view.offset + b.view.bytes &&
         b.view.offset < a.view.offset + a.view.bytes;
}

bool collide(const std::vector<Touch>& a, const std::vector<Touch>& b) {
  return std::ranges::any_of(a, [&](const Touch& one) {
    return std::ranges::any_of(b, [&](const Touch& other) { return collide(one, other); });
  });
}

/// before[i][j]: task j has ended when task i begins.
std::vector<std::vector<bool>> order_of(const Plan& plan) {
  const std::vector<Task>& tasks = plan.tasks();
  std::vector<std::vector<bool>> before(tasks.size(), std::vector<bool>(tasks.size()));
  const auto inherit = [&](std::size_t task, std::size_t from) {
    before[task][from] = true;
    for (std::size_t i = 0; i < from; ++i) {
      if (before[from][i]) before[task][i] = true;
    }
  };
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const TaskId one : tasks[i].after) inherit(i, static_cast<std::size_t>(one));
    for (std::size_t j = i; j-- > 0;) {
      if (tasks[j].lane != tasks[i].lane) continue;
      inherit(i, j);
      break;
    }
  }
  return before;
}

}  // namespace

std::vector<std::string> races(const Plan& plan) {
  const std::vector<Task>& tasks = plan.tasks();
  const auto before = order_of(plan);
  std::vector<std::vector<Touch>> touches;
  std::ranges::transform(tasks, std::back_inserter(touches), touches_of);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!before[i][j] && collide(touches[i], touches[j])) {
        found.push_back(tasks[j].name + " / " + tasks[i].name);
      }
    }
  }
  return found;
}

bool is_ordered(const Plan& plan, TaskId before, TaskId after) {
  return order_of(plan)[static_cast<std::size_t>(after)][static_cast<std::size_t>(before)];
}

TaskId task_named(const Plan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.tasks(), name, &Task::name);
  if (found == plan.tasks().end()) {
    ADD_FAILURE() << "no task is named " << name;
    return 0;
  }
  return static_cast<TaskId>(found - plan.tasks().begin());
}

void run_in_order(const Plan& plan) {
  for (const Task& task : plan.tasks()) {
    Stream& stream = *plan.lanes()[static_cast<std::size_t>(task.lane)].stream;
    for (const Call& call : task.calls) {
      if (const auto* op = std::get_if<OpCall>(&call)) {
        op->op->enqueue(stream, op->views);
      } else {
        stream.copy(std::get<CopyCall>(call).destination, std::get<CopyCall>(call).source);
      }
    }
    stream.synchronize();
  }
}

CaseSpec spec_of(const Scenario& scenario, const std::string& strategy,
                 const std::vector<Parameter>& values, int devices, bool alike) {
  Scenario::Request request;
  request.spec.scenario = scenario.name();
  request.spec.strategy = strategy;
  request.device_count = devices;
  request.devices_alike = alike;
  for (const Axis& axis : scenario.axes()) {
    if (!axis.applies_to(strategy)) continue;
    Parameters& into = axis.identity ? request.spec.parameters : request.spec.hidden;
    if (!axis.quick.empty()) into.set(axis.name, axis.quick.front());
    const auto given = std::ranges::find(values, axis.name, &Parameter::name);
    if (given == values.end()) continue;
    into.set(axis.name, given->value);
    request.given.push_back(axis.name);
  }
  const auto spec = scenario.resolve(request);
  if (!spec) ADD_FAILURE() << scenario.name() << "/" << strategy << " makes no case";
  return spec.value_or(request.spec);
}

std::unique_ptr<Case> ready_case(const Scenario& scenario, const CaseSpec& spec, Context& context) {
  context.begin_case();
  auto subject = scenario.prepare(spec, context);
  context.commit();
  subject->reset();
  return subject;
}

std::vector<float> all_outputs(Case& subject) {
  std::vector<float> all;
  for (const Output& output : subject.outputs()) {
    const std::vector<float> values = output.read();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace parbench::test
