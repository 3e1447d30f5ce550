// Copies the operations of a function to a separate graph, in which the function can be evaluated.
#include "scenarios/models/general/evaluate.h"
#include "scenarios/models/onnx/fusions/fusing.h"
#include "scenarios/models/onnx/general/indexing.h"

namespace parbench::onnx_import {

using general::OpKind;

std::optional<Function> Function::of_elements(const Fusing& fusing, int index, int argument) {
  Function function;
  function.argument_ = argument;
  static_cast<void>(function.graph_.input({{1, true}}));  // one sample per point
  return found(std::move(function), fusing, index);
}

std::optional<Function> Function::of_rows(const Fusing& fusing, int index) {
  Function function;
  function.width_ = fusing.shape(index).back().size;
  static_cast<void>(function.graph_.input({{.size = function.width_}}));
  return found(std::move(function), fusing, index);
}

std::optional<Function> Function::found(Function function, const Fusing& fusing, int index) {
  function.result_ = function.copied(fusing, index);
  const bool is_complete = function.result_ >= 0 && function.argument_ >= 0 &&
                           (function.width_ == 0 || function.is_reduced_);
  return is_complete ? std::optional(std::move(function)) : std::nullopt;
}

std::vector<double> Function::at(const std::vector<double>& points) const {
  const std::int64_t samples = width_ == 0 ? signed_size(points.size()) : 1;
  return general::evaluate(graph_, {result_}, {points}, {}, samples).front();
}

general::Extents Function::shape_of(const general::Extents& shape) const {
  if (width_ == 0) return {{1, true}};
  const bool is_row = !shape.empty() && shape.back() == general::Extent{.size = width_};
  return {is_row ? shape.back() : general::Extent()};
}

int Function::copied(const Fusing& fusing, int index) {
  constexpr std::size_t max_operations = 64;
  if (index == argument_) return 0;
  if (const auto known = copies_.find(index); known != copies_.end()) return known->second;
  return copies_[index] = graph_.operations().size() > max_operations ? -1 : made(fusing, index);
}

int Function::made(const Fusing& fusing, int index) {
  if (const auto number = fusing.number_of(index)) {
    numbers_.push_back(*number);
    return graph_.number(static_cast<float>(*number), shape_of(fusing.shape(index)));
  }
  general::Operation same = fusing.at(fusing.unfused(index));
  const bool is_row = width_ != 0 && !same.shape.empty() && !same.shape.back().samples;
  const bool is_reduction = same.kind == OpKind::reduction &&
                            same.axes == general::Axes{signed_size(same.shape.size()) - 1};
  const bool is_element = same.kind == OpKind::element && !same.inputs.empty();
  if ((is_element && (is_row || width_ == 0)) ||
      (is_row && (is_reduction || same.kind == OpKind::expansion))) {
    for (int& input : same.inputs) {
      input = copied(fusing, input);
      if (input < 0) return -1;
    }
    is_reduced_ = is_reduced_ || is_reduction;
    if (is_reduction) return graph_.reduce(same.reduction, same.inputs.front(), {0});
    same.shape = shape_of(same.shape);
    if (!is_element) return graph_.broadcast(same.inputs.front(), same.shape);
    return graph_.add(std::move(same));
  }
  const bool fits = width_ == 0 || (is_row && same.shape.back().size == width_);
  if (argument_ < 0 && fits) argument_ = index;
  return argument_ == index ? 0 : -1;
}

}  // namespace parbench::onnx_import
