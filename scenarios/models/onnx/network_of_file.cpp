// Selects nodes of a file for translation, divides the network into units, and computes initial
// values of its weights.
#include "scenarios/models/onnx/network_of_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "kernels/base/error.h"
#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/onnx/fusions/fusing.h"
#include "scenarios/models/onnx/inputs.h"
#include "scenarios/models/onnx/layering.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::Extents;

/// Returns the output for the loss: `wanted` or, if that is empty, the first one. Throws UsageError
/// if it does not exist.
const std::string& chosen_output(const Graph& graph, const std::string& wanted) {
  if (graph.outputs.empty()) throw UsageError("has no output; export it with one");
  if (wanted.empty()) return graph.outputs.front();
  const auto found = std::ranges::find(graph.outputs, wanted);
  if (found != graph.outputs.end()) return *found;
  throw UsageError(fmt::format("has no output '{}'; allowed with --prediction: {}", wanted,
                               fmt::join(graph.outputs, ", ")));
}

/// Returns the nodes on which an output depends, in the order of the file.
std::vector<const Node*> wanted_nodes(const Graph& graph, const std::string& output) {
  std::set<std::string, std::less<>> wanted{output};
  std::vector<const Node*> nodes;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const auto is_wanted = [&](const std::string& name) { return wanted.contains(name); };
    if (std::ranges::none_of(node->outputs, is_wanted)) continue;
    wanted.insert(node->inputs.begin(), node->inputs.end());
    nodes.push_back(&*node);
  }
  std::ranges::reverse(nodes);
  return nodes;
}

[[noreturn]] void refuse(const Translator& translator, std::size_t nodes, std::int64_t opset) {
  constexpr std::size_t max_named = 3;
  std::vector<std::pair<std::string, std::vector<std::string>>> lines;  // reason, names
  for (const Translator::Problem& problem : translator.problems()) {
    const std::string text = fmt::format("{}: {}", problem.node->op, problem.reason);
    auto line = std::ranges::find(lines, text, [](const auto& one) { return one.first; });
    if (line == lines.end()) line = lines.insert(lines.end(), {text, {}});
    line->second.push_back(name_of(*problem.node));
  }
  std::string text =
      fmt::format("has {} of {} nodes that parbench does not support (operator set {})",
                  translator.problems().size(), nodes, opset);
  for (auto& [reason, names] : lines) {
    const std::size_t more = names.size() - std::min(names.size(), max_named);
    names.resize(names.size() - more);
    text += fmt::format("\n{} (node {}{})", reason, fmt::join(names, ", "),
                        more > 0 ? fmt::format(" and {} more", more) : std::string());
  }
  throw UsageError(text);
}

/// Throws UsageError if a layer other than an Embedding reads the tokens.
void check_tokens(const Network& network) {
  for (const Layer& layer : network.layers) {
    if (!layer.reads(network_input) || as<Embedding>(layer) != nullptr) continue;
    throw UsageError("has tokens that are read by an operator other than Gather from a table");
  }
}

std::int64_t vocabulary_of(const Network& network) {
  std::int64_t vocabulary = 0;
  for (const Layer& layer : network.layers) {
    const auto* table = as<Embedding>(layer);
    if (table == nullptr || !layer.reads(network_input)) continue;
    vocabulary = vocabulary == 0 ? table->vocabulary() : std::min(vocabulary, table->vocabulary());
  }
  return vocabulary;
}

// --- prediction and loss ---

/// The operation whose result is the prediction, and the loss.
struct End {
  int operation = 0;
  Loss loss = Loss::mean_squared_error;
};

/// Returns {N, classes, 1, 1} as {N, classes}, and other tensors unchanged.
int without_ones(general::Graph& graph, int operation) {
  Extents shape = graph.shape(operation);
  if (shape.size() != 4 || !shape[2].is_one() || !shape[3].is_one()) return operation;
  shape.resize(2);
  return graph.reshape(operation, std::move(shape));
}

