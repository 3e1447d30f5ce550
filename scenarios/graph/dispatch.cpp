// List scheduling.
#include "scenarios/graph/dispatch.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "scenarios/plan/costs.h"

namespace parbench {
namespace {

constexpr int nowhere = -1;

std::size_t slot(int index) { return static_cast<std::size_t>(index); }

/// Rates of a core of a common processor.
constexpr Roofline expected_rates{.flops_per_second = 5e10, .bytes_per_second = 1e10};
constexpr double expected_start_seconds = 5e-6;  // overhead of a call

const GraphNode& at(const GraphNodeList& nodes, int index) { return nodes[slot(index)]; }

/// Returns, for each node, the nodes that read it.
std::vector<std::vector<int>> readers_of(const GraphNodeList& nodes) {
  std::vector<std::vector<int>> readers(nodes.size());
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    for (const int input : at(nodes, i).inputs) readers[slot(input)].push_back(i);
  }
  return readers;
}

/// Returns the expected seconds of the longest path from each node to the end.
std::vector<double> longest_paths(const GraphNodeList& nodes) {
  std::vector<double> paths;
  for (const GraphNode& node : nodes) paths.push_back(node.seconds);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    for (const int input : nodes[i].inputs) {
      double& path = paths[slot(input)];
      path = std::max(path, at(nodes, input).seconds + paths[i]);
    }
  }
  return paths;
}

class Placer {
 public:
  Placer(GraphNodeList& nodes, int devices)
      : nodes_(nodes),
        readers_(readers_of(nodes)),
        ends_(nodes.size(), 0.0),
        free_(slot(devices), 0.0) {}

  void run() {
    const std::vector<double> paths = longest_paths(nodes_);
    std::vector<int> order(nodes_.size());
    std::iota(order.begin(), order.end(), 0);
    // Along a dependency the path gets shorter, so nodes are placed after the nodes that they read.
    // Inputs are skipped here; `put` places those with a single reader.
    std::ranges::stable_sort(order, [&](int a, int b) { return paths[slot(a)] > paths[slot(b)]; });
    for (const int node : order) {
      if (!at(nodes_, node).is_input) put(node);
    }
  }

 private:
  [[nodiscard]] bool moves_with_reader(int node) const {
    return at(nodes_, node).is_input && readers_[slot(node)].size() == 1;
  }

  [[nodiscard]] double end_on(int node, int device) const {
    double begin = free_[slot(device)];
    for (const int input : at(nodes_, node).inputs) {
      if (moves_with_reader(input)) continue;
      const GraphNode& source = at(nodes_, input);
      const double copy = source.device == device ? 0 : source.copy_seconds;
      begin = std::max(begin, ends_[slot(input)] + copy);
    }
    return begin + at(nodes_, node).seconds;
  }

  void put(int node) {
    int best = 0;
    for (int device = 1; device < static_cast<int>(free_.size()); ++device) {
      if (end_on(node, device) < end_on(node, best)) best = device;
    }
    ends_[slot(node)] = free_[slot(best)] = end_on(node, best);
    nodes_[slot(node)].device = best;
    for (const int input : at(nodes_, node).inputs) {
      if (moves_with_reader(input)) nodes_[slot(input)].device = best;
    }
  }

  GraphNodeList& nodes_;
  std::vector<std::vector<int>> readers_;
  std::vector<double> ends_;  // expected end of each placed node
  std::vector<double> free_;  // expected end of the last node placed on each device
};

}  // namespace

double expected_seconds(const Work& work) {
  return expected_start_seconds + expected_rates.seconds(work);
}

double expected_copy_seconds(double bytes) {
  return expected_seconds({.flops = 0, .bytes = 2 * bytes});
}

void place(GraphNodeList& nodes, int devices) { Placer(nodes, devices).run(); }

