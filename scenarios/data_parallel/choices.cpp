// Axes, and parameters derived from their values.
#include "scenarios/data_parallel/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "scenarios/data_parallel/strategies.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/requests.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/plan/schedules/data_parallel.h"
#include "scenarios/training/step_choice.h"

namespace parbench {
namespace {

constexpr std::string_view recurrent_model = "rnn-lm";

constexpr std::string_view strong = "strong";
constexpr std::string_view weak = "weak";

constexpr std::int64_t last_zero_level = 3;
constexpr std::int64_t usual_prefetch = 1;

std::vector<std::string> names(std::initializer_list<std::string_view> strategies) {
  return {strategies.begin(), strategies.end()};
}

std::vector<Axis> axes_of_division() {
  return {
      {.name = "scaling",
       .description = "strong: the batch is divided over the devices; weak: each device has one "
                      "of its own",
       .kind = AxisKind::choice,
       .quick = {std::string(strong)},
       .published = {std::string(strong)},
       .choices = names({strong, weak}),
       .strategies = names(
           {one_all_reduce, bucketed_all_reduce, tower, replicate, parameter_server, sharded})},
      {.name = "zero",
       .description = "what is divided over devices: 1 the optimiser's state, 2 also gradients, 3 "
                      "also parameters (ZeRO)",
       .quick = {std::int64_t{1}, std::int64_t{3}},
       .published = {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}},
       .max = last_zero_level,
       .strategies = names({sharded})},
      {.name = "prefetch",
       .description = "with --zero 3: number of steps ahead by which parameters are gathered",
       .quick = {usual_prefetch},
       .published = {usual_prefetch},
       .min = 0,
       .max = 64,
       .strategies = names({sharded})},
      {.name = "bucket",
       .description = "MiB of gradients that are reduced together, of --zero 3 also of "
                      "parameters that are gathered together",
       .quick = {std::int64_t{5}},
       .published = {std::int64_t{1}, std::int64_t{5}, std::int64_t{25}},
       .max = 1 << 14,
       .strategies = names({bucketed_all_reduce, sharded}),
       .role = Role::exchange_size},
      {.name = "accumulate",
       .description = "micro-batches of each device, whose gradients are accumulated",
       .quick = {std::int64_t{1}},
       .published = {std::int64_t{1}},
       .max = 1 << 10,
       .strategies =
           names({one_all_reduce, bucketed_all_reduce, tower, parameter_server, sharded})}};
}

std::int64_t integer_or_one(const Parameters& parameters, std::string_view name) {
  const Value* value = parameters.find(name);
  return value == nullptr ? 1 : std::get<std::int64_t>(*value);
}

bool is_weak(const Parameters& parameters) {
  const Value* value = parameters.find("scaling");
  return value != nullptr && *value == Value(std::string(weak));
}

/// Returns why a batch cannot be divided in this way; empty if it can.
std::string obstacle(const Network& network, const Parameters& parameters) {
  const std::int64_t batch = total_samples(parameters);
  if (batch > network.max_samples()) {
    return fmt::format(
        "--batch: {} samples of {} are more than kernels can count; allowed are 1 "
        "to {}",
        batch, network.name, network.max_samples());
  }
  std::int64_t smallest = batch;
  for (const auto& share : micro_batches_of(parameters))
    smallest = std::min(smallest, share.back());
  if (smallest >= network.min_samples()) return {};
  return fmt::format(
      "--batch: {} samples are divided into parts of which the smallest has {}, too few for the "
      "batch normalisations of {}; use a batch of which each part has at least {}",
      batch, smallest, network.name, network.min_samples());
}

/// Returns the parameters that all strategies share.
Parameters parameters_of_batch(const Scenario::Request& request) {
  Parameters parameters;
  const Parameters& asked = request.spec.parameters;
  const Model model = model_of(request, recurrent_model);
  add_choice(parameters, "model", model.name, recurrent_model);
  const Value* batch = asked.find("batch");
  parameters.set("batch", batch != nullptr ? *batch : Value(model.quick_batch));
  add_model_sizes(request, model, parameters);
  add_optimizer_choice(asked, parameters);
  add_clip_choice(asked, parameters);
  return parameters;
}

/// Adds the number of micro-batches, if the strategy has this axis.
void add_accumulation(const Parameters& asked, Parameters& parameters) {
  const Value* count = asked.find("accumulate");
  if (count == nullptr) return;
  if (*count == Value(std::int64_t{1})) {
    parameters.imply("accumulate", *count);
  } else {
    parameters.set("accumulate", *count);
  }
}

/// Returns the number of devices that compute: all, or all except the server.
std::int64_t computing_devices(const Scenario::Request& request) {
  const bool has_server = request.spec.strategy == parameter_server && request.last_serves;
  if (has_server) return request.device_count - 1;
  return request.devices_alike ? request.device_count : 0;
}

/// Only the last level gathers parameters, in advance of their use.
void add_zero_level(const Parameters& asked, Parameters& parameters) {
  const Value* level = asked.find("zero");
  if (level == nullptr) return;
  parameters.set("zero", *level);
  const Value* prefetch = asked.find("prefetch");
  if (prefetch == nullptr || *level != Value(last_zero_level)) return;
  if (*prefetch == Value(usual_prefetch)) {
    parameters.imply("prefetch", *prefetch);
  } else {
    parameters.set("prefetch", *prefetch);
  }
}

/// With sharded gradients, all devices together reduce the gradients of each micro-batch.
bool reduces_unequal_micro_batches(const Parameters& parameters) {
  if (integer_or_one(parameters, "zero") == 1) return false;
  const auto all = micro_batches_of(parameters);
  return std::ranges::any_of(all,
                             [&](const auto& one) { return one.size() != all.front().size(); });
}

std::string reason_of_devices(const Scenario::Request& request) {
  const bool has_server = request.spec.strategy == parameter_server && request.device_count > 1;
  return needs_alike_devices(request) +
         (has_server ? "; a CPU device behind them may be the server" : "");
}

void add_division(const Scenario::Request& request, std::int64_t devices, Parameters& parameters) {
  const Parameters& asked = request.spec.parameters;
  parameters.set("devices", devices);
  if (devices < request.device_count) parameters.set("server", std::string("cpu"));
  add_choice(parameters, "scaling", asked_or(asked, "scaling", strong), strong);
  add_accumulation(asked, parameters);
  const auto used = static_cast<std::int64_t>(micro_batches_of(parameters).size());
  if (used < devices) parameters.imply("idle", devices - used);
}

}  // namespace

