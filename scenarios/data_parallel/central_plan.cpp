// Tasks of towers and of replication in every step.
#include "scenarios/data_parallel/central_plan.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace parbench {
namespace {

class CentralWriter {
 public:
  explicit CentralWriter(DataParallelParts& parts) : parts_(parts), count_(parts.replica_count()) {}

  void write_tower() {
    std::vector<TaskId> forward;
    for (std::size_t r = 0; r < count_; ++r) forward.push_back(add_forward(parts_, r, {}));
    std::vector<TaskId> backward;
    for (std::size_t r = 0; r < count_; ++r) {
      backward.push_back(add_backward(parts_, r, {forward[r]}, last_backward(parts_, r)));
    }
    const TaskId updated = add_update(parts_, 0, add_reduction(backward));
    for (std::size_t r = 1; r < count_; ++r) send_parameters(r, {updated});
  }

  void write_replicate() {
    make_ends();
    std::vector<TaskId> forward;
    for (std::size_t r = 0; r < count_; ++r) forward.push_back(add_fed_forward(r));
    std::vector<TaskId> gathered;
    for (std::size_t r = 0; r < count_; ++r) {
      gathered.push_back(send("predictions", r, 0, {forward[r]},
                              {.destination = part_of(predictions_, r),
                               .source = parts_.replica(r).prediction(0).view}));
    }
    const TaskId loss = add_loss(std::move(gathered));
    std::vector<TaskId> backward;
    for (std::size_t r = 0; r < count_; ++r) {
      const Stage& stage = parts_.replica(r);
      const TaskId arrived =
          send("gradients of predictions", 0, r, {loss},
               {.destination = stage.prediction_gradient(0), .source = part_of(gradients_, r)});
      backward.push_back(add_backward(parts_, r, {arrived}, stage.backward_behind_loss(0)));
    }
    add_update(parts_, 0, add_reduction(backward));
  }

 private:
  TaskId send(const std::string& what, std::size_t from, std::size_t to, std::vector<TaskId> after,
              const CopyCall& copy) {
    return add_transfer(parts_, what, peer_of(parts_, from), peer_of(parts_, to), std::move(after),
                        copy);
  }

  TaskId send_parameters(std::size_t r, std::vector<TaskId> after) {
    return send("parameters", 0, r, std::move(after),
                {.destination = parts_.replica(r).region().parameters,
                 .source = parts_.replica(0).region().parameters});
  }

  /// Brings the gradients of all replicas to the first one, each into memory of its own, and adds
  /// them there. Returns what the update waits for.
  [[nodiscard]] std::vector<TaskId> add_reduction(const std::vector<TaskId>& backward) {
    const BufferView sum = parts_.replica(0).region().gradients;
    Op& add = parts_.ops.prepare(
        parts_.compute_stream(0),
        Accumulate{.count = static_cast<std::int64_t>(sum.bytes / sizeof(float))});
    TaskId last = backward.front();
    for (std::size_t r = 1; r < count_; ++r) {
      const BufferView inbox = parts_.context.borrow(0, sum.bytes);
      const TaskId arrived =
          send("gradients", r, 0, {backward[r]},
               {.destination = inbox, .source = parts_.replica(r).region().gradients});
      last = parts_.plan.add({.name = fmt::format("add gradients of replica {}", r),
                              .kind = TaskKind::communication,
                              .lanes = {parts_.compute[0]},
                              .after = {last, arrived},
                              .cost_key = "add gradients"},
                             {bind(add, {{"source", inbox}, {"destination", sum}})});
    }
    return {last};
  }

  // --- replicate ---

  /// The whole batch's predictions and their gradients, on the first device.
  void make_ends() {
    const LossOperation operation = loss_of(parts_.whole, parts_.whole.batch, false);
    loss_ = &parts_.ops.prepare(parts_.compute_stream(0), operation.desc);
    predictions_ = parts_.context.borrow(0, loss_->tensor(operation.prediction).bytes);
    gradients_ = parts_.context.borrow(0, loss_->tensor(operation.diff_prediction).bytes);
  }

  /// A replica's samples of something of the whole batch.
  [[nodiscard]] BufferView part_of(const BufferView& whole, std::size_t r) const {
    const std::size_t sample = whole.bytes / static_cast<std::size_t>(parts_.whole.batch);
    std::int64_t first = 0;
    for (std::size_t before = 0; before < r; ++before) first += parts_.share(before);
    return whole.part(static_cast<std::size_t>(first) * sample,
                      static_cast<std::size_t>(parts_.share(r)) * sample);
  }

  TaskId add_fed_forward(std::size_t r) {
    if (r == 0) return add_forward(parts_, r, {});
    const TaskId parameters = send_parameters(r, {});
    const TaskId samples = send("samples", 0, r, {},
                                {.destination = parts_.replica(r).inputs(0).front().values,
                                 .source = part_of(parts_.replica(0).images().view, r)});
    return add_forward(parts_, r, {parameters, samples});
  }

  TaskId add_loss(std::vector<TaskId> after) {
    const Stage& lead = parts_.replica(0);
    const LossOperation operation = loss_of(parts_.whole, parts_.whole.batch, false);
    return parts_.plan.add({.name = "loss",
                            .lanes = {parts_.compute[0]},
                            .after = std::move(after),
                            .phase = "backward"},
                           {bind(*loss_, {{operation.prediction, predictions_},
                                          {"target", lead.target().view},
                                          {"loss", lead.loss().view},
                                          {operation.diff_prediction, gradients_}})});
  }

  DataParallelParts& parts_;
  std::size_t count_;
  Op* loss_ = nullptr;
  BufferView predictions_;
  BufferView gradients_;
};

}  // namespace

void plan_tower(DataParallelParts& parts) { CentralWriter(parts).write_tower(); }

void plan_replicate(DataParallelParts& parts) { CentralWriter(parts).write_replicate(); }

}  // namespace parbench
