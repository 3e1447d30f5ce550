// Fuses normalisations of rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "scenarios/models/general/evaluate.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/onnx/fusions/fusing.h"
#include "scenarios/models/onnx/general/indexing.h"

namespace parbench::onnx_import {
namespace {

using general::Extent;
using general::Extents;
using general::Operation;
using general::OpKind;

/// A function from row to row: the element-wise operations and the reductions over the last
/// dimension from which an operation is computed.
class RowFunction {
 public:
  [[nodiscard]] static std::optional<RowFunction> below(const Fusing& fusing, int index) {
    RowFunction function;
    function.width_ = fusing.shape(index).back().size;
    static_cast<void>(function.graph_.input({{.size = function.width_}}));
    function.result_ = function.copied(fusing, index);
    if (function.result_ < 0 || function.argument_ < 0 || !function.is_reduced_) {
      return std::nullopt;
    }
    return function;
  }

  [[nodiscard]] int argument() const { return argument_; }
  /// Returns numbers of the formula that may be an epsilon.
  [[nodiscard]] const std::vector<double>& epsilons() const { return epsilons_; }
  [[nodiscard]] std::vector<double> at(const std::vector<double>& row) const {
    return general::evaluate(graph_, {result_}, {row}, {}, 1).front();
  }

 private:
  [[nodiscard]] Extents row_of(const Extents& shape) const {
    return {shape.back() == general::Extent{.size = width_} ? shape.back() : general::Extent()};
  }

  int copied(const Fusing& fusing, int index) {
    constexpr std::size_t max_operations = 40;
    if (const auto known = copies_.find(index); known != copies_.end()) return known->second;
    return copies_[index] = graph_.operations().size() > max_operations ? -1 : made(fusing, index);
  }

  int made(const Fusing& fusing, int index) {
    constexpr double largest_epsilon = 1;
    if (const auto number = fusing.number_of(index)) {
      if (*number > 0 && *number < largest_epsilon) epsilons_.push_back(*number);
      return graph_.number(static_cast<float>(*number), row_of(fusing.shape(index)));
    }
    const Operation& operation = fusing.at(fusing.unfused(index));
    const bool is_row = !operation.shape.empty() && !operation.shape.back().samples;
    const auto last = signed_size(operation.shape.size()) - 1;
    if (is_row && operation.kind == OpKind::reduction &&
        operation.axes == std::vector<std::int64_t>{last}) {
      const int x = copied(fusing, operation.inputs.front());
      is_reduced_ = true;
      return x < 0 ? -1 : graph_.reduce(operation.reduction, x, {0});
    }
    if (is_row && operation.kind == OpKind::expansion) {
      const int x = copied(fusing, operation.inputs.front());
      return x < 0 ? -1 : graph_.broadcast(x, row_of(operation.shape));
    }
    if (is_row && operation.kind == OpKind::element && !operation.inputs.empty()) {
      Operation same = operation;
      same.shape = row_of(operation.shape);
      for (int& input : same.inputs) {
        input = copied(fusing, input);
        if (input < 0) return -1;
      }
      return graph_.add(std::move(same));
    }
    if (argument_ >= 0 || !is_row || operation.shape.back().size != width_) return -1;
    argument_ = index;
    return 0;
  }

  std::int64_t width_ = 0;
  general::Graph graph_;
  std::map<int, int> copies_;
  std::vector<double> epsilons_;
  int argument_ = -1;
  int result_ = -1;
  bool is_reduced_ = false;
};

/// Returns a row whose mean, deviation and extremes differ.
std::vector<double> trial_row(std::int64_t width, double size) {
  std::vector<double> row;
  for (std::int64_t i = 0; i < width; ++i) {
    row.push_back(size * (std::sin(static_cast<double>(3 * i + 1)) + (i % 5 == 0 ? 0.4 : -0.2)));
  }
  return row;
}

bool normalises(const RowFunction& function, double epsilon, const std::vector<double>& row) {
  constexpr double tolerance = 1e-5;
  const std::vector<double> found = function.at(row);
  const auto width = static_cast<double>(row.size());
  double mean = 0;
  for (const double x : row) mean += x / width;
  double variance = 0;
  for (const double x : row) variance += (x - mean) * (x - mean) / width;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double wanted = (row[i] - mean) / std::sqrt(variance + epsilon);
    if (!(std::abs(found.at(i) - wanted) <= tolerance * (1 + std::abs(wanted)))) return false;
  }
  return true;
}

/// Compares with a normalisation for rows whose variance is small compared with epsilon, and large.
bool normalises(const RowFunction& function, double epsilon, std::int64_t width) {
  return std::ranges::all_of(std::array{0.01, 1.0, 30.0}, [&](double size) {
    return normalises(function, epsilon, trial_row(width, size));
  });
}

}  // namespace

/// Fuses (x − mean)/sqrt(variance + epsilon)·scale + shift over the last dimension.
std::optional<int> fused_layer_norm(Fusing& fusing, int index) {
  const Operation& sum = fusing.at(index);
  if (!is_element(sum, ElementOp::addition)) return std::nullopt;
  const std::size_t rank = sum.shape.size();
  if (rank < 2 || rank > 3 || !starts_with_samples(sum.shape)) return std::nullopt;
  const std::int64_t width = sum.shape.back().size;
  const auto beside = [&](const Operation& operation) -> std::optional<std::pair<int, int>> {
    for (std::size_t which = 0; which < 2; ++which) {
      const auto constant = fusing.parameter_along(operation.inputs[which], rank - 1);
      if (constant) return std::pair(*constant, operation.inputs[1 - which]);
    }
    return std::nullopt;
  };
  const auto shift = beside(sum);
  if (!shift || !is_element(fusing.at(shift->second), ElementOp::product)) return std::nullopt;
  const auto scale = beside(fusing.at(shift->second));
  if (!scale) return std::nullopt;
  const auto function = RowFunction::below(fusing, scale->second);
  if (!function || !fusing.is_exchanged(function->argument())) return std::nullopt;
  for (const double epsilon : function->epsilons()) {
    if (!normalises(*function, epsilon, width)) continue;
    return fusing.add_layer(std::make_shared<const LayerNorm>(static_cast<float>(epsilon)),
                            {function->argument()},
                            {{"scale", scale->first}, {"shift", shift->first}});
  }
  return std::nullopt;
}

}  // namespace parbench::onnx_import