/// Returns the node that computes an output, skipping Identity nodes; null if there is none.
const Node* last_node(const Graph& graph, std::string name) {
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (std::ranges::find(node->outputs, name) == node->outputs.end()) continue;
    if (node->op != "Identity" || node->inputs.size() != 1) return &*node;
    name = node->inputs.front();
  }
  return nullptr;
}

/// Returns the prediction and the loss. If the output is a Softmax or LogSoftmax over the last of
/// two or three dimensions, these are the input of the softmax and the cross-entropy; otherwise the
/// output and the mean squared error. Throws UsageError for a constant output.
End end_of(Translator& translator, const Graph& graph, const std::string& name) {
  general::Graph& network = translator.network();
  const Tensor* output = translator.find(name);
  if (output == nullptr || output->is_constant)
    throw UsageError(fmt::format(
        "has the constant output {}, from which no loss can be computed; {}", name,
        graph.outputs.size() > 1 ? "name another one with --prediction"
                                 : "export the model with an output that depends on its input"));
  const Node* last = last_node(graph, name);
  const bool is_softmax = last != nullptr && !last->inputs.empty() &&
                          (last->op == "Softmax" || last->op == "LogSoftmax");
  const Tensor* scores = is_softmax ? translator.find(last->inputs.front()) : nullptr;
  if (scores == nullptr || scores->is_constant) {
    return {.operation = without_ones(network, output->operation)};
  }
  const int operation = without_ones(network, scores->operation);
  const auto rank = static_cast<std::int64_t>(network.shape(operation).size());
  const auto found = last->attributes.find("axis");
  std::int64_t axis = graph.opset < 13 ? 1 : -1;
  if (found != last->attributes.end()) {
    const auto* given = std::get_if<std::int64_t>(&found->second);
    axis = given == nullptr ? 0 : *given;
  }
  const bool is_last = axis == -1 || axis == rank - 1;
  if (rank < 2 || rank > 3 || !is_last) return {.operation = output->operation};
  return {.operation = operation, .loss = Loss::cross_entropy};
}

/// Sets the loss. Throws UsageError if it does not fit the prediction.
void set_loss(Network& network, Loss loss) {
  constexpr std::size_t image_rank = 3;
  if (loss == network.loss) return;
  if (network.loss == Loss::cross_entropy) {
    throw UsageError(
        "ends with a softmax, which only the loss cross-entropy includes; leave --loss out");
  }
  if (network.layers.back().output.size() == image_rank) {
    throw UsageError("has images as its output, for which the only loss is mse; leave --loss out");
  }
  network.loss = loss;
}

/// Returns a function that computes initial values of parameters on demand and caches them.
StoredValues values_of(std::shared_ptr<Translator> translator,
                       std::map<std::pair<int, std::string>, int> constants) {
  struct Known {
    std::mutex mutex;
    std::map<int, std::shared_ptr<const std::vector<float>>> values;
  };
  return [translator = std::move(translator), constants = std::move(constants),
          known = std::make_shared<Known>()](const ParameterSpec& spec) {
    const std::lock_guard lock(known->mutex);
    const int constant = constants.at({spec.layer, spec.role});
    auto& values = known->values[constant];
    if (values == nullptr) {
      const std::vector<double> wide = translator->values_of(constant);
      values = std::make_shared<const std::vector<float>>(wide.begin(), wide.end());
    }
    return values;
  };
}

// --- units ---

