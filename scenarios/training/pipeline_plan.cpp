// Writing a schedule down as tasks.
#include "scenarios/training/pipeline_plan.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "kernels/error.h"

namespace parbench {
namespace {

class StepWriter {
 public:
  StepWriter(CaseParts& parts, const std::vector<std::unique_ptr<Stage>>& stages,
             const std::vector<std::int64_t>& chunks)
      : parts_(parts), stages_(stages), chunks_(chunks), started_backward_(stages.size(), false) {
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
                       .lane = compute_[s],
                       .calls = std::move(calls),
                       .cost_key = "pack"});
    }
  }

  void write(const PlacedAction& placed) {
    if (placed.action.pass == Pass::forward) {
      write_forward(placed.stage, placed.action.chunk);
    } else {
      write_backward(placed.stage, placed.action.chunk);
    }
  }

  void write_updates() {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      parts_.plan.add({.name = fmt::format("update, stage {}", s),
                       .lane = compute_[s],
                       .calls = stages_[s]->update(),
                       .after = backward_[static_cast<int>(s)],
                       .cost_key = "update"});
    }
  }

 private:
  [[nodiscard]] std::int64_t samples(int chunk) const {
    return chunks_[static_cast<std::size_t>(chunk)];
  }

  void send(const char* what, int from, int to, int chunk, TaskId produced, BufferView source,
            BufferView destination) {
    arrivals_[{to, chunk}] = parts_.plan.add(
        {.name = fmt::format("send {}, chunk {}, stage {} to {}", what, chunk, from, to),
         .lane = copy_[static_cast<std::size_t>(from)],
         .calls = {CopyCall{.destination = destination, .source = source}},
         .after = {produced},
         .kind = TaskKind::copy,
         .cost_key = fmt::format("send {} {}", what, source.bytes)});
  }

  void write_forward(int s, int chunk) {
    const Stage& stage = *stages_[static_cast<std::size_t>(s)];
    std::vector<TaskId> after;
    if (s > 0) after.push_back(arrivals_.at({s, chunk}));
    const TaskId task =
        parts_.plan.add({.name = fmt::format("forward, chunk {}, stage {}", chunk, s),
                         .lane = compute_[static_cast<std::size_t>(s)],
                         .calls = stage.forward(chunk),
                         .after = std::move(after),
                         .cost_key = fmt::format("forward {}", samples(chunk))});
    forward_[{s, chunk}] = task;
    if (s + 1 == static_cast<int>(stages_.size())) return;
    const Stage& next = *stages_[static_cast<std::size_t>(s) + 1];
    if (stage.output_desc(chunk) != next.input_desc(chunk)) {
      throw Unsupported(
          "stages on devices with different activation layouts cannot exchange chunks");
    }
    send("activations", s, s + 1, chunk, task, stage.output(chunk), next.input(chunk));
  }

  void write_backward(int s, int chunk) {
    const Stage& stage = *stages_[static_cast<std::size_t>(s)];
    const bool first = !started_backward_[static_cast<std::size_t>(s)];
    started_backward_[static_cast<std::size_t>(s)] = true;
    std::vector<TaskId> after = {forward_.at({s, chunk})};
    if (s + 1 < static_cast<int>(stages_.size())) after.push_back(arrivals_.at({s, chunk}));
    const TaskId task = parts_.plan.add(
        {.name = fmt::format("backward, chunk {}, stage {}", chunk, s),
         .lane = compute_[static_cast<std::size_t>(s)],
         .calls = stage.backward(chunk, first),
         .after = std::move(after),
         .cost_key = fmt::format("backward {}{}", samples(chunk), first ? " first" : "")});
    backward_[s].push_back(task);
    if (s == 0) return;
    send("gradients", s, s - 1, chunk, task, stage.input_gradient(chunk),
         stages_[static_cast<std::size_t>(s) - 1]->output_gradient(chunk));
  }

  CaseParts& parts_;
  const std::vector<std::unique_ptr<Stage>>& stages_;
  const std::vector<std::int64_t>& chunks_;
  std::vector<LaneId> compute_;
  std::vector<LaneId> copy_;
  std::vector<bool> started_backward_;
  /// The copy that brought each stage the chunk it needs next.
  std::map<std::pair<int, int>, TaskId> arrivals_;
  std::map<std::pair<int, int>, TaskId> forward_;  // by stage and chunk
  std::map<int, std::vector<TaskId>> backward_;    // by stage
};

}  // namespace

void add_training_step(CaseParts& parts, const std::vector<std::unique_ptr<Stage>>& stages,
                       const std::vector<std::int64_t>& chunks, const Schedule& schedule) {
  StepWriter writer(parts, stages, chunks);
  writer.write_packing();
  for (const PlacedAction& placed : in_dependency_order(schedule)) writer.write(placed);
  writer.write_updates();
}

}  // namespace parbench
