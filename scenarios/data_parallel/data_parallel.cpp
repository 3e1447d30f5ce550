// Parameters and cases of the data-parallel scenario.
#include "scenarios/data_parallel/data_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "kernels/base/error.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/data_parallel/all_reduce_plan.h"
#include "scenarios/data_parallel/central_plan.h"
#include "scenarios/data_parallel/replicas.h"
#include "scenarios/data_parallel/strategies.h"
#include "scenarios/framework/requests.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/plan/schedules/data_parallel.h"
#include "scenarios/training/gradient_accumulation.h"
#include "scenarios/training/step_checks.h"
#include "scenarios/training/step_choice.h"

namespace parbench {
namespace {

/// The reference of models that compute something else on a part of a batch than on all of it: the
/// same parts one after the other. Not offered to users.
constexpr std::string_view parts_in_turn = "parts-in-turn";

constexpr std::string_view recurrent_model = "rnn-lm";

/// PyTorch's default is 25.
constexpr std::size_t mebibyte = std::size_t{1} << 20;

std::vector<Axis> axes_of_data_parallel() {
  Axis model = model_axis(recurrent_model);
  model.published = {std::string("linear"), std::string(recurrent_model)};
  std::vector<Axis> axes = {
      std::move(model),
      {.name = "batch",
       .description = "samples of a training step on all devices together (20 of rnn-lm, 30 of "
                      "linear, 24 of ResNets)",
       .quick = {},
       .published = {},
       .max = 1 << 20,
       .role = Role::batch}};
  std::ranges::move(model_size_axes(), std::back_inserter(axes));
  std::ranges::move(model_file_axes(), std::back_inserter(axes));
  axes.push_back({.name = "bucket",
                  .description = "MiB of gradients that are all-reduced together",
                  .quick = {std::int64_t{5}, std::int64_t{25}},
                  .published = {std::int64_t{1}, std::int64_t{5}, std::int64_t{25}},
                  .max = 1 << 14,
                  .strategies = {std::string(bucketed_all_reduce)}});
  axes.push_back({.name = "accumulate",
                  .description = "micro-batches of each device, whose gradients are accumulated",
                  .quick = {std::int64_t{1}},
                  .published = {std::int64_t{1}},
                  .max = 1 << 10,
                  .strategies = {std::string(one_all_reduce), std::string(bucketed_all_reduce),
                                 std::string(tower)}});
  axes.push_back(optimizer_axis());
  axes.push_back(clip_axis());
  return axes;
}

/// What every strategy computes.
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

/// The micro-batches of each device that has any.
std::vector<std::vector<std::int64_t>> micro_batches_of(const Parameters& parameters) {
  const auto count = [&](std::string_view name) {
    const Value* value = parameters.find(name);
    return value == nullptr ? 1 : static_cast<int>(std::get<std::int64_t>(*value));
  };
  std::vector<std::vector<std::int64_t>> all;
  for (const std::int64_t share : divided_batch(parameters.integer("batch"), count("devices"))) {
    all.push_back(divided_batch(share, count("accumulate")));
  }
  return all;
}

/// Why a batch cannot be divided so; empty where it can.
std::string obstacle(const Network& network, const Parameters& parameters) {
  const std::int64_t batch = parameters.integer("batch");
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

/// A device's share of the speed of as many devices as there are: 1 is linear scaling.
Metric scaling_efficiency(const CaseSpec& baseline, std::int64_t devices) {
  return {.name = "scaling efficiency",
          .others = {baseline},
          .value = [devices](std::span<const double> seconds, std::span<const double>) {
            return seconds[1] / (seconds[0] * static_cast<double>(devices));
          }};
}

class DataParallel final : public Scenario {
 public:
  [[nodiscard]] std::string_view name() const override { return "data-parallel"; }
  [[nodiscard]] std::string_view question() const override {
    return "Does dividing the batch over devices pay, and how should gradients be combined?";
  }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override { return strategies_; }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return single_device; }
  [[nodiscard]] int default_devices() const override { return 2; }
  [[nodiscard]] int min_devices() const override { return 2; }

  [[nodiscard]] std::optional<CaseSpec> resolve(const Request& request) const override;
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override;
  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override;
  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& spec) const override {
    if (spec.strategy == single_device) return {};
    return {scaling_efficiency(single_of(spec), spec.parameters.integer("devices"))};
  }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    return best_strategy(*this, outcomes, possibly_fastest);
  }

 private:
  [[nodiscard]] static CaseSpec single_of(const CaseSpec& spec) {
    return with_strategy(spec, single_device, {"devices", "idle", "bucket", "accumulate"});
  }

