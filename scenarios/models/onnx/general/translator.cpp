// Where tensors come from, and one node after the other.
#include "scenarios/models/onnx/general/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "scenarios/models/general/evaluate.h"
#include "scenarios/models/network.h"

namespace parbench::onnx_import {
namespace {

using general::Extents;
using general::Operation;
using general::OpKind;

/// A node reads what another one has not made, because that could not be translated.
class Missing : public std::exception {};

/// Larger constants are not read: they are weights.
constexpr std::int64_t max_inspected = 1 << 20;

Extents fixed(const Shape& shape) {
  Extents extents;
  for (const std::int64_t size : shape) extents.push_back({size});
  return extents;
}

bool has_samples(double value) {
  return value != 0 && std::abs(value) < 9e15 && std::fmod(value, samples_prime) == 0;
}

/// Whether values are a mask of attention rather than weights.
bool is_mask(const std::vector<double>& values) {
  constexpr double hidden_below = -1e4;
  return std::ranges::any_of(values, [](double value) { return value <= hidden_below; });
}

}  // namespace

Extents extents_of_numbers(const std::vector<std::int64_t>& numbers) {
  Extents extents;
  for (const std::int64_t number : numbers) {
    if (number < 0) throw CannotTranslate("it computes a shape with a negative extent");
    const bool samples = has_samples(static_cast<double>(number));
    extents.push_back({.size = samples ? number / samples_prime : number, .samples = samples});
  }
  return extents;
}

Translator::Translator(const onnx_import::Graph& file, Load load)
    : file_(file), load_(std::move(load)) {
  add_constants();
}

/// Floating-point tensors of more than one element are weights until something says otherwise.
void Translator::add_constants() {
  for (const auto& [name, constant] : file_.constants) {
    const std::int64_t count = element_count(constant.shape);
    const bool is_weight = constant.type == ElementType::floating && count > 1;
    if (!is_weight && std::cmp_equal(constant.numbers.size(), count)) {
      add_constant(name, constant.shape, constant.numbers, constant.type);
      continue;
    }
    const int input = add_source(name, constant);
    if (is_weight) weights_.insert(input);
    tensors_[name] = {.operation = input, .type = constant.type};
  }
}

std::int64_t Translator::file_batch() const {
  if (file_.inputs.empty() || file_.inputs.front().shape.empty()) return 1;
  return std::max(file_.inputs.front().shape.front(), std::int64_t{1});
}

int Translator::add_source(const std::string& name, const Constant& constant) {
  sources_.push_back(name);
  return constants_.input(fixed(constant.shape));
}

void Translator::add_constant(const std::string& name, const Shape& shape,
                              std::vector<double> values, ElementType type) {
  tensors_[name] = {.operation = constants_.constant(shape, std::move(values)), .type = type};
}

void Translator::add_input(const std::string& name, Extents shape, ElementType type) {
  tensors_[name] = {
      .is_constant = false, .operation = network_.input(std::move(shape)), .type = type};
}

const Tensor* Translator::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

const Node* Translator::maker_of(int operation) const {
  const auto place = static_cast<std::size_t>(operation);
  return place < makers_.size() ? makers_[place] : nullptr;
}

// --- constants ---

bool Translator::is_trainable(int constant) const {
  const Operation& operation = constants_.at(constant);
  if (operation.kind == OpKind::input) return weights_.contains(constant);
  return std::ranges::any_of(operation.inputs, [&](int input) { return is_trainable(input); });
}

bool Translator::is_unsigned(const std::string& name) const {
  const auto found = file_.constants.find(name);
  return found != file_.constants.end() && found->second.is_unsigned;
}

std::string Translator::source_of(int constant) const {
  const Operation& operation = constants_.at(constant);
  if (operation.kind == OpKind::input)
    return sources_.at(static_cast<std::size_t>(operation.index));
  for (const int input : operation.inputs) {
    if (std::string source = source_of(input); !source.empty()) return source;
  }
  return {};
}

int Translator::turned(int constant) {
  const auto [known, is_new] = turned_.try_emplace(constant, 0);
  if (is_new) known->second = constants_.permute(constant, {1, 0});
  return known->second;
}

std::string Translator::module_of(int constant) const {
  const std::string source = source_of(constant);
  for (const std::string_view suffix : {".weight", ".bias"}) {
    if (source.ends_with(suffix)) return source.substr(0, source.size() - suffix.size());
  }
  return {};
}

std::vector<double> Translator::values_of(int constant) {
  if (constants_.at(constant).kind == OpKind::constant) return *constants_.at(constant).values;
  std::vector<general::Values> inputs(sources_.size());
  for (const int input : general::read_by(constants_, {constant}, {})) {
    const auto index = static_cast<std::size_t>(constants_.at(input).index);
    const std::vector<float> loaded = load_(sources_.at(index));
    inputs[index].assign(loaded.begin(), loaded.end());
  }
  return general::evaluate(constants_, {constant}, inputs, {}, 1).front();
}

int Translator::in_network(const Tensor& tensor) {
  return tensor.is_constant ? brought(tensor.operation) : tensor.operation;
}

int Translator::brought(int constant) {
  const auto known = brought_.find(constant);
  if (known != brought_.end()) return known->second;
  const Shape shape = general::shape_at(constants_.shape(constant), 1);
  const std::int64_t count = element_count(shape);
  const bool is_small = count <= max_inspected;
  const std::vector<double> values = is_small ? values_of(constant) : std::vector<double>();
  if (std::ranges::any_of(values, has_samples)) {
    throw CannotTranslate("it computes with the number of samples");
  }
  int made = 0;
  if (count > 1 && is_trainable(constant) && !is_mask(values)) {
    made = network_.parameter(shape);
    parameters_.push_back({.constant = constant, .name = source_of(constant)});
  } else if (!is_small) {
    throw CannotTranslate("one of its constants is too large");
  } else if (std::ranges::adjacent_find(values, std::not_equal_to()) == values.end() && count > 0) {
    made = network_.number(static_cast<float>(values.front()), fixed(shape));
  } else {
    made = network_.constant(shape, values);
  }
  brought_[constant] = made;
  return made;
}

// --- nodes ---

int Translator::add_layer(const Node& node, std::shared_ptr<const LayerKind> kind,
                          std::vector<int> inputs,
                          std::vector<std::pair<std::string, int>> parameters, int weights) {
  std::string name = weights < 0 ? std::string() : module_of(weights);
  if (name.empty()) name = name_of(node);
  return append_layer(
      network_,
      {.kind = std::move(kind), .name = std::move(name), .parameters = std::move(parameters)},
      std::move(inputs));
}

int Translator::append_layer(general::Graph& graph, TranslatedLayer layer,
                             std::vector<int> inputs) {
  std::vector<Shape> shapes;
  for (const int input : inputs) {
    const Extents& extents = graph.shape(input);
    if (extents.size() < 2 || extents.front() != general::Extent{1, true}) {
      throw CannotTranslate(
          fmt::format("its input {} does not begin with the samples", general::to_string(extents)));
    }
    const Shape with_one = general::shape_at(extents, 1);
    shapes.emplace_back(with_one.begin() + 1, with_one.end());
  }
  Extents output{{1, true}};
  for (const std::int64_t size : layer.kind->output_of(shapes)) output.push_back({size});
  layers_.push_back(std::move(layer));
  return graph.layer(static_cast<int>(layers_.size()) - 1, std::move(inputs), std::move(output));
}

void Translator::keep_makers(const Node& node) {
  makers_.resize(network_.operations().size(), &node);
}

void Translator::translate(const Node& node) {
  const auto found = operator_table().find(node.op);
  if (found == operator_table().end()) {
    throw CannotTranslate("not supported; see docs/guide/own-model.md#operators");
  }
  Arguments arguments(*this, node);
  const std::vector<int> outputs = found->second(arguments);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= outputs.size()) continue;  // who reads it is refused
    if (outputs[i] < 0) continue;
    tensors_[node.outputs[i]] = {.is_constant = !arguments.is_network(),
                                 .operation = outputs[i],
                                 .type = arguments.result_type()};
  }
}