/// Returns, for each layer, how many tensors cross to it and to later layers (Network::crossing).
std::vector<std::size_t> crossing_tensors(const Network& network) {
  const std::size_t count = network.layers.size();
  std::vector<std::size_t> last_reader(count + 1);  // index 0 is the network's input
  for (std::size_t reader = 0; reader < count; ++reader) {
    for (const int tensor : network.layers[reader].inputs) {
      last_reader[static_cast<std::size_t>(std::int64_t{tensor} + 1)] = reader;
    }
  }
  std::vector<std::size_t> crossing(count + 1);
  std::vector<std::size_t> ending(count + 1);  // by layer: number of tensors that it reads last
  std::size_t open = 0;
  for (std::size_t layer = 0; layer < count; ++layer) {
    if (last_reader[layer] >= layer) {  // the output of the previous layer is still read
      ++open;
      ++ending[last_reader[layer]];
    }
    crossing[layer] = open;
    open -= ending[layer];
  }
  return crossing;
}

/// Divides the layers into units, named after their first layers. A layer of products
/// (LayerKind::products) begins a unit if a single tensor crosses to it. Otherwise, its unit begins
/// at the nearest earlier layer to which a single tensor crosses, such as the normalisation at the
/// beginning of a residual block; products between these two layers are in the same unit. A unit
/// with more than `many` products is also divided at products to which at most `few` tensors cross.
void divide_into_units(Network& network) {
  constexpr std::size_t many = 16;
  constexpr std::size_t few = 6;
  const std::vector<std::size_t> crossing = crossing_tensors(network);
  const std::size_t count = network.layers.size();
  std::vector<bool> can_begin(count);
  std::vector<std::size_t> products;  // layers of products in the current unit, last one first
  bool wants_begin = false;           // a product was passed for which no unit begins yet
  for (std::size_t i = count; i-- > 0;) {
    const Layer& layer = network.layers[i];
    if (!layer.kind->products(network.work_of(layer, 1), true).empty()) {
      products.push_back(i);
      wants_begin = true;
    }
    if (wants_begin && crossing[i] == 1) {
      can_begin[i] = true;
      wants_begin = false;
    }
    if (!can_begin[i] && i != 0) continue;
    const bool is_divided = products.size() > many;
    if (can_begin[i] && is_divided) products.pop_back();  // its unit is the one at i
    for (const std::size_t product : std::exchange(products, {})) {
      if (is_divided && crossing[product] <= few) can_begin[product] = true;
    }
  }
  network.units.clear();
  for (std::size_t i = 0; i < count; ++i) {
    Layer& layer = network.layers[i];
    if (i == 0 || can_begin[i]) network.unit(layer.name);
    layer.unit = static_cast<int>(network.units.size()) - 1;
  }
}

}  // namespace

Network network_of_graph(const std::string& name, const Graph& graph, Translator::Load load,
                         const ImportOptions& options) {
  const std::string& output = chosen_output(graph, options.file.prediction);
  try {
    auto translator = std::make_shared<Translator>(graph, std::move(load));
    const bool has_tokens = add_inputs(*translator, graph, options);
    const std::vector<const Node*> nodes = wanted_nodes(graph, output);
    translator->translate(nodes, output);
    if (!translator->problems().empty()) refuse(*translator, nodes.size(), graph.opset);
    const End end = end_of(*translator, graph, output);
    LayeredNetwork made = layered(*translator, Fusing(*translator).run(end.operation));
    Network& network = made.network;
    network.loss = end.loss;
    network.name = name;
    if (network.parameters().empty()) throw UsageError("has no weights to train");
    if (has_tokens) check_tokens(network);
    network.vocabulary = has_tokens ? vocabulary_of(network) : 0;
    if (has_tokens && network.vocabulary == 0) {
      throw UsageError("has tokens that no Gather from a table reads");
    }
    if (options.file.loss) set_loss(network, *options.file.loss);
    divide_into_units(network);
    if (options.file.stored_weights) {
      network.stored_values = values_of(translator, std::move(made.constants));
    }
    return std::move(network);
  } catch (const CannotTranslate& error) {
    throw UsageError(fmt::format("cannot be divided into layers: {}", error.what()));
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("cannot be divided into layers: {}", error.what()));
  }
}

}  // namespace parbench::onnx_import
