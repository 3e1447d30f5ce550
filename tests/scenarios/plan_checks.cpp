// Order and memory accesses of plans.
#include "tests/scenarios/plan_checks.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/requests.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/execution/executor.h"

namespace parbench::test {
namespace {

struct Touch {
  BufferView view;
  bool writes = false;
};

/// What the calls of a task touch on the lane with that index among its lanes.
std::vector<Touch> touches_of(const std::vector<Call>& calls, std::size_t lane_index) {
  std::vector<Touch> touches;
  for (const Call& call : calls) {
    if (const auto* copy = std::get_if<CopyCall>(&call)) {
      touches.push_back({copy->destination, true});
      touches.push_back({copy->source, false});
    } else if (const auto* collective = std::get_if<CollectiveCall>(&call)) {
      touches.push_back({collective->data[lane_index], true});
      if (!collective->inputs.empty()) touches.push_back({collective->inputs[lane_index], false});
    } else {
      const auto& op = std::get<OpCall>(call);
      for (std::size_t i = 0; i < op.views.size(); ++i) {
        BufferView view = op.views[i];
        view.bytes = std::min(view.bytes, op.op->arguments()[i].tensor.bytes);
        touches.push_back({view, op.op->arguments()[i].access != Access::read});
      }
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

/// A task on one of its lanes.
struct Part {
  TaskId task = 0;
  std::size_t lane_index = 0;
  LaneId lane = 0;
};

std::vector<Part> parts_of(const Plan& plan) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < plan.graph().tasks.size(); ++i) {
    const std::vector<LaneId>& lanes = plan.graph().tasks[i].lanes;
    for (std::size_t lane_index = 0; lane_index < lanes.size(); ++lane_index) {
      parts.push_back({static_cast<TaskId>(i), lane_index, lanes[lane_index]});
    }
  }
  return parts;
}

/// Whether the second of two parts waits for the first because its task does. Tasks with the same
/// lanes are in order rank by rank.
bool waits_for(const Plan& plan, const Part& first, const Part& second) {
  const Task& task = plan.graph().task(second.task);
  if (std::ranges::find(task.after, first.task) == task.after.end()) return false;
  return first.lane == second.lane || plan.graph().task(first.task).lanes != task.lanes;
}

/// before[i][j]: part j has ended when part i begins.
std::vector<std::vector<bool>> order_of(const Plan& plan, const std::vector<Part>& parts) {
  std::vector<std::vector<bool>> before(parts.size(), std::vector<bool>(parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = i; j-- > 0;) {
      if (before[i][j]) continue;
      if (parts[j].lane != parts[i].lane && !waits_for(plan, parts[j], parts[i])) continue;
      before[i][j] = true;
      for (std::size_t k = 0; k < j; ++k) {
        if (before[j][k]) before[i][k] = true;
      }
    }
  }
  return before;
}

}  // namespace

std::vector<std::string> races(const Plan& plan) {
  const std::vector<Part> parts = parts_of(plan);
  const auto before = order_of(plan, parts);
  std::vector<std::vector<Touch>> touches;
  for (const Part& part : parts) {
    touches.push_back(touches_of(plan.calls(part.task), part.lane_index));
  }
  std::vector<std::string> found;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!before[i][j] && collide(touches[i], touches[j])) {
        found.push_back(plan.graph().task(parts[j].task).name + " / " +
                        plan.graph().task(parts[i].task).name);
      }
    }
  }
  return found;
}

bool is_ordered(const Plan& plan, TaskId before, TaskId after) {
  const std::vector<Part> parts = parts_of(plan);
  const auto order = order_of(plan, parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = 0; j < parts.size(); ++j) {
      if (parts[i].task == after && parts[j].task == before && !order[i][j]) return false;
    }
  }
  return true;
}

TaskId task_named(const Plan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.graph().tasks, name, &Task::name);
  if (found == plan.graph().tasks.end()) {
    ADD_FAILURE() << "no task is named " << name;
    return 0;
  }
  return static_cast<TaskId>(found - plan.graph().tasks.begin());
}

void run_in_order(const Plan& plan) {
  for (std::size_t i = 0; i < plan.calls().size(); ++i) {
    const std::vector<Stream*> streams = plan.streams_of(plan.graph().tasks[i]);
    for (const Call& call : plan.calls()[i]) enqueue(call, streams);
    for (Stream* stream : streams) stream->synchronize();
  }
}

Plan without_calls_of(const Plan& plan, std::size_t skipped) {
  Plan partial;
  for (std::size_t i = 0; i < plan.streams().size(); ++i) {
    const Lane& lane = plan.graph().lanes[i];
    partial.add_lane(lane.name, *plan.streams()[i], lane.kind);
  }
  for (std::size_t i = 0; i < plan.calls().size(); ++i) {
    partial.add(plan.graph().tasks[i], i == skipped ? std::vector<Call>() : plan.calls()[i]);
  }
  return partial;
}

CaseSpec spec_of(const Scenario& scenario, const std::string& strategy,
                 const std::vector<Parameter>& values, int devices, bool alike) {
  Scenario::Request request;
  request.spec.scenario = scenario.name();
  request.spec.strategy = strategy;
  request.device_count = devices;
  request.devices_alike = alike;
  request.has_all_cores = true;
  for (const Axis& axis : scenario.axes()) {
    if (!axis.applies_to(strategy)) continue;
    Parameters& into = axis.identity ? request.spec.parameters : request.spec.hidden;
    if (!axis.quick.empty()) into.set(axis.name, axis.quick.front());
    if (axis.by_devices) into.set(axis.name, axis.by_devices(devices).front());
    const auto given = std::ranges::find(values, axis.name, &Parameter::name);
    if (given == values.end()) continue;
    into.set(axis.name, given->value);
    request.given.push_back(axis.name);
  }
  const auto spec = requested_case(scenario, request);
  if (!spec) ADD_FAILURE() << scenario.name() << "/" << strategy << " makes no case";
  return spec.value_or(request.spec);
}

std::unique_ptr<Case> ready_case(const Scenario& scenario, const CaseSpec& spec, Context& context) {
  Context& own = context_of(spec, context);
  own.begin_case();
  auto subject = prepare_case(scenario, spec, context);
  own.commit();
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
