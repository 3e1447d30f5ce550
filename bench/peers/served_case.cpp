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
#include "kernels/machine/machine.h"
#include "scenarios/framework/scenario.h"
#include "scenarios/models/models.h"
#include "scenarios/models/onnx/model.h"
#include "scenarios/training/stage.h"

namespace parbench::peers {
namespace {

using Json = nlohmann::ordered_json;

/// A strategy of a scenario.
struct Question {
  std::string_view scenario;
  std::string_view strategy;
};

constexpr Question training{"pipeline", "single"};
constexpr Question divided_training{"data-parallel", "all-reduce-buckets"};
constexpr Question inference{"inter-op", "one-stream"};
constexpr Question exchanging{"collectives", "ring"};
constexpr std::int64_t bucket_mebibytes = 25;  // as DistributedDataParallel has them

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

Scenario::Request request_of(const Question& question, int devices) {
  Scenario::Request request;
  request.spec.scenario = question.scenario;
  request.spec.strategy = question.strategy;
  request.device_count = devices;
  return request;
}

Scenario::Request request_of(const Question& question, const ServedModel& model) {
  Scenario::Request request = request_of(question, model.devices);
  request.spec.dtype = model.dtype;
  Parameters& parameters = request.spec.parameters;
  parameters.set("model", model.name);
  parameters.set("batch", model.batch);
  request.given = {"model", "batch"};
  if (model.image) {
    parameters.set("image", *model.image);
    request.given.emplace_back("image");
  }
  if (model.devices > 1) parameters.set("bucket", bucket_mebibytes);
  return request;
}

/// The whole machine, or as many parts of it.
std::vector<std::unique_ptr<Device>> open_devices(int count) {
  if (count == 1) return open_whole_machine();
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("cpu:{}", i));
  return Machine().open(fmt::format("{}", fmt::join(names, ",")));
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

/// `facts`: what is said of it beside its name, threads, planning and loss.
void serve(const Scenario::Request& request, int executions, Json facts) {
  const ScenarioList scenarios = built_in_scenarios();
  const auto found = std::ranges::find_if(
      scenarios, [&](const auto& scenario) { return scenario->name() == request.spec.scenario; });
  if (found == scenarios.end()) {
    throw Error("this build has no scenario " + request.spec.scenario);
  }

  Context context(open_devices(request.device_count), {});
  const auto begin = std::chrono::steady_clock::now();
  const CaseSpec spec = (*found)->resolve(request).value();
  context.begin_case();
  const std::unique_ptr<Case> subject = (*found)->prepare(spec, context);
  const std::chrono::duration<double> planning = std::chrono::steady_clock::now() - begin;
  context.commit();
  Executor executor(subject->plan());
  subject->reset();
  (void)executor.run();

  facts["name"] = spec.name();
  facts["threads"] = context.stream(0, StreamKind::compute).threads();
  facts["planning_seconds"] = planning.count();
  facts["loss"] = loss_of(*subject);
  std::cout << facts.dump() << '\n' << std::flush;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << Json(mean_seconds(executor, executions)).dump() << '\n' << std::flush;
  }
}

void serve(const Question& question, const ServedModel& model) {
  const Network network = network_of(model);
  serve(request_of(question, model), model.executions,
        {{"parameters", parameter_count(network)},
         {"outputs", element_count(network.layers.back().output)}});
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

void serve_training_steps(const ServedModel& model) {
  serve(model.devices == 1 ? training : divided_training, model);
}

void serve_forward_passes(const ServedModel& model) { serve(inference, model); }

void serve_all_reduces(const ServedExchange& exchange) {
  Scenario::Request request = request_of(exchanging, exchange.devices);
  request.spec.parameters.set("collective", std::string("all-reduce"));
  request.spec.parameters.set("size", std::to_string(exchange.bytes));
  request.given = {"collective", "size", "strategy"};
  serve(request, exchange.executions, {{"bytes", exchange.bytes}});
}

}  // namespace parbench::peers
