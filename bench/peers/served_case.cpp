// Prepares a case of a scenario and executes it on request.
#include "bench/peers/served_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string_view>
#include <vector>

#include "bench/execution/executor.h"
#include "bench/peers/workload.h"
#include "kernels/base/error.h"
#include "scenarios/framework/scenario.h"
#include "scenarios/models/models.h"
#include "scenarios/models/onnx/model.h"
#include "scenarios/training/stage.h"

namespace parbench::peers {
namespace {

using Json = nlohmann::ordered_json;

/// A strategy that runs a whole model on one device.
struct Question {
  std::string_view scenario;
  std::string_view strategy;
};

constexpr Question training{"pipeline", "single"};
constexpr Question inference{"inter-op", "one-stream"};

Model model_of(const ServedModel& model) {
  const std::vector<std::string> names = model_names();
  if (!model.name.ends_with(onnx_import::file_suffix) &&
      std::ranges::find(names, model.name) == names.end()) {
    throw UsageError(fmt::format("--model: {} does not exist; allowed: {}, FILE{}", model.name,
                                 fmt::join(names, ", "), onnx_import::file_suffix));
  }
  return model_named(model.name);
}

Network network_of(const ServedModel& model) {
  ModelSizes sizes;
  if (model.image) sizes["image"] = *model.image;
  const Model chosen = model_of(model);
  for (const auto& [name, size] : sizes) check_has_size(chosen, name);
  return make_network(chosen, sizes);
}

std::int64_t parameter_count(const Network& network) {
  std::int64_t count = 0;
  for (const ParameterSpec& parameter : network.parameters()) {
    count += element_count(parameter.shape);
  }
  return count;
}

CaseSpec case_of(const Scenario& scenario, const Question& question, const ServedModel& model) {
  Scenario::Request request;
  request.spec.scenario = question.scenario;
  request.spec.strategy = question.strategy;
  request.spec.dtype = model.dtype;
  request.spec.parameters.set("model", model.name);
  request.spec.parameters.set("batch", model.batch);
  request.given = {"model", "batch"};
  if (model.image) {
    request.spec.parameters.set("image", *model.image);
    request.given.emplace_back("image");
  }
  return scenario.resolve(request).value();
}

/// Null for a case without a loss.
Json loss_of(Case& subject) {
  for (const Output& output : subject.outputs()) {
    if (output.name == loss_output) return output.read().front();
  }
  return nullptr;
}

double mean_seconds(Executor& executor, int executions) {
  double seconds = 0;
  for (int i = 0; i < executions; ++i) seconds += executor.run().wall_seconds;
  return seconds / executions;
}

void serve(const Question& question, const ServedModel& model) {
  const ScenarioList scenarios = built_in_scenarios();
  const auto found = std::ranges::find_if(
      scenarios, [&](const auto& scenario) { return scenario->name() == question.scenario; });
  if (found == scenarios.end()) {
    throw Error("this build has no scenario " + std::string(question.scenario));
  }

  const Network network = network_of(model);
  Context context(open_whole_machine(), {});
  const auto begin = std::chrono::steady_clock::now();
  const CaseSpec spec = case_of(**found, question, model);
  context.begin_case();
  const std::unique_ptr<Case> subject = (*found)->prepare(spec, context);
  const std::chrono::duration<double> planning = std::chrono::steady_clock::now() - begin;
  context.commit();
  Executor executor(subject->plan());
  subject->reset();
  (void)executor.run();

  const Json ready{{"name", spec.name()},
                   {"parameters", parameter_count(network)},
                   {"threads", context.stream(0, StreamKind::compute).threads()},
                   {"outputs", element_count(network.layers.back().output)},
                   {"planning_seconds", planning.count()},
                   {"loss", loss_of(*subject)}};
  std::cout << ready.dump() << '\n' << std::flush;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << Json(mean_seconds(executor, model.executions)).dump() << '\n' << std::flush;
  }
}

}  // namespace

Json describe_model(const ServedModel& model) {
  const Network network = network_of(model);
  std::vector<std::int64_t> lengths;
  for (std::int64_t sample = 0; network.vocabulary > 0 && sample < model.batch; ++sample) {
    lengths.push_back(network.length_of(sample));
  }
  return {{"parameters", parameter_count(network)}, {"lengths", lengths}};
}

void serve_training_steps(const ServedModel& model) { serve(training, model); }

void serve_forward_passes(const ServedModel& model) { serve(inference, model); }

}  // namespace parbench::peers
