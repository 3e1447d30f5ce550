// Groups convolutions by their input, and enumerates subsets.
#include "scenarios/inter_op/merges.h"

#include <cstddef>
#include <utility>

#include "scenarios/models/layers/convolution.h"

namespace parbench {
namespace {

/// Returns whether one convolution could compute both layers.
bool are_mergeable(const Layer& a, const Layer& b) {
  const auto* first = as<Convolution>(a);
  const auto* second = as<Convolution>(b);
  if (first == nullptr || second == nullptr || a.inputs != b.inputs) return false;
  const Convolution::Options& one = first->options();
  const Convolution::Options& other = second->options();
  return one.groups == 1 && other.groups == 1 && one.window == other.window &&
         one.bias == other.bias && one.relu == other.relu;
}

std::vector<std::vector<int>> groups_of(const Network& network) {
  std::vector<std::vector<int>> groups;
  for (int index = 0; index < static_cast<int>(network.layers.size()); ++index) {
    const Layer& layer = network.layer(index);
    bool is_in_group = false;
    for (std::vector<int>& group : groups) {
      if (!are_mergeable(network.layer(group.front()), layer)) continue;
      group.push_back(index);
      is_in_group = true;
      break;
    }
    if (!is_in_group && as<Convolution>(layer) != nullptr) groups.push_back({index});
  }
  return groups;
}

void add_subsets(const std::vector<int>& group, std::vector<InterOpMerge>& merges) {
  for (std::size_t chosen = 1; chosen < std::size_t{1} << group.size(); ++chosen) {
    std::vector<int> ops;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if ((chosen >> i & 1U) != 0) ops.push_back(group[i]);
    }
    if (ops.size() > 1) merges.push_back({.ops = std::move(ops)});
  }
}

void add_neighbours(const std::vector<int>& group, std::vector<InterOpMerge>& merges) {
  for (auto first = group.begin(); first != group.end(); ++first) {
    for (auto last = first + 1; last != group.end(); ++last) {
      merges.push_back({.ops = {first, last + 1}});
    }
  }
}

}  // namespace

std::vector<InterOpMerge> possible_merges(const Network& network) {
  constexpr std::size_t max_with_all_subsets = 4;
  std::vector<InterOpMerge> merges;
  for (const std::vector<int>& group : groups_of(network)) {
    if (group.size() <= max_with_all_subsets) {
      add_subsets(group, merges);
    } else {
      add_neighbours(group, merges);
    }
  }
  return merges;
}

}  // namespace parbench
