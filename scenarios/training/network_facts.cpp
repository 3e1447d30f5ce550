// Sums over the calls of a planned step.
#include "scenarios/training/network_facts.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "kernels/ops/flops.h"
#include "scenarios/models/layers/composition.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/plan/schedules/levels.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {
namespace {

using FlopsByLayer = std::map<std::string, double, std::less<>>;

/// Returns the FLOPs of calls by the name of their layer; "" for the loss, which has no layer.
FlopsByLayer flops_by_layer(const std::vector<SymbolicCall>& calls) {
  FlopsByLayer flops;
  for (const SymbolicCall& call : calls) flops[call.layer] += call.op->work().flops;
  return flops;
}

double flops_in(const FlopsByLayer& flops, std::string_view layer) {
  const auto found = flops.find(layer);
  return found == flops.end() ? 0 : found->second;
}

void add_amounts(NetworkAmounts& sum, const NetworkAmounts& one) {
  sum.layers += one.layers;
  sum.parameters += one.parameters;
  sum.forward_flops += one.forward_flops;
  sum.step_flops += one.step_flops;
  sum.kept_bytes += one.kept_bytes;
}

std::vector<std::string> names_of_inputs(const Network& network, const Layer& layer) {
  std::vector<std::string> names;
  for (const int input : layer.inputs) {
    names.push_back(input == network_input ? "input" : network.layer(input).name);
  }
  return names;
}

std::vector<LayerFacts> layers_without_amounts(const Network& network) {
  std::vector<LayerFacts> layers;
  for (const Layer& layer : network.layers) {
    layers.push_back({.name = layer.name,
                      .kind = std::string(layer.kind->name()),
                      .unit = network.units.at(static_cast<std::size_t>(layer.unit)),
                      .reads = names_of_inputs(network, layer),
                      .output = layer.output,
                      .amounts = {.layers = 1}});
  }
  return layers;
}

/// Returns the maximum number of a unit's layers in one topological level; at least 1.
std::size_t branches_of(const Network& network, int unit) {
  std::map<int, int> index_of;  // by layer of the unit
  std::vector<std::vector<int>> after;
  for (int i = 0; i < static_cast<int>(network.layers.size()); ++i) {
    const Layer& layer = network.layer(i);
    if (layer.unit != unit) continue;
    index_of[i] = static_cast<int>(after.size());
    std::vector<int>& before = after.emplace_back();
    for (const int input : layer.inputs) {
      if (const auto found = index_of.find(input); found != index_of.end()) {
        before.push_back(found->second);
      }
    }
  }
  std::map<int, std::size_t> count_at;
  for (const int level : topological_levels(after)) ++count_at[level];
  std::size_t max = 1;
  for (const auto& [level, count] : count_at) max = std::max(max, count);
  return max;
}

/// Adds the tensors that cross the cut point before the unit whose first layer is `first`.
void add_crossing(UnitFacts& facts, const Network& network, int first, std::int64_t samples) {
  if (first == 0) return;
  for (const int tensor : network.crossing(first)) {
    ++facts.crossing_tensors;
    facts.crossing_bytes += canonical(with_samples(samples, network.shape_of(tensor))).bytes;
  }
}

/// Returns whether a layer's general operations include a square root, as those of a normalisation
/// do.
bool may_normalise(const Composition& composition) {
  return std::ranges::any_of(composition.graph().operations(), [](const general::Operation& one) {
    return one.kind == general::OpKind::element && one.element == ElementOp::square_root;
  });
}

/// Returns the number of convolutions among the general operations of a layer, recognised by their
/// weights {outputs, inputs, height, width}. Weights with one output may be a scale of channels and
/// do not count.
std::size_t composed_convolutions(const Network& network, const Layer& layer,
                                  const Composition& composition) {
  constexpr std::size_t dimensions = 4;
  const auto parameters = composition.parameters(network.input_of(layer));
  return static_cast<std::size_t>(std::ranges::count_if(parameters, [](const ParameterSpec& one) {
    return one.shape.size() == dimensions && one.shape.front() > 1;
  }));
}

}  // namespace

double linear_layers(const Network& network) {
  return static_cast<double>(std::ranges::count_if(
      network.layers, [](const Layer& layer) { return as<Linear>(layer) != nullptr; }));
}

std::size_t convolutions_without_normalisation(const Network& network) {
  std::size_t convolutions = 0;
  for (const Layer& layer : network.layers) {
    if (layer.kind->name().ends_with("_norm")) return 0;
    if (const auto* composition = as<Composition>(layer)) {
      if (may_normalise(*composition)) return 0;
      convolutions += composed_convolutions(network, layer, *composition);
      continue;
    }
    const auto* convolution = as<Convolution>(layer);
    if (convolution == nullptr) continue;
    if (!convolution->options().bias) return 0;
    ++convolutions;
  }
  return convolutions;
}

NetworkFacts facts_of(Stream& stream, const Network& network, std::int64_t samples) {
  const StageRange range{.network = &network,
                         .first = 0,
                         .last = static_cast<int>(network.layers.size()) - 1,
                         .batch = samples};
  ParameterStore store(stream);
  StageProgram::add_parameters(stream, range, samples, store);
  const StageProgram program(stream, range, samples, store);
  const FlopsByLayer forward = flops_by_layer(program.forward().calls);
  const FlopsByLayer backward = flops_by_layer(program.backward(false).calls);

  NetworkFacts facts{.layers = layers_without_amounts(network), .units = {}, .total = {}};
  for (const ParameterSpec& spec : network.parameters()) {
    NetworkAmounts& amounts = facts.layers.at(static_cast<std::size_t>(spec.layer)).amounts;
    amounts.parameters += element_count(spec.shape);
    amounts.step_flops += flops_of(Sgd{.count = element_count(spec.shape)});
  }
  for (const std::string& name : network.units)
    facts.units.push_back({.name = name, .amounts = {}});
  for (std::size_t i = 0; i < facts.layers.size(); ++i) {
    NetworkAmounts& amounts = facts.layers[i].amounts;
    amounts.forward_flops = flops_in(forward, facts.layers[i].name);
    amounts.step_flops += amounts.forward_flops + flops_in(backward, facts.layers[i].name);
    amounts.kept_bytes = program.activation_bytes_of(static_cast<int>(i));
    add_amounts(facts.units.at(static_cast<std::size_t>(network.layers[i].unit)).amounts, amounts);
    add_amounts(facts.total, amounts);
  }
  facts.total.step_flops += flops_in(backward, "");
  for (std::size_t unit = 0; unit < facts.units.size(); ++unit) {
    facts.units[unit].branches = branches_of(network, static_cast<int>(unit));
    const auto first = std::ranges::find(network.layers, static_cast<int>(unit), &Layer::unit);
    add_crossing(facts.units[unit], network, static_cast<int>(first - network.layers.begin()),
                 samples);
  }
  return facts;
}

}  // namespace parbench