std::vector<WorkItem> work_items_of(const GraphNodeList& nodes, const WorkQueues& queues) {
  std::vector<WorkItem> items;
  std::map<std::pair<int, int>, int> item_of;  // by node and device that has its result
  const auto available = [&](int node, int device) -> std::optional<int> {
    const GraphNode& one = at(nodes, node);
    const auto here = item_of.find({node, device});
    if (here != item_of.end()) return here->second;
    // an input on its own device needs no item
    if (one.device == device) return std::nullopt;
    WorkItem copy{.node = node,
                  .device = device,
                  .is_copy = true,
                  .queue = queues.copies(one.device, device),
                  .seconds = one.copy_seconds};
    const auto made = item_of.find({node, one.device});
    if (made != item_of.end()) copy.after.push_back(made->second);
    items.push_back(std::move(copy));
    return item_of[{node, device}] = static_cast<int>(items.size()) - 1;
  };
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    const GraphNode& node = at(nodes, i);
    if (node.is_input) continue;
    WorkItem item{.node = i,
                  .device = node.device,
                  .queue = queues.compute(node.device),
                  .seconds = node.seconds};
    for (const int input : node.inputs) {
      const std::optional<int> before = available(input, node.device);
      if (before) item.after.push_back(*before);
    }
    std::ranges::sort(item.after);
    const auto repeated = std::ranges::unique(item.after);
    item.after.erase(repeated.begin(), repeated.end());
    item_of[{i, node.device}] = static_cast<int>(items.size());
    items.push_back(std::move(item));
  }
  return items;
}

std::vector<double> paths_to_end(const std::vector<WorkItem>& items) {
  std::vector<double> to_end(items.size(), 0.0);
  for (std::size_t i = items.size(); i-- > 0;) {
    to_end[i] += items[i].seconds;
    for (const int before : items[i].after) {
      to_end[slot(before)] = std::max(to_end[slot(before)], to_end[i]);
    }
  }
  return to_end;
}

std::vector<int> critical_path(const std::vector<WorkItem>& items) {
  if (items.empty()) return {};
  const std::vector<double> to_end = paths_to_end(items);
  std::vector<int> path;
  int at = static_cast<int>(std::ranges::max_element(to_end) - to_end.begin());
  while (at != nowhere) {
    path.push_back(at);
    int next = nowhere;
    for (int i = at + 1; i < static_cast<int>(items.size()); ++i) {
      if (!std::ranges::binary_search(items[slot(i)].after, at)) continue;
      if (next == nowhere || to_end[slot(i)] > to_end[slot(next)]) next = i;
    }
    at = next;
  }
  return path;
}

std::vector<int> dependency_order(const std::vector<WorkItem>& items) {
  const std::vector<double> to_end = paths_to_end(items);
  std::vector<std::optional<double>> ends(items.size());
  std::map<int, double> free;  // expected end of the last item of each queue
  const auto begin_of = [&](const WorkItem& item) {
    double begin = free[item.queue];
    for (const int before : item.after) {
      const std::optional<double>& end = ends[slot(before)];
      if (!end) return std::numeric_limits<double>::infinity();
      begin = std::max(begin, *end);
    }
    return begin;
  };
  std::vector<int> order;
  while (order.size() < items.size()) {
    int next = nowhere;
    std::tuple<double, double> best;
    for (int i = 0; i < static_cast<int>(items.size()); ++i) {
      if (ends[slot(i)]) continue;
      const std::tuple<double, double> found{begin_of(items[slot(i)]), -to_end[slot(i)]};
      if (next == nowhere || found < best) {
        next = i;
        best = found;
      }
    }
    const double begin = std::get<0>(best);
    if (begin == std::numeric_limits<double>::infinity()) {
      throw std::invalid_argument("work items wait for each other");
    }
    const WorkItem& item = items[slot(next)];
    ends[slot(next)] = free[item.queue] = begin + item.seconds;
    order.push_back(next);
  }
  return order;
}

}  // namespace parbench
