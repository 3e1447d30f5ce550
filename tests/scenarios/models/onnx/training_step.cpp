// Runs the first training step of a model on the CPU, of one from a file from its own weights, and
// prints all of it as JSON, for tests that compute the same with other libraries:
//   onnx-training-step FILE.onnx BATCH [LOSS [DIMENSIONS [IMAGE [PREDICTION]]]]
//   onnx-training-step MODEL BATCH [tied|untied [SIZES]]   sizes as layers=2+hidden=64
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/execution/executor.h"
#include "kernels/machine/machine.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/models.h"
#include "scenarios/models/naive/sequences.h"
#include "scenarios/models/shipped/experts.h"
#include "scenarios/training/step/training_step.h"

namespace {

using nlohmann::ordered_json;
using parbench::Stage;
using parbench::Tensor;

ordered_json json_of(parbench::CaseData& data, const Tensor& tensor) {
  return {{"shape", tensor.desc.shape}, {"values", data.read(tensor)}};
}

/// {shape, values} of parameters by their names; both before the step.
ordered_json parameters_of(parbench::CaseData& data, const Stage& stage) {
  ordered_json all = ordered_json::object();
  for (const Stage::TrainedParameter& one : stage.parameters()) {
    all[one.spec.name] = {{"shape", one.spec.shape}, {"values", data.read(one.master)}};
  }
  return all;
}

/// What the dropouts of a network multiply with, by layer.
ordered_json dropouts_of(const parbench::Network& network, std::int64_t batch) {
  ordered_json all = ordered_json::object();
  for (const parbench::Layer& layer : network.layers) {
    const auto* zeros = parbench::as<parbench::RandomDropout>(layer);
    if (zeros == nullptr) continue;
    const parbench::Shape shape = parbench::with_samples(batch, layer.output);
    const std::vector<double> ones(static_cast<std::size_t>(parbench::element_count(shape)), 1.0);
    all[layer.name] = {
        {"shape", shape},
        {"values", parbench::naive::dropout(ones, zeros->probability(), zeros->subsequence())}};
  }
  return all;
}

/// The experts of each token, by the layer that mixes them.
ordered_json routes_of(const parbench::Network& network) {
  ordered_json all = ordered_json::object();
  for (const parbench::Layer& layer : network.layers) {
    if (layer.kind->name() != "mixture_of_experts") continue;
    const parbench::ExpertSizes sizes{.sequence = layer.output.front(),
                                      .experts = network.input_of(layer, 1).back()};
    all[layer.name] = parbench::balanced_routes(sizes, all.size());
  }
  return all;
}

parbench::Network network_of(const std::vector<std::string>& words) {
  const std::string& name = words.at(0);
  if (!name.ends_with(".onnx")) {
    const parbench::Model model = parbench::model_named(name);
    const bool is_tied = words.size() > 2 && words[2] == "tied";
    const parbench::ModelSizes sizes =
        words.size() > 3 ? parbench::dimensions_named(words[3]) : parbench::ModelSizes();
    return make_network(is_tied ? with_tied_head(model) : model, sizes);
  }
  parbench::FileOptions options{.stored_weights = true};
  if (words.size() > 2 && !words[2].empty()) options.loss = parbench::loss_named(words[2]);
  if (words.size() > 3 && !words[3].empty()) {
    options.dimensions = parbench::dimensions_named(words[3]);
  }
  if (words.size() > 5) options.prediction = words[5];
  parbench::ModelSizes sizes;
  if (words.size() > 4 && !words[4].empty()) sizes["image"] = std::stoll(words[4]);
  return make_network(parbench::model_named(name, options), sizes);
}

ordered_json training_step(const parbench::Network& network, std::int64_t batch) {
  parbench::Context context(parbench::Machine().open("cpu:0"), {});
  context.begin_case();
  const auto step = prepare_step(context, network, {}, {.micro_batches = {{batch}}});
  parbench::TrainingStep& parts = *step;
  parts.data.finish();
  context.commit();
  parts.data.reset();
  const Stage& stage = parts.stage({});
  ordered_json json{{"loss", to_string(network.loss)},
                    {"input", json_of(parts.data, stage.images())},
                    {"target", json_of(parts.data, stage.target())},
                    {"parameters", parameters_of(parts.data, stage)},
                    {"dropouts", dropouts_of(network, batch)},
                    {"routes", routes_of(network)}};
  parbench::Executor(parts.plan).run();
  json["prediction"] = json_of(parts.data, stage.prediction(0));
  json["value"] = parts.data.read(stage.loss()).front();
  for (const Stage::TrainedParameter& one : stage.parameters()) {
    json["parameters"][one.spec.name]["gradient"] = parts.data.read(one.gradient);
  }
  return json;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    const parbench::Network network = network_of(words);
    std::cout << training_step(network, std::stoll(words.at(1))) << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
