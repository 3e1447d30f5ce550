// Tasks, memory and notes of a graph.
#include "scenarios/graph/graph_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/units/units.h"
#include "scenarios/framework/collectives.h"
#include "scenarios/graph/node_checks.h"

namespace parbench {
namespace {

/// The lanes of a plan as queues, made when they are first asked for.
class DeviceLanes {
 public:
  explicit DeviceLanes(CaseParts& parts) : parts_(parts) {}

  [[nodiscard]] WorkQueues queues() {
    return {.compute = [this](int device) { return lane(device, StreamKind::compute); },
            .copies = [this](int from, int to) { return copies(from, to); }};
  }

 private:
  [[nodiscard]] LaneId lane(int device, StreamKind kind) {
    const auto [found, is_new] = lanes_.try_emplace({device, kind}, LaneId{});
    if (is_new) found->second = add_lane(parts_, device, kind);
    return found->second;
  }

  /// Where both compute in the host's memory, the receiver copies: streams of its own for that
  /// would share its cores.
  [[nodiscard]] LaneId copies(int from, int to) {
    if (share_memory(parts_.context.device(from), parts_.context.device(to))) {
      return lane(to, StreamKind::compute);
    }
    const LaneId sender = lane(from, StreamKind::copy);
    return copying_lane(parts_.plan, sender, lane(to, StreamKind::copy));
  }

  CaseParts& parts_;
  std::map<std::pair<int, StreamKind>, LaneId> lanes_;
};

/// Writes the tasks of a graph.
class GraphWriter {
 public:
  GraphWriter(CaseParts& parts, const WorkGraph& graph, NumberFormat format)
      : parts_(parts), graph_(graph), format_(format), lanes_(parts) {
    for (int i = 0; i < graph.size(); ++i) {
      const WorkNode& node = graph.node(i);
      const Tensor& own = memory(i, node.device);
      if (node.kind != NodeKind::input) continue;
      parts_.data.fill(own, {Piece{.count = node.rows * node.columns,
                                   .subsequence = static_cast<std::uint64_t>(i),
                                   .low = -node.factor,
                                   .high = node.factor}});
    }
    steps_ = steps_of(graph, lanes_.queues());
    tasks_.resize(steps_.size());
  }

  void write(DispatchOrder order) {
    std::vector<int> sequence(steps_.size());
    std::iota(sequence.begin(), sequence.end(), 0);
    if (order == DispatchOrder::by_dependency) sequence = dependency_order(steps_);
    for (const int index : sequence) write(index, order);
  }

  void add_results() {
    for (const int node : results_of(graph_)) {
      parts_.outputs.push_back(
          output(graph_.node(node).name, memory(node, graph_.node(node).device)));
    }
    for (const auto& [node, loss] : results_.losses) {
      parts_.outputs.push_back(output(graph_.node(node).name, loss));
    }
    add_node_checks(parts_, graph_, results_, format_);
  }

  void add_notes() {
    std::size_t copies = 0;
    std::map<int, std::size_t> nodes;
    double all = 0;
    for (const WorkStep& step : steps_) {
      all += step.seconds;
      if (step.is_copy) {
        ++copies;
      } else {
        ++nodes[step.device];
      }
    }
    std::string placement;
    for (const auto& [device, count] : nodes) {
      placement += fmt::format("{} on {}, ", report::format_count(count, "node"),
                               parts_.context.device(device).info().name);
    }
    parts_.notes.emplace_back(
        "placement", fmt::format("{}{} between devices", placement,
                                 copies == 1 ? "1 copy" : fmt::format("{} copies", copies)));
    std::string names;
    double seconds = 0;
    for (const int index : critical_path(steps_)) {
      seconds += steps_[static_cast<std::size_t>(index)].seconds;
      names += (names.empty() ? "" : " → ") + name_of(steps_[static_cast<std::size_t>(index)]);
    }
    parts_.notes.emplace_back(
        "critical path",
        fmt::format("{:.0f}% of the expected time of all tasks: {}", 100 * seconds / all, names));
  }

