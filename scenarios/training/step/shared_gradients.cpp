// Adds the exchange of gradients between two stages.
#include "scenarios/training/step/shared_gradients.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "scenarios/training/completion.h"

namespace parbench {

SharedGradients::SharedGradients(StepTasks& tasks) : tasks_(tasks) {
  for (const GridPoint& point : tasks.step().layout.points()) {
    for (const Stage::TrainedParameter& copy : tasks.stage(point).parameters()) {
      if (!copy.is_copy) continue;
      const std::string& name = copy.spec.name;
      pairs_.push_back({name, owner_of(name, point), {point, copy.gradient}});
      for (const Part& part : {pairs_.back().owner, pairs_.back().copy}) {
        for (Bucket& bucket : tasks.buckets(part.point)) {
          bucket.is_shared |= overlap(bucket.gradients, part.gradient.view);
        }
      }
    }
  }
}

SharedGradients::Part SharedGradients::owner_of(const std::string& name,
                                                const GridPoint& copy) const {
  for (GridPoint point = copy; point.stage-- > 0;) {
    for (const Stage::TrainedParameter& one : tasks_.stage(point).parameters()) {
      if (!one.is_copy && one.spec.name == name) return {point, one.gradient};
    }
  }
  throw std::logic_error("no stage has parameter " + name);
}

void SharedGradients::write() {
  for (const Pair& pair : pairs_) write(pair);
}

/// Each addition waits for both copies: one brings its addend, the other reads the gradient that
/// the addition overwrites.
void SharedGradients::write(const Pair& pair) {
  const auto& [name, owner, copy] = pair;
  Context& context = tasks_.step().context;
  const BufferView to_copy =
      context.borrow(tasks_.stage(copy.point).device(), owner.gradient.view.bytes);
  const BufferView to_owner =
      context.borrow(tasks_.stage(owner.point).device(), copy.gradient.view.bytes);
  const std::vector<TaskId> sent = {send(owner, copy, to_copy, name),
                                    send(copy, owner, to_owner, name)};
  add(owner, to_owner, name, sent);
  add(copy, to_copy, name, sent);
}

TaskId SharedGradients::send(const Part& from, const Part& to, const BufferView& destination,
                             const std::string& name) {
  return tasks_.step().plan.add(
      {.name = fmt::format("send gradient of {}, {} to {}{}", name, tasks_.text(from.point),
                           to.point.stage, tasks_.label(from.point.replica)),
       .kind = TaskKind::copy,
       .lanes = tasks_.lanes_between(from.point, to.point),
       .after = tasks_.completed(from.point, from.gradient.view),
       .cost_key = fmt::format("send gradient of {} to {}", name, to.point.stage),
       .phase = "update"},
      {CopyCall{.destination = destination, .source = from.gradient.view}});
}

void SharedGradients::add(const Part& to, const BufferView& arrived, const std::string& name,
                          std::vector<TaskId> after) {
  TrainingStep& step = tasks_.step();
  Stream& stream = step.context.stream(tasks_.stage(to.point).device(), StreamKind::compute);
  Op& op = step.ops.prepare(stream, Accumulate{.count = element_count(to.gradient.desc.shape)});
  append(after, tasks_.completed(to.point, to.gradient.view));
  const TaskId task =
      step.plan.add({.name = fmt::format("add gradient of {}, {}{}", name, tasks_.text(to.point),
                                         tasks_.label(to.point.replica)),
                     .lanes = {tasks_.compute_lane(to.point)},
                     .after = std::move(after),
                     .cost_key = "add gradient of " + name,
                     .phase = "update"},
                    {bind(op, {{"source", arrived}, {"destination", to.gradient.view}})});
  tasks_.completed(to.point).push_back(task);
  for (Bucket& bucket : tasks_.buckets(to.point)) {
    if (overlap(bucket.gradients, to.gradient.view)) bucket.completed.push_back(task);
  }
}

}  // namespace parbench