std::vector<Axis> axes_of_data_parallel() {
  Axis model = model_axis(recurrent_model);
  model.published = {std::string("linear"), std::string(recurrent_model)};
  std::vector<Axis> axes =
      training_axes(std::move(model),
                    "samples of a training step on all devices together, with --scaling weak on "
                    "each (20 of rnn-lm, 30 of linear, 24 of ResNets)",
                    Role::batch);
  std::ranges::move(axes_of_division(), std::back_inserter(axes));
  axes.push_back(optimizer_axis());
  axes.push_back(clip_axis());
  return axes;
}

std::optional<CaseSpec> resolved_division(const Scenario::Request& request) {
  CaseSpec spec = request.spec;
  spec.parameters = parameters_of_batch(request);
  if (spec.strategy != single_device) {
    const std::int64_t devices = computing_devices(request);
    if (devices < 2) return refuse(request, "strategy", reason_of_devices(request));
    add_division(request, devices, spec.parameters);
    add_zero_level(request.spec.parameters, spec.parameters);
  }
  if (const Value* bucket = request.spec.parameters.find("bucket")) {
    spec.parameters.set("bucket", *bucket);
  }
  if (reduces_unequal_micro_batches(spec.parameters)) {
    return refuse(
        request, "accumulate",
        fmt::format("--accumulate: {} micro-batches of each device are not possible with a batch "
                    "of {} on {} devices, but --zero {} reduces each on all of them together; use "
                    "another --batch, or --zero 1",
                    spec.parameters.integer("accumulate"), total_samples(spec.parameters),
                    spec.parameters.integer("devices"), spec.parameters.integer("zero")));
  }
  const std::string message = obstacle(network_of(spec.parameters), spec.parameters);
  if (!message.empty()) return refuse(request, "batch", message);
  return spec;
}

CaseSpec single_of(const CaseSpec& spec) {
  return with_strategy(
      spec, single_device,
      {"devices", "server", "scaling", "idle", "zero", "prefetch", "bucket", "accumulate"});
}

CaseSpec whole_batch_of(const CaseSpec& spec) {
  CaseSpec whole = single_of(spec);
  whole.parameters.set("batch", total_samples(spec.parameters));
  return whole;
}

bool scales_weakly(const CaseSpec& spec) { return is_weak(spec.parameters); }

std::int64_t total_samples(const Parameters& parameters) {
  const std::int64_t batch = parameters.integer("batch");
  return is_weak(parameters) ? batch * integer_or_one(parameters, "devices") : batch;
}

std::vector<std::vector<std::int64_t>> micro_batches_of(const Parameters& parameters) {
  const auto count = [&](std::string_view name) {
    return static_cast<int>(integer_or_one(parameters, name));
  };
  std::vector<std::vector<std::int64_t>> all;
  for (const std::int64_t share : divided_batch(total_samples(parameters), count("devices"))) {
    all.push_back(divided_batch(share, count("accumulate")));
  }
  return all;
}

bool is_undivided(const CaseSpec& spec) {
  return spec.strategy != single_device && !uses_all_cores(spec) &&
         micro_batches_of(spec.parameters).size() == 1;
}

bool has_server_device(const Parameters& parameters) {
  return parameters.find("server") != nullptr;
}

}  // namespace parbench
