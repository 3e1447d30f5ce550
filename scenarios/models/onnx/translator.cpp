// Creates tensors of inputs and constants, and translates one node after the other.
#include "scenarios/models/onnx/translator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <sstream>
#include <utility>

#include "scenarios/models/general/evaluate.h"
#include "scenarios/models/network.h"

namespace parbench::onnx_import {
namespace {

using general::Operation;
using general::OpKind;

/// Thrown for a node that reads the result of a node that could not be translated.
class Missing : public std::exception {};

/// Maximum elements of constants whose values are inspected: max_inspected for constants that can
/// be weights and do not have the shape of a mask, otherwise max_read.
constexpr std::int64_t max_inspected = 1 << 20;
constexpr std::int64_t max_read = 1 << 26;  // for example a mask of 8192 positions

bool has_samples(double value) {
  return value != 0 && std::abs(value) < 9e15 && std::fmod(value, samples_prime) == 0;
}

/// Returns whether a constant may be an attention mask of many positions; convolution kernels have
/// similar shapes, but are smaller.
bool has_shape_of_mask(const Shape& shape) {
  constexpr std::int64_t largest_kernel = 64;
  return shape.size() == 4 && shape[2] == shape[3] && shape[2] > largest_kernel;
}

/// Returns whether values are an attention mask rather than weights.
bool is_mask(const Shape& shape, const std::vector<double>& values) {
  constexpr double hidden_below = -1e4;
  constexpr std::size_t rank_of_scores = 4;
  const bool is_for_all =
      shape.size() == rank_of_scores && shape[0] == 1 && shape[1] == 1 && shape[2] == shape[3];
  if (is_for_all && std::ranges::all_of(values, [](double value) { return value == 0; })) {
    return true;  // a mask that hides nothing
  }
  return std::ranges::any_of(values, [](double value) { return value <= hidden_below; });
}

/// Returns whether a column of values, `stride` apart, begins with 0 or 1 and satisfies the
/// recurrence of sin(p·w) and cos(p·w) at positions p. Does not check the amplitude.
bool is_wave(const std::vector<double>& values, std::size_t first, std::size_t stride,
             std::size_t count) {
  constexpr double tolerance = 1e-3;
  const auto at = [&](std::size_t position) { return values[first + position * stride]; };
  if (at(0) != 0 && at(0) != 1) return false;
  const double cosine = at(0) == 1 ? at(1) : at(1) == 0 ? 1 : at(2) / (2 * at(1));
  for (std::size_t p = 1; p + 1 < count; ++p) {
    if (std::abs(at(p + 1) + at(p - 1) - 2 * cosine * at(p)) > tolerance) return false;
  }
  return true;
}

/// Returns whether values are sines and cosines of positions, as for rotary embeddings, rather than
/// weights.
bool is_of_positions(const Shape& shape, const std::vector<double>& values) {
  constexpr std::size_t min_positions = 4;
  if (shape.size() < 2 || values.empty()) return false;
  const auto rows = static_cast<std::size_t>(shape.end()[-2]);
  const auto columns = static_cast<std::size_t>(shape.back());
  if (rows < min_positions || rows * columns != values.size()) return false;
  const bool is_flat = std::all_of(values.begin() + static_cast<std::ptrdiff_t>(columns),
                                   values.end(), [](double one) { return one == 0 || one == 1; });
  for (std::size_t column = 0; column < columns; ++column) {
    if (is_flat || !is_wave(values, column, columns, rows)) return false;
  }
  return true;
}

}  // namespace

Extents extents_of_numbers(const std::vector<std::int64_t>& numbers) {
  Extents extents;
  for (const std::int64_t number : numbers) {
    refuse_if(number < 0, "the computed shape has a negative extent");
    const bool samples = has_samples(static_cast<double>(number));
    extents.push_back({.size = samples ? number / samples_prime : number, .samples = samples});
  }
  return extents;
}

std::string layer_name_of(const Node& node, bool has_weights) {
  std::string name = name_of(node);
  if (!name.starts_with('/')) return name;
  std::vector<std::string> parts;
  std::istringstream stream(name.substr(1));
  for (std::string part; std::getline(stream, part, '/');) {
    // The name of a module in a list begins with the list's name.
    const bool is_repeated = !parts.empty() && part.starts_with(parts.back() + ".");
    if (is_repeated) parts.pop_back();
    parts.push_back(std::move(part));
  }
  if (has_weights && parts.size() > 1) parts.pop_back();
  return fmt::format("{}", fmt::join(parts, "."));
}

Translator::Translator(const onnx_import::Graph& file, Load load)
    : file_(file), load_(std::move(load)) {
  add_constants(file);
  has_initializers_ = !weights_.empty();
}

void Translator::add_constants(const onnx_import::Graph& graph) {
  for (const auto& [name, constant] : graph.constants) {
    tensors_[name] = {.operation = add_source(name, constant, true),
                      .type = constant.type,
                      .range = constant.range};
  }
}

int Translator::add_source(const std::string& name, const Constant& constant, bool may_train) {
  const std::int64_t count = element_count(constant.shape);
  const bool is_weight = may_train && constant.type == ElementType::floating && count > 1;
  if (!is_weight && std::cmp_equal(constant.numbers.size(), count)) {
    return constants_.constant(constant.shape, constant.numbers);
  }
  if (const auto known = inputs_.find(name); known != inputs_.end()) return known->second;
  sources_.push_back(name);
  const int input = constants_.input(general::fixed(constant.shape));
  inputs_[name] = input;
  if (is_weight) weights_.insert(input);
  return input;
}

void Translator::add_constant(const std::string& name, const Shape& shape,
                              std::vector<double> values, ElementType type) {
  tensors_[name] = {.operation = constants_.constant(shape, std::move(values)), .type = type};
}

void Translator::add_input(const std::string& name, Extents shape, ElementType type) {
  tensors_[name] = {
      .is_constant = false, .operation = network_.input(std::move(shape)), .type = type};
}

const Tensor& Translator::get(const std::string& name) const {
  const Tensor* found = find(name);
  if (found == nullptr) throw Missing();
  return *found;
}

const Tensor* Translator::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::int64_t Translator::samples_of_file() const {
  if (file_.inputs.empty() || file_.inputs.front().shape.empty()) return 1;
  constexpr std::int64_t max_batch = 1 << 14;  // larger numbers are not a batch size
  const std::int64_t samples = file_.inputs.front().shape.front();
  return samples > max_batch ? 1 : std::max(samples, std::int64_t{1});
}

const Node* Translator::maker_of(int operation) const {
  const auto slot = static_cast<std::size_t>(operation);
  return slot < makers_.size() ? makers_[slot] : nullptr;
}

// --- constants ---

bool Translator::is_trainable(int constant) const {
  const Operation& operation = constants_.at(constant);
  if (operation.kind == OpKind::input) return weights_.contains(constant);
  constexpr std::array of_positions{ElementOp::sine,     ElementOp::cosine, ElementOp::less,
                                    ElementOp::equal,    ElementOp::floor,  ElementOp::ceiling,
                                    ElementOp::rounding, ElementOp::sign};
  if (operation.kind == OpKind::element &&
      std::ranges::find(of_positions, operation.element) != of_positions.end()) {
    return false;  // rotary angles, masks, indices
  }
  return std::ranges::any_of(operation.inputs, [&](int input) { return is_trainable(input); });
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
  if (constants_.at(constant).kind == OpKind::constant)
    return constants_.at(constant).values->values();
  std::vector<general::Values> inputs(sources_.size());
  for (const int input : general::read_by(constants_, {constant}, {})) {
    const auto index = static_cast<std::size_t>(constants_.at(input).index);
    const std::vector<float> loaded = load_(sources_.at(index));
    const Shape shape = general::shape_at(constants_.shape(input), 1);
    refuse_if(std::cmp_not_equal(loaded.size(), element_count(shape)),
              "the values of " + sources_.at(index) + " do not fit its shape");
    inputs[index].assign(loaded.begin(), loaded.end());
  }
  return general::evaluate(constants_, {constant}, inputs, {}, 1).front();
}

int Translator::in_network(const Tensor& tensor, bool trains) {
  return tensor.is_constant ? brought(tensor.operation, trains) : tensor.operation;
}

int Translator::brought(int constant, bool trains) {
  const auto known = brought_.find(constant);
  if (known != brought_.end() &&
      (!trains || network_.at(known->second).kind == OpKind::parameter)) {
    return known->second;
  }
  const Shape shape = general::shape_at(constants_.shape(constant), 1);
  const std::int64_t count = element_count(shape);
  const bool can_train = is_trainable(constant);
  const bool is_read =
      count <= max_inspected || (count <= max_read && (!can_train || has_shape_of_mask(shape)));
  const std::vector<double> values = is_read ? values_of(constant) : std::vector<double>();
  refuse_if(std::ranges::any_of(values, has_samples),
            "computing with the number of samples is not supported");
  int made = 0;
  const bool is_weight =
      count > 1 && can_train && !is_mask(shape, values) && !is_of_positions(shape, values);
  if (is_weight || trains) {
    made = network_.parameter(shape);
    parameters_.push_back(constant);
  } else if (!is_read) {
    throw CannotTranslate("one of its constants is too large");
  } else if (std::ranges::adjacent_find(values, std::not_equal_to()) == values.end() && count > 0) {
    made = network_.number(static_cast<float>(values.front()), general::fixed(shape));
  } else {
    made = network_.constant(shape, values);
  }
  brought_[constant] = made;
  return made;
}

// --- nodes ---

Term Translator::add_layer(const Node& node, std::shared_ptr<const LayerKind> kind,
                           std::vector<int> inputs,
                           std::vector<std::pair<std::string, int>> parameters, int weights) {
  std::string name = weights < 0 ? std::string() : module_of(weights);
  if (name.empty()) name = layer_name_of(node, weights >= 0);
  return {&network_, append_layer(network_,
                                  {.kind = std::move(kind),
                                   .name = std::move(name),
                                   .parameters = std::move(parameters)},
                                  std::move(inputs))};
}

int Translator::append_layer(general::Graph& graph, TranslatedLayer layer,
                             std::vector<int> inputs) {
  std::vector<Shape> shapes;
  for (const int input : inputs) {
    const Extents& extents = graph.shape(input);
    refuse_if(
        extents.size() < 2 || extents.front() != Extent{1, true},
        fmt::format("the first dimension of its input {} is not the batch", to_string(extents)));
    const Shape with_one = general::shape_at(extents, 1);
    shapes.emplace_back(with_one.begin() + 1, with_one.end());
  }
  Extents output = general::joined({{{1, true}}, general::fixed(layer.kind->output_of(shapes))});
  layers_.push_back(std::move(layer));
  return graph.layer(static_cast<int>(layers_.size()) - 1, std::move(inputs), std::move(output));
}

void Translator::keep_makers(const Node& node) {
  makers_.resize(network_.operations().size(), &node);
}

void Translator::translate(const Node& node) {
  const auto flow = control_flow_operators().find(node.op);
  if (flow != control_flow_operators().end()) {
    Arguments arguments(*this, node);
    return flow->second(arguments);
  }
  const auto found = operator_table().find(node.op);
  if (found == operator_table().end()) {
    throw CannotTranslate("not supported; see docs/guide/own-model.md#operators");
  }
  Arguments arguments(*this, node);
  const std::vector<int> outputs = found->second(arguments);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= outputs.size() || outputs[i] < 0) {
      refuse_if(is_read(node.outputs[i]),
                fmt::format("its output {} is read and not supported", i + 1));
      continue;
    }
    tensors_[node.outputs[i]] = arguments.result(outputs[i]);
  }
}

