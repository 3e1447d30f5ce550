// Decides which results of a graph get separate memory, and where the elements of the other results
// are. A part of lowering (lowering.cpp) that is independent of calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/models/general/lowering.h"
#include "scenarios/models/general/strides.h"

namespace parbench::general {

/// Returns whether an operation is a number or coordinate, which costs readers nothing.
[[nodiscard]] inline bool is_free(const Operation& operation) {
  return operation.kind == OpKind::element && operation.inputs.empty();
}

/// The memory of results. Operations are named by their indices, target i by −1 − i.
class MemoryPlan {
 public:
  MemoryPlan(const Graph& graph, const std::vector<Target>& targets, const LoweringOptions& options)
      : graph_(graph), targets_(targets), options_(options) {
    find_needed();
    decide();
  }

  [[nodiscard]] int size() const { return static_cast<int>(graph_.operations().size()); }
  [[nodiscard]] bool needed(int index) const { return !readers_[at(index)].empty(); }
  [[nodiscard]] bool is_located(int index) const { return options_.located.contains(index); }
  [[nodiscard]] static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  [[nodiscard]] Shape shape(int index) const {
    return shape_at(graph_.shape(index), options_.samples);
  }

  /// Returns whether a name is that of a constant whose values are part of the calls that read it.
  [[nodiscard]] bool is_constant(int name) const {
    return name >= 0 && graph_.at(name).kind == OpKind::constant && !is_computed(name);
  }

  /// Returns whether an operation's result gets separate memory.
  [[nodiscard]] bool is_computed(int index) const { return computed_[at(index)]; }
  [[nodiscard]] static int name_of_target(std::size_t i) { return -1 - static_cast<int>(i); }

  [[nodiscard]] bool is_mapped(int index) const {
    const OpKind kind = graph_.at(index).kind;
    return kind == OpKind::element || kind == OpKind::reduction || kind == OpKind::constant ||
           is_movement(kind);
  }

  /// Divides the program of an operation: gives memory to the input that contributes the most
  /// instructions.
  void divide(int index) {
    int largest = -1;
    std::size_t instructions = 0;
    for (const int input : graph_.at(index).inputs) {
      if (is_computed(input) || is_located(input) || is_free(graph_.at(input))) continue;
      const std::size_t own = count_instructions(input);
      if (own > instructions) {
        largest = input;
        instructions = own;
      }
    }
    if (largest < 0) throw std::logic_error("a single operation has too many inputs");
    divided_.insert(largest);
    decide();
  }

  [[nodiscard]] std::size_t count_instructions(int index) const {
    if (graph_.at(index).kind != OpKind::element || is_computed(index) || is_located(index))
      return 0;
    std::size_t instructions = 1;
    for (const int input : graph_.at(index).inputs) instructions += count_instructions(input);
    return instructions;
  }

  // --- positions of elements ---

  [[nodiscard]] DType type_of(int index) const {
    const auto located = options_.located.find(index);
    if (located != options_.located.end()) return located->second;
    if (indices_.contains(index)) return DType::i32;
    switch (graph_.at(index).kind) {
      case OpKind::scattered_rows:
        return DType::f32;
      case OpKind::constant:
        return is_computed(index) ? options_.dtype : DType::f32;
      case OpKind::reduction:
        return feeds_product(index) ? options_.dtype : DType::f32;
      default:
        return options_.dtype;
    }
  }

  /// Returns whether a matrix product or an operation `rows` reads the result, directly or through
  /// movements.
  [[nodiscard]] bool feeds_product(int index) const {
    return std::ranges::any_of(readers_[at(index)], [&](int reader) {
      if (reader < 0) return false;
      const OpKind kind = graph_.at(reader).kind;
      return kind == OpKind::product || kind == OpKind::rows ||
             (is_movement(kind) && feeds_product(reader));
    });
  }

  [[nodiscard]] StridedView view_of(int index) const {
    const Operation& operation = graph_.at(index);
    if (!is_located(index) && !is_computed(index) && is_movement(operation.kind)) {
      if (auto view = moved(operation, view_of(operation.inputs.front()), options_.samples)) {
        return *view;
      }
    }
    return {.base = index, .shape = shape(index), .strides = canonical_strides(shape(index))};
  }

  [[nodiscard]] StridedTensor tensor_of(const StridedView& view) const {
    StridedTensor tensor{.dtype = type_of(view.base),
                         .count = element_count(shape(view.base)),
                         .offset = view.offset,
                         .strides = view.strides};
    if (is_constant(view.base)) tensor.values = graph_.at(view.base).values->elements();
    return tensor;
  }