void Translator::translate(const std::vector<const Node*>& nodes) {
  makers_.resize(network_.operations().size(), nullptr);
  for (const Node* node : nodes) read_.insert(node->inputs.begin(), node->inputs.end());
  for (const Node* node : nodes) {
    try {
      translate(*node);
    } catch (const Missing&) {
      left_out_.insert(node);
    } catch (const CannotTranslate& error) {
      problems_.push_back({node, error.what()});
      left_out_.insert(node);
    } catch (const std::invalid_argument& error) {
      problems_.push_back({node, error.what()});
      left_out_.insert(node);
    }
    keep_makers(*node);
  }
}

// --- arguments ---

Arguments::Arguments(Translator& translator, const Node& node)
    : translator_(translator), node_(node) {
  for (std::size_t which = 0; which < count(); ++which) {
    if (has(which) && !tensor(which).is_constant) is_network_ = true;
  }
}

const Tensor& Arguments::tensor(std::size_t which) const {
  if (!has(which)) throw CannotTranslate(fmt::format("it lacks input {}", which + 1));
  const Tensor* found = translator_.find(node_.inputs[which]);
  if (found == nullptr) throw Missing();
  return *found;
}

int Arguments::operand(std::size_t which) {
  const Tensor& found = tensor(which);
  return is_network_ ? translator_.in_network(found) : found.operation;
}