 private:
  [[nodiscard]] Tensor& memory(int node, int device) {
    const auto [found, is_new] = results_.tensors.try_emplace({node, device});
    if (is_new) {
      const WorkNode& one = graph_.node(node);
      found->second = parts_.data.tensor(device, canonical({one.rows, one.columns}, format_.dtype));
      if (one.kind != NodeKind::input || device != one.device) parts_.data.poison(found->second);
    }
    return found->second;
  }

  [[nodiscard]] std::string name_of(const WorkStep& step) const {
    const std::string& name = graph_.node(step.node).name;
    if (!step.is_copy) return name;
    return fmt::format("{} to {}", name, parts_.context.device(step.device).info().name);
  }

  [[nodiscard]] Output output(const std::string& name, const Tensor& tensor) {
    return {name, [this_data = &parts_.data, tensor] { return this_data->read(tensor); }};
  }

  [[nodiscard]] std::vector<TaskId> waits_of(const WorkStep& step, DispatchOrder order) const {
    std::set<TaskId> after;
    for (const int before : step.after) after.insert(tasks_[static_cast<std::size_t>(before)]);
    const auto next = static_cast<TaskId>(parts_.plan.graph().tasks.size());
    if (order == DispatchOrder::sequential && next > 0) after.insert(next - 1);
    if (order == DispatchOrder::per_device && step.is_copy) {
      const int sender = graph_.node(step.node).device;
      const auto given = given_to_.find(parts_.context.device(sender).info().name);
      if (given != given_to_.end()) {
        for (const auto& [lane, task] : given->second) after.insert(task);
      }
    }
    return {after.begin(), after.end()};
  }

  void write(int index, DispatchOrder order) {
    const WorkStep& step = steps_[static_cast<std::size_t>(index)];
    Task task{.name = name_of(step),
              .kind = step.is_copy ? TaskKind::communication : TaskKind::compute,
              .lanes = {step.queue},
              .after = waits_of(step, order)};
    const TaskId id = parts_.plan.add(std::move(task), {call_of(step)});
    tasks_[static_cast<std::size_t>(index)] = id;
    given_to_[parts_.plan.graph().lane(step.queue).device][step.queue] = id;
  }

  [[nodiscard]] Call call_of(const WorkStep& step) {
    const WorkNode& node = graph_.node(step.node);
    const BufferView result = memory(step.node, step.device).view;
    if (step.is_copy) {
      return CopyCall{.destination = result, .source = memory(step.node, node.device).view};
    }
    Op& op = parts_.ops.prepare(parts_.plan.stream(step.queue), op_of(graph_, step.node, format_));
    std::vector<Binding> bindings;
    std::size_t input = 0;
    for (const Argument& argument : op.arguments()) {
      if (argument.access == Access::read) {
        bindings.push_back({argument.role, memory(node.inputs.at(input++), node.device).view});
      } else if (argument.role == "loss") {
        Tensor& loss = results_.losses[step.node];
        loss = parts_.data.tensor(node.device, argument.tensor);
        parts_.data.poison(loss);
        bindings.push_back({argument.role, loss.view});
      } else {
        bindings.push_back({argument.role, result});
      }
    }
    return parbench::bind(op, bindings);
  }

  CaseParts& parts_;
  const WorkGraph& graph_;
  NumberFormat format_;
  DeviceLanes lanes_;
  NodeResults results_;
  std::vector<WorkStep> steps_;
  std::vector<TaskId> tasks_;                                 // by step
  std::map<std::string, std::map<LaneId, TaskId>> given_to_;  // the last task, by device and lane
};

}  // namespace

void plan_graph(CaseParts& parts, const WorkGraph& graph, NumberFormat format,
                DispatchOrder order) {
  GraphWriter writer(parts, graph, format);
  writer.write(order);
  writer.add_results();
  writer.add_notes();
}

}  // namespace parbench
