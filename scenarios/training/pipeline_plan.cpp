// Writing a schedule down as tasks.
#include "scenarios/training/pipeline_plan.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace parbench {
namespace {

/// One end of a boundary between stages: where a micro-batch's tensor lies on that device, in the
/// device's layout.
struct BoundaryEnd {
  const Stage& stage;
  TensorDesc desc;
  BufferView view;
};

/// The way of one micro-batch's tensors over a boundary.
struct Crossing {
  std::vector<Call> pack;    // on the sender
  std::vector<Call> copies;  // one for each tensor
  std::vector<Call> unpack;  // on the receiver
  std::size_t bytes = 0;
};

void append(std::vector<Call>& to, std::vector<Call> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

class StepWriter {
 public:
  StepWriter(CaseParts& parts, const std::vector<std::unique_ptr<Stage>>& stages,
             const std::vector<std::int64_t>& micro_batches)
      : parts_(parts),
        stages_(stages),
        micro_batches_(micro_batches),
        started_backward_(stages.size(), false) {
    for (const auto& stage : stages) {
      compute_.push_back(add_lane(parts, stage->device(), StreamKind::compute));
    }
    if (stages.size() == 1) return;
    for (const auto& stage : stages) {
      copy_.push_back(add_lane(parts, stage->device(), StreamKind::copy));
    }
  }

  void write_packing() {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      std::vector<Call> calls = stages_[s]->pack();
      if (calls.empty()) continue;
      parts_.plan.add({.name = fmt::format("pack parameters, stage {}", s),
                       .lanes = {compute_[s]},
                       .cost_key = "pack"},
                      std::move(calls));
    }
  }

  void write(const PlacedAction& placed) {
    if (placed.action.pass == Pass::forward) {
      write_forward(placed.stage, placed.action.micro_batch);
    } else {
      write_backward(placed.stage, placed.action.micro_batch);
    }
  }

  /// Of a parameter that a stage has a copy of: each of both stages adds what the other has
  /// computed, so that they get the same sum.
  void write_exchanges() {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      for (const Stage::TrainedParameter& copy : stages_[s]->parameters()) {
        if (copy.is_copy)
          write_exchange(owner_of(copy.spec.name), {s, copy.gradient}, copy.spec.name);
      }
    }
  }