void Translator::try_translate(const Node& node) {
  try {
    translate(node);
  } catch (const Missing&) {
    // the problem of the node that computes the tensor is known
  } catch (const CannotTranslate& error) {
    problems_.push_back({&node, error.what()});
  } catch (const std::invalid_argument& error) {
    problems_.push_back({&node, error.what()});
  } catch (const std::out_of_range&) {  // thrown by general::evaluate
    problems_.push_back({&node, "an index is outside of a constant's elements"});
  }
  keep_makers(node);
}

void Translator::translate(const std::vector<const Node*>& nodes, const std::string& output) {
  makers_.resize(network_.operations().size(), nullptr);
  read_.insert(output);
  for (const Node* node : nodes) read_.insert(node->inputs.begin(), node->inputs.end());
  for (const Node* node : nodes) try_translate(*node);
}

void Translator::translate_nested(const onnx_import::Graph& nested) {
  add_constants(nested);
  read_.insert(nested.outputs.begin(), nested.outputs.end());
  for (const Node& node : nested.nodes) read_.insert(node.inputs.begin(), node.inputs.end());
  const std::size_t before = problems_.size();
  for (const Node& node : nested.nodes) try_translate(node);
  if (problems_.size() > before) throw Missing();
}

// --- the table ---

const OperatorTable& operator_table() {
  static const OperatorTable table = [] {
    OperatorTable all;
    for (const auto part :
         {attention_operators, element_operators, indexing_operators, movement_operators,
          product_operators, recurrent_operators, reduction_operators, resizing_operators,
          sampling_operators, window_operators}) {
      all.merge(part());
    }
    return all;
  }();
  return table;
}

}  // namespace parbench::onnx_import