  std::vector<Strategy> strategies_ = {
      {std::string(single_device), "the whole batch on the first device"},
      {std::string(one_all_reduce),
       "a part of the batch on each device, one all-reduce of the gradients behind the backward "
       "pass, an update on each"},
      {std::string(bucketed_all_reduce),
       "the same, all-reducing buckets of gradients beside the rest of the backward pass "
       "(DistributedDataParallel)"},
      {std::string(tower),
       "gradients added, clipped and applied on the first device, parameters copied back (towers, "
       "parallel_do)"},
      {std::string(replicate),
       "parameters and samples from the first device in every step, loss and update there "
       "(DataParallel)"}};
  std::vector<Axis> axes_ = axes_of_data_parallel();
};

/// Adds the number of micro-batches where the strategy has the axis.
void add_accumulation(const Parameters& asked, Parameters& parameters) {
  const Value* count = asked.find("accumulate");
  if (count == nullptr) return;
  if (*count == Value(std::int64_t{1})) {
    parameters.imply("accumulate", *count);
  } else {
    parameters.set("accumulate", *count);
  }
}

std::optional<CaseSpec> DataParallel::resolve(const Request& request) const {
  CaseSpec spec = request.spec;
  spec.parameters = parameters_of_batch(request);
  if (spec.strategy != single_device) {
    if (request.device_count < 2 || !request.devices_alike) {
      return refuse(request, "strategy",
                    fmt::format("--strategy: {} needs at least two devices, all of one kind; this "
                                "run has {}{}",
                                spec.strategy, request.device_count,
                                request.devices_alike ? "" : " of several kinds"));
    }
    const std::int64_t devices = request.device_count;
    spec.parameters.set("devices", devices);
    add_accumulation(request.spec.parameters, spec.parameters);
    const auto used = static_cast<std::int64_t>(micro_batches_of(spec.parameters).size());
    if (used < devices) spec.parameters.imply("idle", devices - used);
  }
  if (spec.strategy == bucketed_all_reduce) {
    spec.parameters.set("bucket", *request.spec.parameters.find("bucket"));
  }
  const std::string message = obstacle(network_of(spec.parameters), spec.parameters);
  if (!message.empty()) return refuse(request, "batch", message);
  return spec;
}

std::optional<CaseSpec> DataParallel::reference(const CaseSpec& spec) const {
  if (spec.strategy == single_device) return std::nullopt;
  if (!depends_on_division(network_of(spec.parameters))) return single_of(spec);
  return with_strategy(spec, parts_in_turn, {"bucket"});
}

/// Adds the replicas and the plan of a strategy.
void add_strategy(DataParallelParts& parts, const CaseSpec& spec) {
  const Optimizer optimizer = optimizer_of(spec.parameters);
  if (spec.strategy == tower) {
    add_replicas(parts, optimizer, ReplicaKind::computing);
    plan_tower(parts);
    add_replica_outputs(parts, true);
    add_equality_of_replicas(parts, ReplicaKind::computing);
  } else if (spec.strategy == replicate) {
    add_replicas(parts, optimizer, ReplicaKind::fed);
    plan_replicate(parts);
    add_replica_outputs(parts, false);
  } else {
    add_replicas(parts, optimizer, ReplicaKind::training);
    if (spec.strategy == bucketed_all_reduce) {
      const auto bucket = static_cast<std::size_t>(spec.parameters.integer("bucket"));
      plan_bucketed_all_reduce(parts, bucket * mebibyte);
    } else {
      plan_all_reduce(parts);
    }
    add_replica_outputs(parts, true);
    add_equality_of_replicas(parts, ReplicaKind::training);
  }
}

std::unique_ptr<Case> DataParallel::prepare(const CaseSpec& spec, Context& context) const {
  auto parts = std::make_unique<DataParallelParts>(context);
  const Parameters& parameters = spec.parameters;
  parts->network = network_of(parameters);
  parts->micro_batches = micro_batches_of(parameters);
  const std::int64_t batch = parameters.integer("batch");
  parts->whole = {.network = &parts->network,
                  .first = 0,
                  .last = static_cast<int>(parts->network.layers.size()) - 1,
                  .dtype = spec.dtype,
                  .math = spec.math,
                  .batch = batch};
  if (spec.strategy == parts_in_turn) {
    std::vector<std::int64_t> in_turn;
    for (const auto& share : parts->micro_batches) {
      in_turn.insert(in_turn.end(), share.begin(), share.end());
    }
    parts->lead =
        add_gradient_accumulation(*parts, parts->whole, in_turn, optimizer_of(parameters));
  } else {
    add_strategy(*parts, spec);
    add_update_check(*parts, parts->lead);
  }
  add_step_checks(*parts, parts->network, spec.format(), parts->lead, 1);
  parts->tolerance = tolerance_of(spec.format());
  parts->amount = {.value = static_cast<double>(batch),
                   .unit = parts->network.one_hot_target ? "images" : "samples"};
  parts->reads_borrowed_memory = optimizer_of(parameters).reads_borrowed_memory();
  return make_case(std::move(parts));
}

}  // namespace

std::unique_ptr<Scenario> make_data_parallel() { return std::make_unique<DataParallel>(); }

}  // namespace parbench
