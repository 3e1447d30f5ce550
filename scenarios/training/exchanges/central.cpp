// Adds tasks for towers, and for replication in every step.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "scenarios/training/exchanges/exchanges.h"
#include "scenarios/training/exchanges/transfers.h"
#include "scenarios/training/step/update_writer.h"

namespace parbench {
namespace {

TaskId send_parameters(StepTasks& tasks, int replica, std::vector<TaskId> after) {
  return add_transfer(tasks, "parameters", peer_of(tasks, 0), peer_of(tasks, replica),
                      std::move(after),
                      {.destination = tasks.stage({.replica = replica}).region().parameters,
                       .source = tasks.stage({}).region().parameters});
}

/// Adds the sum of gradients on the first device and the update of its parameters. Returns the task
/// of the update.
TaskId write_central_update(StepTasks& tasks) {
  const BufferView sum = tasks.stage({}).region().gradients;
  tasks.completed({}) = {add_reduction(tasks, peer_of(tasks, 0), sum, true)};
  return UpdateWriter(tasks).write(0).front();
}

class ReplicateWriter {
 public:
  explicit ReplicateWriter(StepTasks& tasks)
      : tasks_(tasks), step_(tasks.step()), count_(step_.layout.grid.replicas) {
    const LossOperation operation = loss_operation();
    loss_ = &step_.ops.prepare(stream_of(step_, tasks.compute_lane({})), operation.desc);
    predictions_ = step_.context.borrow(0, loss_->tensor(operation.prediction).bytes);
    gradients_ = step_.context.borrow(0, loss_->tensor(operation.diff_prediction).bytes);
  }

  void write() {
    std::vector<TaskId> forward;
    for (int r = 0; r < count_; ++r) forward.push_back(add_forward(r));
    std::vector<TaskId> gathered;
    for (int r = 0; r < count_; ++r) {
      gathered.push_back(
          send("predictions", r, 0, {forward[static_cast<std::size_t>(r)]},
               {.destination = part_of(predictions_, r), .source = replica(r).prediction(0).view}));
    }
    const TaskId loss = add_loss(std::move(gathered));
    for (int r = 0; r < count_; ++r) tasks_.completed({.replica = r}) = {add_backward(r, loss)};
    write_central_update(tasks_);
  }

 private:
  [[nodiscard]] Stage& replica(int r) const { return step_.stage({.replica = r}); }
  [[nodiscard]] LossOperation loss_operation() const {
    StageRange whole = replica(0).range();
    return loss_of(whole, whole.batch, false);
  }

  TaskId send(const std::string& what, int from, int to, std::vector<TaskId> after,
              const CopyCall& copy) {
    return add_transfer(tasks_, what, peer_of(tasks_, from), peer_of(tasks_, to), std::move(after),
                        copy);
  }

  /// Returns the part of a tensor of the whole batch with a replica's samples.
  [[nodiscard]] BufferView part_of(const BufferView& whole, int r) const {
    const StepLayout& layout = step_.layout;
    const std::size_t sample = whole.bytes / static_cast<std::size_t>(layout.samples());
    std::int64_t first = 0;
    for (int before = 0; before < r; ++before) first += layout.samples_of(before);
    return whole.part(static_cast<std::size_t>(first) * sample,
                      static_cast<std::size_t>(layout.samples_of(r)) * sample);
  }

  /// Adds a replica's forward pass, after the transfers of parameters and samples from the first
  /// replica to it. Parameters are packed first, because they change in every step.
  TaskId add_forward(int r) {
    std::vector<TaskId> after;
    if (r > 0) {
      after.push_back(send_parameters(tasks_, r, {}));
      after.push_back(send("samples", 0, r, {},
                           {.destination = replica(r).inputs(0).front().values,
                            .source = part_of(replica(0).images().view, r)}));
    }
    std::vector<Call> calls = replica(r).pack();
    append(calls, replica(r).forward(0));
    return step_.plan.add({.name = fmt::format("forward, replica {}", r),
                           .lanes = {tasks_.compute_lane({.replica = r})},
                           .after = std::move(after),
                           .cost_key = "packing and forward",
                           .phase = "forward",
                           .micro_batch = 0},
                          std::move(calls));
  }

  TaskId add_loss(std::vector<TaskId> after) {
    const LossOperation operation = loss_operation();
    return step_.plan.add({.name = "loss",
                           .lanes = {tasks_.compute_lane({})},
                           .after = std::move(after),
                           .phase = "backward"},
                          {bind(*loss_, {{operation.prediction, predictions_},
                                         {"target", replica(0).target().view},
                                         {"loss", replica(0).loss().view},
                                         {operation.diff_prediction, gradients_}})});
  }

  /// Adds the copy of the gradients of predictions to a replica, and its backward pass without the
  /// loss.
  TaskId add_backward(int r, TaskId loss) {
    const TaskId arrived =
        send("gradients of predictions", 0, r, {loss},
             {.destination = replica(r).prediction_gradient(0), .source = part_of(gradients_, r)});
    return step_.plan.add({.name = fmt::format("backward, replica {}", r),
                           .lanes = {tasks_.compute_lane({.replica = r})},
                           .after = {arrived},
                           .cost_key = "backward",
                           .phase = "backward",
                           .micro_batch = 0},
                          replica(r).backward_after_loss(0));
  }

  StepTasks& tasks_;
  TrainingStep& step_;
  int count_;
  Op* loss_ = nullptr;
  // Tensors of the whole batch on the first device:
  BufferView predictions_;
  BufferView gradients_;
};

}  // namespace

void write_tower(StepTasks& tasks) {
  const TaskId updated = write_central_update(tasks);
  for (int r = 1; r < tasks.step().layout.grid.replicas; ++r) {
    send_parameters(tasks, r, {updated});
  }
}

void write_replicate(StepTasks& tasks) { ReplicateWriter(tasks).write(); }

}  // namespace parbench
