// Converts a node's inputs to operations, numbers and shapes, and reads its attributes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

namespace {

/// Returns the integral part of a value, limited to ±`beyond`. Throws CannotTranslate for NaN.
std::int64_t clamped(double value, double beyond) {
  if (std::isnan(value)) throw CannotTranslate("one of its integers is not a number");
  return static_cast<std::int64_t>(std::clamp(value, -beyond, beyond));
}

}  // namespace

Arguments::Arguments(Translator& translator, const Node& node)
    : translator_(translator), node_(node) {
  for (std::size_t which = 0; which < count(); ++which) {
    if (has(which) && !tensor(which).is_constant) is_network_ = true;
  }
}

const Tensor& Arguments::tensor(std::size_t which) const {
  if (!has(which)) throw CannotTranslate(fmt::format("its input {} is missing", which + 1));
  return translator_.get(node_.inputs[which]);
}

Term Arguments::operand(std::size_t which) {
  const Tensor& found = tensor(which);
  if (!is_network_) return {&graph(), found.operation};
  if (!found.is_constant || translator_.samples_of_file() == 1) {
    return {&graph(), translator_.in_network(found)};
  }
  const int once = once_per_file(found);
  const Term made{&graph(), translator_.in_network({.is_constant = true, .operation = once})};
  return once == found.operation ? made : repeated(made);
}

Term Arguments::weights(std::size_t which) {
  const Tensor& found = tensor(which);
  if (!is_network_ || !found.is_constant) return operand(which);
  return {&graph(), translator_.in_network(found, true)};
}

Term Arguments::add_layer(std::shared_ptr<const LayerKind> kind, std::vector<int> inputs,
                          std::vector<std::pair<std::string, int>> parameters, int weights) {
  return translator_.add_layer(node_, std::move(kind), std::move(inputs), std::move(parameters),
                               weights);
}

/// Repeats a constant for each sample if it is broadcast with a dimension that joins the samples
/// with other dimensions (Extent with `samples` and a size above 1).
Term Arguments::repeated(Term x) {
  const Extents shape = x.shape();
  const std::optional<Met> met = samples_met(shape.size());
  if (!met || met->extent.size == 1) return x;
  const auto position = static_cast<std::ptrdiff_t>(met->dimension);
  Extents divided = shape;
  divided.insert(divided.begin() + position, Extent());
  const Term one = x.reshape(divided);
  divided[met->dimension] = {.size = 1, .samples = true};
  Extents to = shape;
  to[met->dimension] = met->extent;
  return one.broadcast(divided).reshape(to);
}

/// Returns the dimension of a tensor of `rank` dimensions that is broadcast with the samples of
/// another input; nothing if there is none.
std::optional<Arguments::Met> Arguments::samples_met(std::size_t rank) const {
  for (std::size_t which = 0; which < count(); ++which) {
    if (!has(which) || tensor(which).is_constant) continue;
    const Extents other = shape(which);
    for (std::size_t d = 0; d < other.size(); ++d) {
      if (other[d].samples && d + rank >= other.size()) {
        return Met{.dimension = d + rank - other.size(), .extent = other[d]};
      }
    }
  }
  return std::nullopt;
}

int Arguments::once_per_file(const Tensor& constant) const {
  static const OperatorTable by_element = element_operators();
  constexpr std::array others{"Concat", "GRU", "LSTM", "MatMul", "RNN"};
  if (!by_element.contains(node_.op) && std::ranges::find(others, node_.op) == others.end()) {
    return constant.operation;
  }
  general::Graph& constants = translator_.constants();
  const Extents shape = constants.shape(constant.operation);
  const auto met = samples_met(shape.size());
  if (!met || met->extent.outer != 1 ||
      shape[met->dimension].size != translator_.samples_of_file() * met->extent.size) {
    return constant.operation;
  }
  const std::vector<double> values = translator_.values_of(constant.operation);
  const Extents after = general::part_of(shape, met->dimension + 1, shape.size());
  const auto inside = static_cast<std::size_t>(general::count_of(after).size * met->extent.size);
  const std::size_t all = inside * static_cast<std::size_t>(translator_.samples_of_file());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != values[i - i % all + i % inside]) return constant.operation;
  }
  return constants.part(constant.operation, met->dimension, 0, met->extent.size);
}

void Arguments::check_count(std::size_t wanted) const {
  refuse_if(count() != wanted, fmt::format("it has {} inputs instead of {}", count(), wanted));
}

Extents Arguments::shape(std::size_t which) const {
  const Tensor& found = tensor(which);
  return found.is_constant ? translator_.constants().shape(found.operation)
                           : translator_.network().shape(found.operation);
}

bool Arguments::is_weight(std::size_t which) const {
  if (!has(which) || !is_constant(which)) return false;
  if (translator_.is_trainable(tensor(which).operation)) return true;
  return type(which) == ElementType::floating && rank(which) > 0;
}

int Arguments::constant(std::size_t which, std::string_view what) const {
  const Tensor& found = tensor(which);
  if (!found.is_constant) throw CannotTranslate(fmt::format("its {} must be constant", what));
  return found.operation;
}

std::vector<double> Arguments::numbers(std::size_t which) const {
  if (!has(which)) return {};
  const Tensor& found = tensor(which);
  refuse_if(!found.is_constant,
            fmt::format("its input {} must be constant in the file", which + 1));
  return translator_.values_of(found.operation);
}

std::vector<std::int64_t> Arguments::integers(std::size_t which) const {
  constexpr double beyond = 1e16;
  std::vector<std::int64_t> integers;
  for (const double value : numbers(which)) integers.push_back(clamped(value, beyond));
  return integers;
}

std::int64_t Arguments::integer(std::string_view name, std::int64_t fallback) const {
  const std::int64_t value = attribute(name, fallback);
  refuse_if(value < -max_integer || value > max_integer, fmt::format("its {} is {}", name, value));
  return value;
}

std::int64_t Arguments::integer(std::size_t which, std::int64_t fallback) const {
  constexpr auto beyond = static_cast<double>(max_integer);
  return clamped(number(which, static_cast<double>(fallback)), beyond);
}

std::vector<std::int64_t> Arguments::integer_list(std::string_view name,
                                                  std::vector<std::int64_t> fallback) const {
  std::vector<std::int64_t> values = attribute(name, std::move(fallback));
  for (std::int64_t& value : values) value = std::clamp(value, -max_integer, max_integer);
  return values;
}

double Arguments::number(std::size_t which, double fallback) const {
  if (!has(which)) return fallback;
  const std::vector<double> values = numbers(which);
  refuse_if(values.size() != 1, fmt::format("its input {} is not a single number", which + 1));
  return values.front();
}

std::optional<std::vector<std::int64_t>> Arguments::integers(std::string_view name,
                                                             std::size_t which) const {
  if (has_attribute(name)) return integer_list(name, {});
  if (!has(which)) return std::nullopt;
  return integers(which);
}

Tensor Arguments::result(int operation) const {
  Tensor made{.is_constant = !is_network_, .operation = operation};
  if (type_) {
    made.type = *type_;
    made.range = range_;
    return made;
  }
  for (std::size_t which = 0; which < count(); ++which) {
    if (!has(which)) continue;
    made.type = type(which);
    made.range = range(which);
    break;
  }
  return made;
}

}  // namespace parbench::onnx_import
