// Fuses normalisations of rows.
#include <algorithm>
#include <array>
#include <cmath>

#include "scenarios/models/layers/norms.h"
#include "scenarios/models/onnx/fusions/fusing.h"
#include "scenarios/models/onnx/general/indexing.h"

namespace parbench::onnx_import {
namespace {

using general::Operation;

/// Returns a row of magnitude `size` whose mean, deviation and extremes differ.
std::vector<double> trial_row(std::int64_t width, double size) {
  std::vector<double> row;
  for (std::int64_t i = 0; i < width; ++i) {
    row.push_back(size * (std::sin(static_cast<double>(3 * i + 1)) + (i % 5 == 0 ? 0.4 : -0.2)));
  }
  return row;
}

bool normalises(const Function& function, double epsilon, const std::vector<double>& row) {
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

/// Returns whether a function normalises trial rows, with variances from small to large compared
/// with epsilon.
bool normalises(const Function& function, double epsilon, std::int64_t width) {
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
  const auto beside = [&](const Operation& operation) {
    return find_input(operation,
                      [&](int input) { return fusing.parameter_along(input, rank - 1); });
  };
  const auto shift = beside(sum);
  if (!shift || !is_element(fusing.at(shift->second), ElementOp::product)) return std::nullopt;
  const auto scale = beside(fusing.at(shift->second));
  if (!scale) return std::nullopt;
  const auto function = Function::of_rows(fusing, scale->second);
  if (!function || !fusing.is_exchanged(function->argument())) return std::nullopt;
  for (const double epsilon : function->numbers()) {
    if (epsilon <= 0 || epsilon >= 1 || !normalises(*function, epsilon, width)) continue;
    return fusing.add_layer(std::make_shared<const LayerNorm>(static_cast<float>(epsilon)),
                            {function->argument()},
                            {{"scale", scale->first}, {"shift", shift->first}});
  }
  return std::nullopt;
}

}  // namespace parbench::onnx_import
