// An operation belongs to the layer of its readers. If its readers are in several layers, or are an
// OpKind::layer, the operation is the last one of a separate layer; shared operations (is_shared)
// are computed again in each of these layers instead. An OpKind::layer is a layer by itself.
#include "scenarios/models/onnx/layering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <vector>

#include "scenarios/models/layers/composition.h"
#include "scenarios/models/onnx/exchanged.h"

namespace parbench::onnx_import {
namespace {

using general::Operation;
using general::OpKind;

/// Replaces characters that separate parts of cases' names by dots, and removes leading dots.
/// Returns "layer" if nothing is left.
std::string with_dots(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '/' || c == ':' || c == '+' || c == ',' || c == ' '; }, '.');
  name.erase(0, std::min(name.find_first_not_of('.'), name.size()));
  return name.empty() ? "layer" : name;
}

/// Constants with the initial values of a layer's parameters, by role.
using Parameters = std::vector<std::pair<std::string, int>>;

class Layering {
 public:
  Layering(Translator& translator, int output)
      : translator_(translator), graph_(translator.network()), output_(output) {
    result_.network.one_hot_target = false;
    result_.network.unit("");
  }

  [[nodiscard]] LayeredNetwork run() {
    find_varying();
    find_roots();
    find_common();
    for (int index = 0; index <= output_; ++index) {
      if (is_root(index)) add(index);
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_root(int index) const { return root_of_[slot(index)] == index; }
  [[nodiscard]] static std::size_t slot(int index) { return static_cast<std::size_t>(index); }
  /// Returns whether every layer that reads an operation computes it again: a parameter, or an
  /// operation that does not vary (find_varying) or does not contain the samples.
  [[nodiscard]] bool is_shared(int index) const {
    const Operation& operation = graph_.at(index);
    return !varies_[slot(index)] || operation.kind == OpKind::parameter ||
           std::ranges::none_of(operation.shape, &Extent::samples);
  }

  /// Finds operations that depend on the network's input, on parameters or on layers, unlike
  /// constant masks.
  void find_varying() {
    for (int index = 0; index <= output_; ++index) {
      const Operation& operation = graph_.at(index);
      const bool is_read = operation.kind == OpKind::input || operation.kind == OpKind::parameter ||
                           operation.kind == OpKind::layer;
      varies_.push_back(is_read || std::ranges::any_of(operation.inputs, [&](int input) {
                          return varies_[slot(input)];
                        }));
    }
  }

  /// Finds the last operation of each operation's layer; −1: several layers compute the operation,
  /// −2: no layer does.
  void find_roots() {
    constexpr int unread = -2;
    root_of_.assign(slot(output_) + 1, unread);
    root_of_[slot(output_)] = output_;
    for (int index = output_; index >= 0; --index) {
      const Operation& operation = graph_.at(index);
      int& root = root_of_[slot(index)];
      if (root == unread) continue;
      const bool ends_layer =
          root == several || operation.kind == OpKind::layer || operation.kind == OpKind::input;
      if (ends_layer && !is_shared(index)) root = index;
      for (const int input : operation.inputs) {
        int& of_input = root_of_[slot(input)];
        const int reader = operation.kind == OpKind::layer ? several : root;
        of_input = of_input == unread || of_input == reader ? reader : several;
      }
    }
  }

  /// Collects the constants of the parameters that a composition reads, in the order in which
  /// `copied` adds them.
  void collect(int index, bool is_own_root, std::set<int>& known,
               std::vector<int>& constants) const {
    const bool is_outside = !is_own_root && is_root(index);
    if (is_outside || !known.insert(index).second) return;
    const Operation& operation = graph_.at(index);
    if (operation.kind == OpKind::parameter)
      constants.push_back(translator_.constant_of(operation));
    for (const int input : operation.inputs) collect(input, false, known, constants);
  }

  /// Finds parameters, other than uniform ones, that several compositions with different sets of
  /// parameters read.
  void find_common() {
    // by parameter: all parameters of the first composition that reads it
    std::map<int, std::vector<int>> first_reader;
    for (int index = 0; index <= output_; ++index) {
      const OpKind kind = graph_.at(index).kind;
      if (!is_root(index) || kind == OpKind::input || kind == OpKind::layer) continue;
      std::set<int> known;
      std::vector<int> constants;
      collect(index, true, known, constants);
      for (const int constant : constants) {
        const auto [found, is_new] = first_reader.try_emplace(constant, constants);
        if (!is_new && found->second != constants && !is_uniform(constant))
          common_.insert(constant);
      }
    }
  }

  void add(int index) {
    const Operation& operation = graph_.at(index);
    if (operation.kind == OpKind::input) {
      if (operation.index != 0) throw CannotTranslate("it has several inputs");
      layer_of_[index] = network_input;
      const Shape shape = general::shape_at(Exchanged(operation.shape).front(), 1);
      result_.network.input = {shape.begin() + 1, shape.end()};
    } else if (operation.kind == OpKind::layer) {
      add_layer(operation, index);
    } else {
      add_composition(index);
    }
  }

  void add_layer(const Operation& operation, int index) {
    const TranslatedLayer& made =
        translator_.layers().at(static_cast<std::size_t>(operation.index));
    std::vector<int> inputs;
    for (const int input : operation.inputs) {
      const auto read = layer_of_.find(input);
      refuse_if(
          read == layer_of_.end(),
          fmt::format("its layer '{}' reads values that do not depend on the samples", made.name));
      inputs.push_back(read->second);
    }
    const int layer = append(unique(made.name), made.kind, std::move(inputs));
    layer_of_[index] = layer;
    keep(layer, made.parameters);
  }

  [[nodiscard]] std::string unique(const std::string& name) {
    const std::string base = with_dots(name);
    std::string found = base;
    while (!names_.insert(found).second) found = fmt::format("{}_{}", base, ++numbers_[base] + 1);
    return found;
  }

  int append(const std::string& name, std::shared_ptr<const LayerKind> kind,
             std::vector<int> inputs) {
    return result_.network.add_shared(name, std::move(kind), std::move(inputs));
  }

  /// Returns whether all values of a constant are equal. Exporters store such initial values once
  /// for separate parameters.
  [[nodiscard]] bool is_uniform(int constant) {
    const std::vector<double> values = translator_.values_of(constant);
    return std::ranges::adjacent_find(values, std::not_equal_to()) == values.end();
  }

  /// Stores a layer's parameters. A layer with the same constants as an earlier one is tied to it,
  /// unless the first constant is uniform. Throws CannotTranslate if a layer that is not tied has a
  /// constant of an earlier layer, other than a uniform one.
  void keep(int layer, const Parameters& parameters) {
    if (parameters.empty()) return;
    const auto known = layer_of_constant_.find(parameters.front().second);
    if (known != layer_of_constant_.end() && parameters_.at(known->second) == parameters &&
        !is_uniform(parameters.front().second)) {
      return result_.network.tie(layer, known->second);
    }
    for (const auto& [role, constant] : parameters) {
      if (!layer_of_constant_.try_emplace(constant, layer).second && !is_uniform(constant)) {
        throw CannotTranslate(
            fmt::format("its layers '{}' and '{}' share some of their weights but not all; if they "
                        "share none in the model, export it with dynamo=False",
                        result_.network.layer(layer_of_constant_.at(constant)).name,
                        result_.network.layer(layer).name));
      }
      result_.constants[{layer, role}] = constant;
    }
    parameters_[layer] = parameters;
  }

  // --- compositions ---

  struct Part {
    general::Graph graph;
    std::map<int, int> copies;  // operations of `graph`, by operation of the network
    std::vector<int> inputs;    // indices of layers
    std::vector<ParameterSpec> parameters;
    std::vector<int> constants;  // initial values, by parameter
  };

  void add_composition(int index) {
    Part part;
    const int copy = copied(part, index, true);
    if (part.inputs.empty()) {  // layers need an input
      const int last = static_cast<int>(result_.network.layers.size()) - 1;
      part.inputs.push_back(last);
      static_cast<void>(part.graph.input(extents_of(result_.network.shape_of(last))));
    }
    const Exchanged tensor(graph_.shape(index));
    const int output = tensor.to_front({&part.graph, copy});
    const Node* maker = translator_.maker_of(index);
    std::string operators = maker == nullptr ? "composition" : maker->op;
    std::ranges::transform(operators, operators.begin(),
                           [](unsigned char c) { return std::tolower(c); });
    std::string name = maker == nullptr || maker->name.empty()
                           ? operators
                           : layer_name_of(*maker, !part.constants.empty());
    for (const int constant : part.constants) {
      const std::string module = translator_.module_of(constant);
      if (module.empty()) continue;
      name = module;
      break;
    }
    name = unique(name);
    for (std::size_t i = 0; i < part.constants.size(); ++i) {
      std::string source = translator_.source_of(part.constants[i]);
      if (source.empty()) continue;  // named after its role
      source = with_dots(std::move(source));
      const bool is_inside = source.starts_with(name + ".");
      part.parameters[i].name = is_inside ? source.substr(name.size() + 1) : source;
    }
    const int layer =
        append(name,
               std::make_shared<const Composition>(std::move(operators), std::move(part.graph),
                                                   output, std::move(part.parameters)),
               std::move(part.inputs));
    Parameters parameters;
    for (std::size_t i = 0; i < part.constants.size(); ++i) {
      parameters.emplace_back(role_of(i), part.constants[i]);
    }
    keep(layer, parameters);
    layer_of_[index] = layer;
  }

  static std::string role_of(std::size_t i) { return fmt::format("weight{}", i); }

  /// Copies an operation, and those on which it depends in its layer, to a composition's graph.
  int copied(Part& part, int index, bool is_own_root = false) {
    if (const auto known = part.copies.find(index); known != part.copies.end())
      return known->second;
    const Operation& operation = graph_.at(index);
    int copy = 0;
    if (!is_own_root && is_root(index)) {
      const Exchanged tensor(operation.shape);
      part.inputs.push_back(layer_of_.at(index));
      copy = tensor.from_front({&part.graph, part.graph.input(tensor.front())});
    } else if (operation.kind == OpKind::parameter) {
      copy = parameter_of(part, operation);
    } else {
      Operation same = operation;
      for (int& input : same.inputs) input = copied(part, input);
      copy = part.graph.add(std::move(same));
    }
    part.copies[index] = copy;
    return copy;
  }

  /// Returns a layer that outputs a shared parameter for each sample, for compositions to read.
  int layer_of_common(int constant, const Shape& shape) {
    const auto [found, is_new] = common_layers_.try_emplace(constant, network_input);
    if (!is_new) return found->second;
    Part part;
    const int last = static_cast<int>(result_.network.layers.size()) - 1;
    static_cast<void>(part.graph.input(extents_of(result_.network.shape_of(last))));
    const int values =
        part.graph.reshape(part.graph.parameter(shape), {{1}, {element_count(shape)}});
    const int output = part.graph.broadcast(values, {{1, true}, {element_count(shape)}});
    const std::string role = role_of(0);
    const std::string of_file = translator_.source_of(constant);
    const std::string source = of_file.empty() ? role : with_dots(of_file);
    const std::string module = translator_.module_of(constant);
    const std::string name = unique(module.empty() ? source : module);
    ParameterSpec spec{.name = source.substr(source.rfind('.') + 1),
                       .role = role,
                       .shape = shape,
                       .initial = uniform_by_inputs(shape.back())};
    const int layer = append(name,
                             std::make_shared<const Composition>("parameter", std::move(part.graph),
                                                                 output, std::vector{spec}),
                             {last});
    keep(layer, {{role, constant}});
    return common_layers_[constant] = layer;
  }

  /// Returns a shared parameter as the mean of its layer's output over the samples, all of which
  /// have the same values. The layer sums the gradients of all samples.
  int common_parameter_of(Part& part, int constant, const Shape& shape) {
    part.inputs.push_back(layer_of_common(constant, shape));
    const int values = part.graph.input({{1, true}, {element_count(shape)}});
    return part.graph.reshape(part.graph.mean(values, {0}), general::fixed(shape));
  }

  int parameter_of(Part& part, const Operation& operation) {
    const int constant = translator_.constant_of(operation);
    const Shape shape = general::shape_at(operation.shape, 1);
    if (common_.contains(constant)) return common_parameter_of(part, constant, shape);
    const std::string role = role_of(part.parameters.size());
    part.parameters.push_back({.name = role,
                               .role = role,
                               .shape = shape,
                               .initial = uniform_by_inputs(shape.empty() ? 1 : shape.back())});
    part.constants.push_back(constant);
    return part.graph.parameter(shape);
  }

  static constexpr int several = -1;

  Translator& translator_;
  const general::Graph& graph_;
  int output_;
  std::vector<bool> varies_;     // see find_varying; by operation
  std::vector<int> root_of_;     // see find_roots; by operation
  std::map<int, int> layer_of_;  // layers, by their last operation
  std::map<int, int> layer_of_constant_;
  std::map<int, Parameters> parameters_;  // by layer
  std::set<int> common_;                  // constants of parameters that several compositions read
  std::map<int, int> common_layers_;
  std::set<std::string> names_;
  std::map<std::string, int> numbers_;  // number of suffixes used, by name
  LayeredNetwork result_;
};

}  // namespace

LayeredNetwork layered(Translator& translator, int output) {
  return Layering(translator, output).run();
}

}  // namespace parbench::onnx_import
