// Copies operations in order; at the end of a pattern, replaces the copy by a layer.
#include "scenarios/models/onnx/fusions/fusing.h"

#include <algorithm>
#include <array>

#include "scenarios/models/general/strides.h"
#include "scenarios/models/layers/elementwise.h"

namespace parbench::onnx_import {
namespace {

using general::Extents;
using general::Operation;
using general::OpKind;

constexpr std::array fusions{
    fused_bias,        fused_relu,      fused_activation,    fused_layer_norm,
    fused_addition,    fused_attention, fused_channel_scale, fused_channel_movement,
    fused_global_pool, fused_padding,   fused_pixels};

std::size_t slot(int index) { return static_cast<std::size_t>(index); }

/// Returns the number of readers of each operation, with one more for the output; 0 for operations
/// on which the output does not depend.
std::vector<int> reader_counts(const general::Graph& graph, int output) {
  std::vector<int> counts(slot(output) + 1);
  counts[slot(output)] = 1;
  for (int index = output; index >= 0; --index) {
    if (counts[slot(index)] == 0) continue;
    for (const int input : graph.at(index).inputs) ++counts[slot(input)];
  }
  return counts;
}

}  // namespace

int Fusing::run(int output) {
  const general::Graph& from = translator_.network();
  const std::vector<int> counts = reader_counts(from, output);
  copies_.assign(counts.size(), -1);
  for (int index = 0; index <= output; ++index) {
    const Operation& operation = from.at(index);
    const bool is_source = operation.kind == OpKind::input || operation.kind == OpKind::parameter;
    if (counts[slot(index)] == 0 && !is_source) continue;
    maker_ = translator_.maker_of(index);
    const auto size_before = graph_.operations().size();
    int copy = in_one_piece(copied(operation));
    keep(counts[slot(index)], copy, size_before);
    for (std::size_t i = 0; i < fusions.size(); ++i) {
      const auto size = graph_.operations().size();
      const std::optional<int> made = fusions.at(i)(*this, copy);
      if (!made || *made == copy) {
        keep(0, copy, size);
        continue;
      }
      keep(readers_[slot(copy)], *made, size);
      unfused_[slot(*made)] = unfused_[slot(copy)];
      copy = *made;
      i = static_cast<std::size_t>(-1);  // restarts with the first fusion
    }
    copies_[slot(index)] = copy;
  }
  const int result = copies_[slot(output)];
  translator_.replace_network(std::move(graph_), std::move(makers_));
  return result;
}

/// Records the operations appended since the last call: one reader each, and the current node.
/// `from`: number of readers of the operation that `to` replaces, which become readers of `to`; 0:
/// none is replaced. `to` is a new operation if its index is at least `size_before`.
void Fusing::keep(int from, int to, std::size_t size_before) {
  const std::size_t size = graph_.operations().size();
  readers_.resize(size, 1);
  makers_.resize(size, maker_);
  for (std::size_t i = unfused_.size(); i < size; ++i) unfused_.push_back(static_cast<int>(i));
  if (from == 0) return;
  const bool is_new = slot(to) >= size_before;
  readers_[slot(to)] = is_new ? from : readers_[slot(to)] + from - 1;
}

int Fusing::copied(const Operation& operation) {
  if (operation.kind == OpKind::input) return graph_.input(operation.shape);
  if (operation.kind == OpKind::parameter) {
    return graph_.parameter(general::shape_at(operation.shape, 1));
  }
  Operation same = operation;
  for (int& input : same.inputs) input = copies_[slot(input)];
  if (same.kind == OpKind::layer) {
    return graph_.layer(same.index, std::move(same.inputs), std::move(same.shape));
  }
  if (same.kind == OpKind::reshape) return graph_.reshape(same.inputs[0], std::move(same.shape));
  if (same.kind == OpKind::permutation) return graph_.permute(same.inputs[0], std::move(same.axes));
  return graph_.add(std::move(same));
}

/// Replaces a chain of movements that keep all elements in order by a reshape.
int Fusing::in_one_piece(int index) {
  std::vector<int> chain;
  int base = index;
  while (general::is_movement(at(base).kind) && at(base).kind != OpKind::detached) {
    chain.push_back(base);
    base = at(base).inputs.front();
  }
  if (chain.size() < 2 || general::count_of(shape(index)) != general::count_of(shape(base))) {
    return index;
  }
  const std::optional<general::StridedView> view = general::moved(graph_, base, chain);
  return view && view->is_contiguous() ? graph_.reshape(base, shape(index)) : index;
}

int Fusing::unfused(int index) const {
  return kind_of<Activation>(index) == nullptr ? index : unfused_[slot(index)];
}

const TranslatedLayer* Fusing::layer_of(int index) const {
  if (at(index).kind != OpKind::layer) return nullptr;
  return &translator_.layers().at(slot(at(index).index));
}

std::optional<double> Fusing::number_of(int index) const {
  const Operation& operation = at(index);
  if (operation.kind == OpKind::expansion || operation.kind == OpKind::reshape) {
    return number_of(operation.inputs.front());
  }
  if (operation.kind == OpKind::constant && operation.values->values().size() == 1) {
    return operation.values->values().front();
  }
  return graph_.number_of(index);
}

std::optional<int> Fusing::parameter_along(int index, std::size_t first, std::size_t count) const {
  const Extents& wanted = shape(index);
  int source = index;
  if (at(source).kind == OpKind::expansion) source = at(source).inputs.front();
  const Extents& varying = shape(source);
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    const bool is_inside = d >= first && d < first + count;
    if (is_inside ? varying[d] != wanted[d] : !varying[d].is_one()) return std::nullopt;
  }
  if (at(source).kind == OpKind::reshape) source = at(source).inputs.front();
  if (at(source).kind != OpKind::parameter) return std::nullopt;
  const int constant = translator_.constant_of(at(source));
  return translator_.constants().reshape(constant, general::part_of(wanted, first, first + count));
}

int Fusing::add_layer(std::shared_ptr<const LayerKind> kind, std::vector<int> inputs,
                      std::vector<std::pair<std::string, int>> parameters) {
  return add_layer(
      std::move(kind), std::move(inputs),
      TranslatedLayer{.kind = nullptr, .name = {}, .parameters = std::move(parameters)});
}

int Fusing::add_layer(std::shared_ptr<const LayerKind> kind, std::vector<int> inputs,
                      TranslatedLayer like) {
  const bool has_weights = !like.parameters.empty();
  like.kind = std::move(kind);
  if (like.name.empty() && has_weights) {
    like.name = translator_.module_of(like.parameters.front().second);
  }
  if (like.name.empty() && maker_ != nullptr) like.name = layer_name_of(*maker_, has_weights);
  return translator_.append_layer(graph_, std::move(like), std::move(inputs));
}

void Fusing::set_maker(int index, std::string_view op, std::string_view suffix) {
  if (maker_ == nullptr) return;
  makers_.resize(std::max(makers_.size(), slot(index) + 1), maker_);
  makers_[slot(index)] =
      &translator_.add_node({.name = name_of(*maker_).append(suffix), .op = std::string(op)});
}

}  // namespace parbench::onnx_import
