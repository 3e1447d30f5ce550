// Adds tasks, memory and notes for a graph.
#include "scenarios/graph/graph_plan.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/units/units.h"
#include "scenarios/framework/collectives/message_tasks.h"
#include "scenarios/graph/dispatch.h"

namespace parbench {
namespace {

/// Lanes of a plan, made on first use; they are the queues of work items.
class DeviceLanes {
 public:
  explicit DeviceLanes(CaseParts& parts) : parts_(parts) {}

  [[nodiscard]] WorkQueues queues() {
    return {.compute = [this](int device) { return lane(device, StreamKind::compute); },
            .copies = [this](int from, int to) { return copies(from, to).front(); }};
  }

  /// Returns the lanes of a copy. If both devices share host memory, the receiver's compute lane
  /// copies: separate copy streams would share the receiver's cores.
  [[nodiscard]] std::vector<LaneId> copies(int from, int to) {
    if (share_memory(parts_.context.device(from), parts_.context.device(to))) {
      return {lane(to, StreamKind::compute)};
    }
    const LaneId sender = lane(from, StreamKind::copy);
    return copying_lanes(parts_.plan, sender, lane(to, StreamKind::copy));
  }

 private:
  [[nodiscard]] LaneId lane(int device, StreamKind kind) {
    const auto [found, is_new] = lanes_.try_emplace({device, kind}, LaneId{});
    if (is_new) found->second = add_lane(parts_, device, kind);
    return found->second;
  }

  CaseParts& parts_;
  std::map<std::pair<int, StreamKind>, LaneId> lanes_;
};

/// A result and its copy on another device.
struct CopiedResult {
  std::string name;
  Tensor original;
  Tensor copy;
};

std::vector<std::byte> bytes_of(CaseData& data, const Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.view.bytes);
  data.read_bytes(tensor.device, tensor.view, bytes.data());
  return bytes;
}

std::optional<std::string> check_copies(CaseParts& parts, const std::vector<CopiedResult>& copies) {
  const auto name_of = [&](int device) { return parts.context.device(device).info().name; };
  for (const CopiedResult& one : copies) {
    if (bytes_of(parts.data, one.copy) == bytes_of(parts.data, one.original)) continue;
    return fmt::format("{} on {} differs from the original on {}", one.name,
                       name_of(one.copy.device), name_of(one.original.device));
  }
  return std::nullopt;
}

/// Returns "a → b → c"; of many names, the first eight and the last eight, with "4 more" between
/// them.
std::string path_text(const std::vector<std::string>& names) {
  constexpr std::size_t shown_at_end = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t left = names.size() - i;
    std::string next = names[i];
    if (i == shown_at_end && left > shown_at_end + 1) {
      next = fmt::format("{} more", left - shown_at_end);
      i += left - shown_at_end - 1;
    }
    text += (text.empty() ? "" : " → ") + next;
  }
  return text;
}

class GraphWriter {
 public:
  explicit GraphWriter(GraphParts& parts)
      : parts_(parts),
        nodes_(*parts.nodes),
        lanes_(parts),
        items_(work_items_of(nodes_.nodes(), lanes_.queues())),
        tasks_(items_.size()) {}

  void write(DispatchOrder order) {
    std::vector<int> sequence(items_.size());
    std::iota(sequence.begin(), sequence.end(), 0);
    if (order == DispatchOrder::by_dependency) sequence = dependency_order(items_);
    for (const int index : sequence) write(index, order);
  }

  void add_results() {
    parts_.checks.push_back({"copies equal their originals", [&parts = parts_, copies = copies_] {
                               return check_copies(parts, copies);
                             }});
    nodes_.add_results();
  }

  void add_notes() {
    std::size_t copies = 0;
    std::map<int, std::size_t> nodes;
    double all = 0;
    for (const WorkItem& item : items_) {
      all += item.seconds;
      if (item.is_copy) {
        ++copies;
      } else {
        ++nodes[item.device];
      }
    }
    std::string placement;
    for (const auto& [device, count] : nodes) {
      placement += fmt::format("{} on {}, ", format_count(count, "node"),
                               parts_.context.device(device).info().name);
    }
    parts_.notes.emplace_back(
        "placement", fmt::format("{}{} between devices", placement,
                                 copies == 1 ? "1 copy" : fmt::format("{} copies", copies)));
    std::vector<std::string> names;
    double seconds = 0;
    for (const int index : critical_path(items_)) {
      const WorkItem& item = items_[static_cast<std::size_t>(index)];
      seconds += item.seconds;
      names.push_back(name_of(item));
    }
    parts_.notes.emplace_back("critical path",
                              fmt::format("{:.0f}% of the expected time of all tasks: {}",
                                          100 * seconds / all, path_text(names)));
  }

 private:
  [[nodiscard]] const GraphNode& node_of(const WorkItem& item) const {
    return nodes_.nodes().at(static_cast<std::size_t>(item.node));
  }

  [[nodiscard]] std::string name_of(const WorkItem& item) const {
    const std::string& name = node_of(item).name;
    if (!item.is_copy) return name;
    return fmt::format("{} to {}", name, parts_.context.device(item.device).info().name);
  }

  [[nodiscard]] std::vector<TaskId> waits_of(const WorkItem& item, DispatchOrder order) const {
    std::set<TaskId> after;
    for (const int before : item.after) after.insert(tasks_[static_cast<std::size_t>(before)]);
    const auto next = static_cast<TaskId>(parts_.plan.graph().tasks.size());
    if (order == DispatchOrder::sequential && next > 0) after.insert(next - 1);
    if (order == DispatchOrder::per_device && item.is_copy) {
      const auto given = given_to_.find(parts_.context.device(node_of(item).device).info().name);
      if (given != given_to_.end()) {
        for (const auto& [lane, task] : given->second) after.insert(task);
      }
    }
    return {after.begin(), after.end()};
  }

  void write(int index, DispatchOrder order) {
    const WorkItem& item = items_[static_cast<std::size_t>(index)];
    std::vector<LaneId> lanes{item.queue};
    if (item.is_copy) lanes = lanes_.copies(node_of(item).device, item.device);
    Task task{.name = name_of(item),
              .kind = item.is_copy ? TaskKind::copy : TaskKind::compute,
              .lanes = std::move(lanes),
              .after = waits_of(item, order)};
    std::vector<Call> calls = item.is_copy ? std::vector<Call>{copy_of(item)}
                                           : nodes_.plan(item.node, parts_.plan.stream(item.queue));
    const TaskId id = parts_.plan.add(std::move(task), std::move(calls));
    tasks_[static_cast<std::size_t>(index)] = id;
    given_to_[parts_.plan.graph().lane(item.queue).device][item.queue] = id;
  }

  [[nodiscard]] CopyCall copy_of(const WorkItem& item) {
    const CopiedResult copied{.name = node_of(item).name,
                              .original = nodes_.result(item.node, node_of(item).device),
                              .copy = nodes_.result(item.node, item.device)};
    copies_.push_back(copied);
    return {.destination = copied.copy.view, .source = copied.original.view};
  }

  CaseParts& parts_;
  GraphNodes& nodes_;
  DeviceLanes lanes_;
  std::vector<WorkItem> items_;
  std::vector<TaskId> tasks_;                                 // by item
  std::map<std::string, std::map<LaneId, TaskId>> given_to_;  // last task by device and lane
  std::vector<CopiedResult> copies_;
};

}  // namespace

void plan_graph(GraphParts& parts, DispatchOrder order) {
  GraphWriter writer(parts);
  writer.write(order);
  writer.add_results();
  writer.add_notes();
}

}  // namespace parbench