  void write_updates() {
    if (stages_.front()->optimizer().clips()) {
      write_clipped_updates();
      return;
    }
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      write_update(s, backward_[static_cast<int>(s)], {});
    }
  }

 private:
  /// A parameter's gradient as one stage has computed it.
  struct PartOfGradient {
    std::size_t stage = 0;
    Tensor gradient;
  };

  [[nodiscard]] PartOfGradient owner_of(const std::string& name) const {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      for (const Stage::TrainedParameter& one : stages_[s]->parameters()) {
        if (!one.is_copy && one.spec.name == name) return {s, one.gradient};
      }
    }
    throw std::logic_error("no stage has parameter " + name);
  }

  /// Both copies have ended before either sum overwrites what they read.
  void write_exchange(const PartOfGradient& owner, const PartOfGradient& copy,
                      const std::string& name) {
    const BufferView to_copy =
        parts_.context.borrow(stages_[copy.stage]->device(), owner.gradient.view.bytes);
    const BufferView to_owner =
        parts_.context.borrow(stages_[owner.stage]->device(), copy.gradient.view.bytes);
    const std::vector<TaskId> sent = {send_gradient(owner, copy.stage, to_copy, name),
                                      send_gradient(copy, owner.stage, to_owner, name)};
    add_gradient(owner, to_owner, name, sent);
    add_gradient(copy, to_copy, name, sent);
  }

  [[nodiscard]] TaskId send_gradient(const PartOfGradient& from, std::size_t to,
                                     const BufferView& destination, const std::string& name) {
    return parts_.plan.add(
        {.name = fmt::format("send gradient of {}, stage {} to {}", name, from.stage, to),
         .kind = TaskKind::copy,
         .lanes = {lane_between(static_cast<int>(from.stage), static_cast<int>(to))},
         .after = backward_[static_cast<int>(from.stage)],
         .cost_key = fmt::format("send gradient of {} to {}", name, to),
         .phase = "update"},
        {CopyCall{.destination = destination, .source = from.gradient.view}});
  }

  void add_gradient(const PartOfGradient& to, const BufferView& arrived, const std::string& name,
                    std::vector<TaskId> after) {
    Stream& stream = parts_.context.stream(stages_[to.stage]->device(), StreamKind::compute);
    Op& op = parts_.ops.prepare(stream, Accumulate{.count = element_count(to.gradient.desc.shape)});
    std::vector<TaskId>& backward = backward_[static_cast<int>(to.stage)];
    after.insert(after.end(), backward.begin(), backward.end());
    backward.push_back(
        parts_.plan.add({.name = fmt::format("add gradient of {}, stage {}", name, to.stage),
                         .lanes = {compute_[to.stage]},
                         .after = std::move(after),
                         .cost_key = "add gradient of " + name,
                         .phase = "update"},
                        {bind(op, {{"source", arrived}, {"destination", to.gradient.view}})}));
  }

  /// `before`: the calls that the update begins with.
  void write_update(std::size_t s, std::vector<TaskId> after, std::vector<Call> before) {
    append(before, stages_[s]->update().update());
    parts_.plan.add({.name = fmt::format("update, stage {}", s),
                     .lanes = {compute_[s]},
                     .after = std::move(after),
                     .cost_key = "update",
                     .phase = "update"},
                    std::move(before));
  }

  /// Every stage gets the squared norms of all stages, and computes the factor itself: from the
  /// same numbers in the same order.
  void write_clipped_updates() {
    const std::size_t count = stages_.size();
    std::vector<BufferView> norms;  // of all stages, on each stage's device
    std::vector<std::vector<TaskId>> arrived(count);
    std::vector<TaskId> computed;
    for (std::size_t s = 0; s < count; ++s) {
      norms.push_back(parts_.context.borrow(stages_[s]->device(), count * sizeof(float)));
      computed.push_back(parts_.plan.add({.name = fmt::format("squared norm, stage {}", s),
                                          .lanes = {compute_[s]},
                                          .after = backward_[static_cast<int>(s)],
                                          .cost_key = "squared norm",
                                          .phase = "update"},
                                         stages_[s]->update().squared_norm(norm_of(norms[s], s))));
    }
    for (std::size_t from = 0; from < count; ++from) {
      for (std::size_t to = 0; to < count; ++to) {
        if (from == to) continue;
        arrived[to].push_back(
            parts_.plan.add({.name = fmt::format("send squared norm, stage {} to {}", from, to),
                             .kind = TaskKind::copy,
                             .lanes = {lane_between(static_cast<int>(from), static_cast<int>(to))},
                             .after = {computed[from]},
                             .cost_key = fmt::format("send squared norm to {}", to),
                             .phase = "update"},
                            {CopyCall{.destination = norm_of(norms[to], from),
                                      .source = norm_of(norms[from], from)}}));
      }
    }
    for (std::size_t s = 0; s < count; ++s) {
      arrived[s].push_back(computed[s]);
      write_update(s, std::move(arrived[s]),
                   stages_[s]->update().clip(norms[s], static_cast<int>(count)));
    }
  }

  [[nodiscard]] static BufferView norm_of(const BufferView& norms, std::size_t stage) {
    return norms.part(stage * sizeof(float), sizeof(float));
  }

  [[nodiscard]] std::int64_t samples(int micro_batch) const {
    return micro_batches_[static_cast<std::size_t>(micro_batch)];
  }

  /// Memory in canonical order at one end, and the reorder that brings the tensor there or from
  /// there; the end itself where it is canonical already.
  [[nodiscard]] BufferView canonical_end(const BoundaryEnd& end, bool sends,
                                         std::vector<Call>& reorders) {
    const TensorDesc plain = canonical(end.desc.shape, end.desc.dtype);
    if (end.desc == plain) return end.view;
    const BufferView staging = parts_.context.borrow(end.stage.device(), plain.bytes);
    Stream& stream = parts_.context.stream(end.stage.device(), StreamKind::compute);
    Op& op = parts_.ops.prepare(stream, sends ? Reorder{.source = end.desc, .destination = plain}
                                              : Reorder{.source = plain, .destination = end.desc});
    reorders.emplace_back(bind(
        op, {{"source", sends ? end.view : staging}, {"destination", sends ? staging : end.view}}));
    return staging;
  }

  void cross(const BoundaryEnd& from, const BoundaryEnd& to, Crossing& crossing) {
    const bool alike = from.desc == to.desc;
    CopyCall copy;
    copy.source = alike ? from.view : canonical_end(from, true, crossing.pack);
    copy.destination = alike ? to.view : canonical_end(to, false, crossing.unpack);
    crossing.bytes += copy.source.bytes;
    crossing.copies.emplace_back(copy);
  }

  /// The activations of a micro-batch from a stage to the next.
  [[nodiscard]] Crossing cross_forward(const Stage& stage, const Stage& next, int micro_batch) {
    Crossing crossing;
    const std::vector<Stage::Passing> to = next.inputs(micro_batch);
    for (std::size_t i = 0; const Stage::Passing& from : stage.outputs(micro_batch)) {
      cross({stage, from.desc, from.values}, {next, to[i].desc, to[i].values}, crossing);
      ++i;
    }
    return crossing;
  }

  /// Their gradients from a stage to the previous one.
  [[nodiscard]] Crossing cross_backward(const Stage& stage, const Stage& previous,
                                        int micro_batch) {
    Crossing crossing;
    const std::vector<Stage::Passing> to = previous.outputs(micro_batch);
    for (std::size_t i = 0; const Stage::Passing& from : stage.inputs(micro_batch)) {
      if (from.gradient.bytes > 0) {
        cross({stage, from.desc, from.gradient}, {previous, to[i].desc, to[i].gradient}, crossing);
      }
      ++i;
    }
    return crossing;
  }

  [[nodiscard]] LaneId lane_between(int from, int to) const {
    return copying_lane(parts_.plan, copy_[static_cast<std::size_t>(from)],
                        copy_[static_cast<std::size_t>(to)]);
  }

  void send(const char* what, int from, int to, int micro_batch, TaskId produced,
            Crossing crossing) {
    const TaskId task =
        parts_.plan.add({.name = fmt::format("send {}, micro-batch {}, stage {} to {}", what,
                                             micro_batch, from, to),
                         .kind = TaskKind::copy,
                         .lanes = {lane_between(from, to)},
                         .after = {produced},
                         .cost_key = fmt::format("send {} {} to {}", what, crossing.bytes, to),
                         .micro_batch = micro_batch},
                        std::move(crossing.copies));
    arrivals_[{to, micro_batch}] = {task, std::move(crossing.unpack)};
  }

  /// Makes a task of the stage wait for what the stage has been sent for the micro-batch. Returns
  /// the calls that unpack it, which the task begins with.
  [[nodiscard]] std::vector<Call> receive(int s, int micro_batch, Task& task) const {
    const Arrival& arrival = arrivals_.at({s, micro_batch});
    task.after.push_back(arrival.task);
    return arrival.unpack;
  }

  void write_forward(int s, int micro_batch) {
    const Stage& stage = *stages_[static_cast<std::size_t>(s)];
    Task task{.name = fmt::format("forward, micro-batch {}, stage {}", micro_batch, s),
              .lanes = {compute_[static_cast<std::size_t>(s)]},
              .cost_key = fmt::format("forward {}", samples(micro_batch)),
              .phase = "forward",
              .micro_batch = micro_batch};
    std::vector<Call> calls;
    if (s > 0) calls = receive(s, micro_batch, task);
    append(calls, stage.forward(micro_batch));
    const bool sends = s + 1 < static_cast<int>(stages_.size());
    Crossing crossing;
    if (sends) {
      crossing = cross_forward(stage, *stages_[static_cast<std::size_t>(s) + 1], micro_batch);
      append(calls, crossing.pack);
    }
    const TaskId id = parts_.plan.add(std::move(task), std::move(calls));
    forward_[{s, micro_batch}] = id;
    if (sends) send("activations", s, s + 1, micro_batch, id, std::move(crossing));
  }

  void write_backward(int s, int micro_batch) {
    const Stage& stage = *stages_[static_cast<std::size_t>(s)];
    const bool first = !started_backward_[static_cast<std::size_t>(s)];
    started_backward_[static_cast<std::size_t>(s)] = true;
    Task task{.name = fmt::format("backward, micro-batch {}, stage {}", micro_batch, s),
              .lanes = {compute_[static_cast<std::size_t>(s)]},
              .after = {forward_.at({s, micro_batch})},
              .cost_key = fmt::format("backward {}{}", samples(micro_batch), first ? " first" : ""),
              .phase = "backward",
              .micro_batch = micro_batch};
    std::vector<Call> calls;
    if (s + 1 < static_cast<int>(stages_.size())) calls = receive(s, micro_batch, task);
    append(calls, stage.backward(micro_batch, first));
    Crossing crossing;
    if (s > 0) {
      crossing = cross_backward(stage, *stages_[static_cast<std::size_t>(s) - 1], micro_batch);
      append(calls, crossing.pack);
    }
    const TaskId id = parts_.plan.add(std::move(task), std::move(calls));
    backward_[s].push_back(id);
    if (s > 0) send("gradients", s, s - 1, micro_batch, id, std::move(crossing));
  }

  CaseParts& parts_;
  const std::vector<std::unique_ptr<Stage>>& stages_;
  const std::vector<std::int64_t>& micro_batches_;
  std::vector<LaneId> compute_;
  std::vector<LaneId> copy_;
  std::vector<bool> started_backward_;
  struct Arrival {
    TaskId task = 0;           // the copy
    std::vector<Call> unpack;  // what brings it into the receiver's layout
  };
  /// What each stage has been sent last for a micro-batch: the activations, later their gradients.
  std::map<std::pair<int, int>, Arrival> arrivals_;
  std::map<std::pair<int, int>, TaskId> forward_;  // by stage and micro-batch
  /// By stage; with what completes its gradients.
  std::map<int, std::vector<TaskId>> backward_;
};

}  // namespace

void add_training_step(CaseParts& parts, const std::vector<std::unique_ptr<Stage>>& stages,
                       const std::vector<std::int64_t>& micro_batches, const Schedule& schedule) {
  StepWriter writer(parts, stages, micro_batches);
  writer.write_packing();
  for (const PlacedAction& placed : in_dependency_order(schedule)) writer.write(placed);
  writer.write_exchanges();
  writer.write_updates();
}

}  // namespace parbench
