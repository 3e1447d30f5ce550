// The layers of an import: their names, what stands for what, and how they are divided into units.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/base/error.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/onnx/importer.h"

namespace parbench::onnx_import {
namespace {

/// Names in files have slashes, which divide names of cases: "/layer1/conv1/Conv" is
/// "layer1.conv1.Conv".
std::string with_dots(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '/' || c == ':' || c == '+' || c == ',' || c == ' '; }, '.');
  name.erase(0, std::min(name.find_first_not_of('.'), name.size()));
  return name;
}

}  // namespace

std::string Importer::name_of_layer(const Node& node, const std::string& weights) {
  std::string name = name_of(node);
  for (const std::string_view suffix : {".weight", ".bias"}) {
    if (weights.ends_with(suffix)) name = weights.substr(0, weights.size() - suffix.size());
  }
  return unique(with_dots(std::move(name)));
}

std::string Importer::unique(const std::string& name) {
  std::string result = name;
  while (!names_.insert(result).second) {
    const int number = numbers_.try_emplace(name, 1).first->second += 1;
    result = fmt::format("{}_{}", name, number);
  }
  return result;
}

void Importer::claim(const std::string& weights) {
  if (!weights_.insert(tensor_behind(weights)).second) {
    throw CannotMap(
        "it shares its weights with another node; if the model does not, PyTorch's newer exporter "
        "has merged equal initial values: export it with dynamo=False");
  }
}

void Importer::alias(const Node& node, int activation) {
  const Shape& sample = shape_of(activation);
  check_size(sample);
  outputs_[node.outputs.at(0)] = whole_view(activation, sample, samples_in_shapes());
}

int Importer::merge_linear(const Node& node, const std::vector<int>& layers) {
  const Layer& first = network_.layer(layers.front());
  const auto* kind = as<Linear>(first);
  std::int64_t outputs = 0;
  for (const int one : layers) {
    const Layer& layer = network_.layer(one);
    const auto* linear = as<Linear>(layer);
    if (linear == nullptr || layer.inputs != first.inputs ||
        linear->has_bias() != kind->has_bias()) {
      throw CannotMap("its queries, keys and values must be linear layers of one input");
    }
    outputs += layer.output.back();
  }
  const bool has_bias = kind->has_bias();
  const int merged = append(unique(first.name + ".qkv"), Linear(outputs, has_bias),
                            std::vector<int>(first.inputs));
  check_size(shape_of(merged));
  for (const char* role : {"weights", "bias"}) {
    ValueSource source;
    std::size_t known = 0;
    for (const int one : layers) {
      const auto found = value_sources_.find({one, role});
      if (found == value_sources_.end()) continue;
      ++known;
      std::ranges::copy(found->second.pieces, std::back_inserter(source.pieces));
    }
    if (known == layers.size()) keep_source(role, std::move(source));
  }
  for (const int one : layers) merged_[one] = &node;
  return merged;
}

/// The prediction is the output of the last layer.
void Importer::check_output() const {
  const std::string& name = graph_.outputs.front();
  const View* output = find_view(name);
  if (output == nullptr)
    throw UsageError(fmt::format(
        "has an output '{}' that no layer makes; export it with the output of its last layer",
        name));
  if (is_whole(*output, shape_of(output->activation)) && output->scale == 1) return;
  throw UsageError(fmt::format(
      "has an output '{}' that is a part of a tensor, or a product with a number, which "
      "has no layer",
      name));
}

/// Layers that others stand for, or whose shape alone is read.
void Importer::drop_unread_layers() {
  std::vector<Layer>& layers = network_.layers;
  std::vector<bool> is_read(layers.size());
  const int output = find_view(graph_.outputs.front())->activation;
  if (output != network_input) is_read.at(static_cast<std::size_t>(output)) = true;
  for (std::size_t i = layers.size(); i-- > 0;) {
    for (const int input : layers[i].inputs) {
      if (is_read[i] && input != network_input) is_read[static_cast<std::size_t>(input)] = true;
    }
  }
  for (const auto& [layer, node] : merged_) {
    if (!is_read[static_cast<std::size_t>(layer)]) continue;
    problems_.push_back({node, "its queries, keys or values are read by others too"});
  }
  std::vector<int> places(layers.size());
  std::vector<Layer> kept;
  ValueSources sources;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!is_read[i]) continue;
    places[i] = static_cast<int>(kept.size());
    for (int& input : layers[i].inputs) {
      if (input != network_input) input = places[static_cast<std::size_t>(input)];
    }
    kept.push_back(std::move(layers[i]));
  }
  for (auto& [key, source] : value_sources_) {
    const auto layer = static_cast<std::size_t>(key.first);
    if (is_read[layer]) sources[{places[layer], key.second}] = std::move(source);
  }
  layers = std::move(kept);
  value_sources_ = std::move(sources);
}

}  // namespace parbench::onnx_import