  struct Matrices {
    bool transposed = false;
  };
  /// Returns whether the consecutive matrices of a view are transposed; nothing if the view has an
  /// offset, gaps or another order.
  [[nodiscard]] static std::optional<Matrices> matrices_of(const StridedView& view) {
    if (view.offset != 0) return std::nullopt;
    if (view.is_contiguous()) return Matrices{};
    StridedView turned = view;
    std::swap(turned.shape.end()[-1], turned.shape.end()[-2]);
    std::swap(turned.strides.end()[-1], turned.strides.end()[-2]);
    if (turned.is_contiguous()) return Matrices{.transposed = true};
    return std::nullopt;
  }

 private:
  void find_needed() {
    readers_.resize(at(size()));
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      readers_[at(targets_[i].operation)].push_back(name_of_target(i));
    }
    for (int index = size(); index-- > 0;) {
      if (!needed(index) || is_located(index)) continue;
      if (graph_.shape(index).size() > Map::max_dimensions) {
        throw std::invalid_argument(to_string(graph_.shape(index)) + " has more than " +
                                    std::to_string(Map::max_dimensions) + " dimensions");
      }
      for (const int input : graph_.at(index).inputs) readers_[at(input)].push_back(index);
    }
  }

  void decide() {
    computed_.assign(at(size()), false);
    for (int index = 0; index < size(); ++index) {
      if (!needed(index) || is_located(index)) continue;
      const Operation& operation = graph_.at(index);
      computed_[at(index)] = divided_.contains(index) || gets_memory(index);
      require_inputs(operation);
    }
  }

  [[nodiscard]] bool gets_memory(int index) const {
    const Operation& operation = graph_.at(index);
    if (operation.kind == OpKind::constant || is_movement(operation.kind)) return false;
    const std::vector<int>& readers = readers_[at(index)];
    const auto reads_elements = [&](int reader) { return this->reads_elements(reader); };
    if (is_free(operation)) return !std::ranges::all_of(readers, reads_elements);
    if (operation.kind == OpKind::reduction) return readers.size() > 1 || readers.front() >= 0;
    if (operation.kind != OpKind::element) return true;
    if (readers.size() > 1) return !options_.fuse || !is_computed_again(index);
    return !reads_elements(readers.front()) || (!options_.fuse && readers.front() >= 0);
  }

  /// Returns whether the readers of an element operation recompute the result instead of reading it
  /// from memory: if the readers are few element operations, and the program of the result is
  /// short.
  [[nodiscard]] bool is_computed_again(int index) const {
    constexpr std::size_t max_instructions = 10;
    constexpr std::size_t max_readers = 4;
    const std::vector<int>& readers = readers_[at(index)];
    const bool are_elements = std::ranges::all_of(readers, [&](int reader) {
      return reader >= 0 && graph_.at(reader).kind == OpKind::element;
    });
    return are_elements && readers.size() <= max_readers &&
           count_instructions(index) <= max_instructions;
  }

  /// Returns whether a reader can compute its inputs as a part of its own program.
  [[nodiscard]] bool reads_elements(int reader) const {
    if (reader < 0) return true;
    const OpKind kind = graph_.at(reader).kind;
    return kind == OpKind::element || kind == OpKind::reduction || kind == OpKind::concatenation ||
           kind == OpKind::placement;
  }

  /// Gives memory to inputs that a reshape, a product or an operation on rows cannot read in place.
  void require_inputs(const Operation& operation) {
    const int first = operation.inputs.empty() ? -1 : operation.inputs.front();
    if (operation.kind == OpKind::reshape) {
      if (!moved(operation, view_of(first), options_.samples)) computed_[at(first)] = true;
    } else if (operation.kind == OpKind::product) {
      for (const int input : operation.inputs) {
        if (!in_memory_as(input, options_.dtype) || !matrices_of(view_of(input))) {
          computed_[at(input)] = true;
        }
      }
    } else if (operation.kind == OpKind::rows || operation.kind == OpKind::scattered_rows) {
      if (!is_plain(first) || !in_memory_as(first, options_.dtype)) computed_[at(first)] = true;
      const int indices = operation.inputs.back();
      if (is_plain(indices) && in_memory_as(indices, DType::i32)) return;
      computed_[at(indices)] = true;
      indices_.insert(indices);
    }
  }

  /// Returns whether the elements of an operation are in canonical order from the beginning of the
  /// memory that contains them.
  [[nodiscard]] bool is_plain(int index) const {
    const StridedView view = view_of(index);
    return view.offset == 0 && view.is_contiguous();
  }

  [[nodiscard]] bool in_memory_as(int index, DType dtype) const {
    const int base = view_of(index).base;
    return (is_computed(base) || is_located(base)) && type_of(base) == dtype;
  }

  const Graph& graph_;
  const std::vector<Target>& targets_;
  const LoweringOptions& options_;
  // by operation: names of the needed operations and targets that read it
  std::vector<std::vector<int>> readers_;
  std::vector<bool> computed_;  // whether an operation gets separate memory
  std::set<int> divided_;       // operations that get memory because a program was too long
  std::set<int> indices_;       // operations that get memory as indices of rows
};

}  // namespace parbench::general