void Arguments::check_count(std::size_t wanted) const {
  if (count() != wanted) {
    throw CannotTranslate(fmt::format("it has {} inputs instead of {}", count(), wanted));
  }
}

std::vector<int> Arguments::operands() {
  std::vector<int> found;
  for (std::size_t which = 0; which < count(); ++which) found.push_back(operand(which));
  const std::int64_t batch = translator_.file_batch();
  if (batch == 1 || !is_network_) return found;
  std::size_t behind = 0;  // dimensions behind the samples
  for (const int one : found) {
    const Extents& of_one = graph().shape(one);
    const auto samples = std::ranges::find(of_one, general::Extent{1, true});
    if (samples != of_one.end()) behind = static_cast<std::size_t>(of_one.end() - samples);
  }
  for (std::size_t which = 0; which < found.size() && behind > 0; ++which) {
    const Extents of_one = graph().shape(found[which]);
    if (!is_constant(which) || of_one.size() < behind) continue;
    const std::size_t d = of_one.size() - behind;
    if (of_one[d] != general::Extent{.size = batch}) continue;
    Extents to = of_one;
    to[d] = {};
    found[which] = graph().slice(found[which], Integers(of_one.size(), 0),
                                 Integers(of_one.size(), 1), std::move(to));
  }
  return found;
}

Extents Arguments::shape(std::size_t which) const {
  const Tensor& found = tensor(which);
  return found.is_constant ? translator_.constants().shape(found.operation)
                           : translator_.network().shape(found.operation);
}

bool Arguments::is_weight(std::size_t which) const {
  if (!has(which) || !is_constant(which)) return false;
  if (translator_.is_trainable(tensor(which).operation)) return true;
  return type(which) == ElementType::floating && general::count_of(shape(which)).size > 1;
}

int Arguments::constant(std::size_t which, std::string_view what) const {
  const Tensor& found = tensor(which);
  if (!found.is_constant) throw CannotTranslate(fmt::format("its {} are computed", what));
  return found.operation;
}

std::vector<double> Arguments::numbers(std::size_t which) const {
  if (!has(which)) return {};
  const Tensor& found = tensor(which);
  if (!found.is_constant) {
    throw CannotTranslate(fmt::format("its input {} must be constant in the file", which + 1));
  }
  return translator_.values_of(found.operation);
}

std::vector<std::int64_t> Arguments::integers(std::size_t which) const {
  constexpr double beyond = 9.2e18;
  std::vector<std::int64_t> integers;
  for (const double value : numbers(which)) {
    integers.push_back(static_cast<std::int64_t>(std::clamp(value, -beyond, beyond)));
  }
  return integers;
}

double Arguments::number(std::size_t which, double fallback) const {
  if (!has(which)) return fallback;
  const std::vector<double> values = numbers(which);
  if (values.size() != 1)
    throw CannotTranslate(fmt::format("its input {} is not a single number", which + 1));
  return values.front();
}

std::optional<std::vector<std::int64_t>> Arguments::integers(std::string_view name,
                                                             std::size_t which) const {
  if (has_attribute(name)) return attribute(name, std::vector<std::int64_t>());
  if (!has(which)) return std::nullopt;
  return integers(which);
}

ElementType Arguments::result_type() const {
  if (type_) return *type_;
  for (std::size_t which = 0; which < count(); ++which) {
    if (has(which)) return type(which);
  }
  return ElementType::floating;
}

// --- the table ---

const OperatorTable& operator_table() {
  static const OperatorTable table = [] {
    OperatorTable all;
    for (const auto part : {element_operators, movement_operators, indexing_operators,
                            reduction_operators, product_operators, window_operators,
                            resizing_operators, recurrent_operators, quantising_operators}) {
      all.merge(part());
    }
    return all;
  }();
  return table;
}

}  // namespace parbench::onnx_import
