#include "bench/peers/served_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/execution/plan_runner.h"
#include "bench/peers/workload.h"
#include "bench/ranks/rank_devices.h"
#include "bench/ranks/rank_runner.h"
#include "bench/ranks/rank_session.h"
#include "kernels/base/error.h"
#include "kernels/core/ranks/rank_link.h"
#include "kernels/machine/machine.h"
#include "scenarios/framework/requests.h"
#include "scenarios/framework/scenario.h"
#include "scenarios/models/models.h"
#include "scenarios/models/onnx/model.h"
#include "scenarios/training/stage.h"

namespace parbench::peers {
namespace {

using Json = nlohmann::ordered_json;

struct Question {
  std::string_view scenario;
  std::string_view strategy;
};

constexpr Question training{"pipeline", "single"};
constexpr Question divided_training{"data-parallel", "all-reduce-buckets"};
constexpr Question inference{"inter-op", "one-stream"};
constexpr Question exchanging{"collectives", "ring"};
constexpr Question exchanging_over_ranks{"collectives", "rank-ring"};
constexpr Question exchanging_in_shared_memory{"collectives", "shared-memory"};
constexpr std::int64_t bucket_mebibytes = 25;  // the default of DistributedDataParallel

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

/// Opens the whole machine as one device, or as `count` devices.
std::vector<std::unique_ptr<Device>> open_devices(int count) {
  if (count == 1) return open_whole_machine();
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("cpu:{}", i));
  return Machine().open(fmt::format("{}", fmt::join(names, ",")));
}

/// Returns the loss; null for a case without one.
Json loss_of(Case& subject) {
  for (const Output& output : subject.outputs()) {
    if (output.name == loss_output) return output.read().front();
  }
  return nullptr;
}

/// Executions for one line of input, and which time is printed.
struct SampleRequest {
  int executions = 1;
  int calls = 1;                   // calls in each execution; the time of one is printed
  bool from_common_start = false;  // Timing::seconds instead of wall_seconds
};

double mean_seconds(PlanRunner& runner, const SampleRequest& wanted) {
  double seconds = 0;
  for (int i = 0; i < wanted.executions; ++i) {
    const Timing timing = runner.run();
    seconds += wanted.from_common_start ? timing.seconds : timing.wall_seconds;
  }
  return seconds / wanted.executions / wanted.calls;
}

/// Returns the devices of all ranks, or `count` devices of this process if it is not a rank.
std::vector<std::unique_ptr<Device>> devices_of(RankTeam* team, int count) {
  static const Machine machine;
  return team == nullptr ? open_devices(count) : open_rank_devices(*team, machine, "cpu:0", {});
}

/// Prints the time of a sample for each line of rank 0's input. All ranks take the sample.
void serve_samples(PlanRunner& runner, const SampleRequest& wanted, RankTeam* team) {
  const bool leads = team == nullptr || team->leads();
  for (std::string line;;) {
    double goes_on = leads && std::getline(std::cin, line) ? 1 : 0;
    if (team != nullptr) goes_on = team->broadcast(goes_on);
    if (goes_on == 0) return;
    const double seconds = mean_seconds(runner, wanted);
    if (leads) std::cout << Json(seconds).dump() << '\n' << std::flush;
  }
}

/// Prepares a case, prints `facts` with its name, threads, planning time, loss and ranks, and
/// serves samples.
void serve(RankTeam* team, Scenario::Request request, const SampleRequest& wanted, Json facts) {
  const ScenarioList scenarios = built_in_scenarios();
  const auto found = std::ranges::find_if(
      scenarios, [&](const auto& scenario) { return scenario->name() == request.spec.scenario; });
  if (found == scenarios.end()) {
    throw Error("this build has no scenario " + request.spec.scenario);
  }

  request.devices_over_ranks = team != nullptr;
  if (team != nullptr) {
    request.device_count = team->size();
    request.rank_all_reduces =
        possible_all_reduces(team->link(), RankSet::all(team->size()), sizeof(float));
  }
  request.devices_are_cpus = true;
  Context context(devices_of(team, request.device_count), {.ranks = team});
  const auto begin = std::chrono::steady_clock::now();
  const CaseSpec spec = requested_case(**found, request).value();
  context.begin_case();
  const std::unique_ptr<Case> subject = (*found)->prepare(spec, context);
  const std::chrono::duration<double> planning = std::chrono::steady_clock::now() - begin;
  context.commit();
  const SubmitMode mode = subject->plan().graph().submit;
  const std::unique_ptr<PlanRunner> runner = team != nullptr
                                                 ? make_rank_runner(*team, subject->plan(), mode)
                                                 : make_plan_runner(subject->plan(), mode);
  subject->reset();
  (void)runner->run();

  facts["name"] = spec.name();
  facts["threads"] = context.stream(0, StreamKind::compute).threads();
  facts["planning_seconds"] = planning.count();
  facts["loss"] = loss_of(*subject);
  facts["ranks"] = team == nullptr ? 1 : team->size();
  if (team == nullptr || team->leads()) std::cout << facts.dump() << '\n' << std::flush;
  serve_samples(*runner, wanted, team);
}

void serve(RankTeam* team, const Question& question, const ServedModel& model) {
  const Network network = network_of(model);
  serve(team, request_of(question, model), {.executions = model.executions},
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
  const std::unique_ptr<RankTeam> team = join_ranks();
  ServedModel served = model;
  if (team != nullptr) served.devices = team->size();
  serve(team.get(), served.devices == 1 ? training : divided_training, served);
}

void serve_forward_passes(const ServedModel& model) { serve(nullptr, inference, model); }

void serve_all_reduces(const ServedExchange& exchange) {
  const std::unique_ptr<RankTeam> team = join_ranks();
  const Question& over_ranks = std::cmp_less_equal(exchange.bytes, max_shared_bytes)
                                   ? exchanging_in_shared_memory
                                   : exchanging_over_ranks;
  Scenario::Request request =
      request_of(team != nullptr ? over_ranks : exchanging, exchange.devices);
  request.spec.parameters.set("collective", std::string("all-reduce"));
  request.spec.parameters.set("size", std::to_string(exchange.bytes));
  request.spec.parameters.set("calls", std::int64_t{exchange.calls});
  request.given = {"collective", "size", "strategy", "calls"};
  serve(team.get(), request,
        {.executions = exchange.executions,
         .calls = exchange.calls,
         .from_common_start = team != nullptr},
        {{"bytes", exchange.bytes}, {"calls", exchange.calls}});
}

}  // namespace parbench::peers
