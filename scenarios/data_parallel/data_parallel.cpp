// Axes, layouts and metrics of scenario data-parallel.
#include "scenarios/data_parallel/data_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "scenarios/data_parallel/answer.h"
#include "scenarios/data_parallel/strategies.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/training/question/question.h"
#include "scenarios/training/question/step_choice.h"

namespace parbench {
namespace {

constexpr std::string_view recurrent_model = "rnn-lm";

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
       .quick = {std::string(strong_scaling)},
       .published = {std::string(strong_scaling)},
       .choices = names({strong_scaling, weak_scaling}),
       .strategies = names({one_all_reduce, bucketed_all_reduce, tower, replicate, parameter_server,
                            star_of_copies, sharded})},
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
       .strategies = names({one_all_reduce, bucketed_all_reduce, tower, parameter_server,
                            star_of_copies, sharded})}};
}

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

int devices_in(const Parameters& parameters) {
  const Value* devices = parameters.find(devices_parameter);
  return devices == nullptr ? 1 : static_cast<int>(std::get<std::int64_t>(*devices));
}

class DataParallel final : public TrainingQuestion {
 public:
  DataParallel()
      : TrainingQuestion(
            {.name = "data-parallel",
             .question =
                 "Does dividing the batch over devices pay, and how should gradients be combined?",
             .whole = "the whole batch",
             .strategies =
                 {{std::string(one_all_reduce),
                   "a part of the batch on each device, one all-reduce of the gradients after the "
                   "backward "
                   "pass, an update on each"},
                  {std::string(bucketed_all_reduce),
                   "the same, all-reducing buckets of gradients during the rest of the backward "
                   "pass "
                   "(DistributedDataParallel)"},
                  {std::string(tower),
                   "gradients added, clipped and applied on the first device, parameters copied "
                   "back (towers, "
                   "parallel_do)"},
                  {std::string(replicate),
                   "parameters and samples from the first device in every step, loss and update "
                   "there "
                   "(DataParallel)"},
                  {std::string(parameter_server),
                   "parameters and the optimiser's state on a server, which gets all gradients: a "
                   "CPU device "
                   "other than those that compute, if there is one, else the first of them"},
                  {std::string(star_of_copies),
                   "gradients added on the last device, which sends the sums to all others, an "
                   "update on each"},
                  {std::string(sharded),
                   "each device updates a part of the parameters, and keeps no more than that part "
                   "of the "
                   "optimiser's state, from --zero 2 on of gradients, with --zero 3 of parameters "
                   "(ZeRO)"}},
             .axes = axes_of_data_parallel()}) {}

  /// Not comparable: a larger batch on more devices, and one device alone.
  [[nodiscard]] bool comparable(const CaseSpec& spec) const override {
    return !scales_weakly(spec.parameters) && !is_undivided(spec);
  }
  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& spec) const override {
    if (spec.strategy == single_device || is_undivided(spec)) return {};
    // With a fixed number of samples per device, scaling is linear if all devices take as long as
    // one device with its samples.
    return {scaling_efficiency(single_of(spec),
                               scales_weakly(spec.parameters) ? 1 : devices_in(spec.parameters))};
  }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    return answer_of_data_parallel(*this, outcomes, possibly_fastest);
  }

 private:
  [[nodiscard]] std::optional<Obstacle> divide(const Request& request, const Network& network,
                                               Parameters& parameters) const override;
  [[nodiscard]] StepLayout layout_of(const CaseSpec& spec) const override;
};

/// Adds the devices that compute: all, or all except a CPU device that only serves. Returns why
/// there are too few.
std::optional<Obstacle> add_devices(const Scenario::Request& request, Parameters& parameters) {
  const bool may_serve = request.spec.strategy == parameter_server;
  const bool serves = may_serve && request.last_serves && request.device_count > 2;
  if (auto obstacle = obstacle_of_devices(request); obstacle && !serves) {
    if (may_serve && request.device_count > 1) {
      obstacle->message += "; a CPU device behind them may be the server";
    }
    return obstacle;
  }
  const std::int64_t devices = request.device_count - (serves ? 1 : 0);
  parameters.set(std::string(devices_parameter), devices);
  if (serves) parameters.set("server", std::string("cpu"));
  return std::nullopt;
}

/// Returns why devices cannot have different numbers of micro-batches: with divided gradients, all
/// devices together reduce the gradients of each micro-batch.
std::optional<Obstacle> obstacle_of_unequal_micro_batches(const Parameters& parameters) {
  const Value* level = parameters.find("zero");
  if (level == nullptr || *level == Value(std::int64_t{1})) return std::nullopt;
  const int devices = devices_in(parameters);
  const auto all = micro_batches_of_replicas(parameters, devices);
  const auto is_equal = [&](const auto& one) { return one.size() == all.front().size(); };
  if (std::ranges::all_of(all, is_equal)) return std::nullopt;
  return Obstacle{
      {"accumulate"},
      fmt::format("--accumulate: {} micro-batches of each device are not possible with a batch of "
                  "{} on {} devices, but --zero {} reduces each on all of them together; use "
                  "another --batch, or --zero 1",
                  parameters.integer("accumulate"), total_samples(parameters), devices,
                  to_string(*level))};
}

std::optional<Obstacle> DataParallel::divide(const Request& request, const Network& /*network*/,
                                             Parameters& parameters) const {
  if (auto obstacle = add_devices(request, parameters)) return obstacle;
  const Parameters& asked = request.spec.parameters;
  const auto add_number = [&](const std::string& name, std::int64_t usual) {
    if (const Value* value = asked.find(name)) add_choice(parameters, name, *value, usual);
  };
  add_choice(parameters, "scaling", asked_or(asked, "scaling", strong_scaling), strong_scaling);
  add_number("accumulate", 1);
  const int devices = devices_in(parameters);
  const auto used = static_cast<int>(micro_batches_of_replicas(parameters, devices).size());
  if (used < devices) parameters.imply("idle", std::int64_t{devices - used});
  // Only the last level gathers parameters, so only it has a distance of prefetching.
  const Value* level = asked.find("zero");
  if (level != nullptr) parameters.set("zero", *level);
  if (level != nullptr && *level == Value(last_zero_level)) add_number("prefetch", usual_prefetch);
  if (const Value* bucket = asked.find("bucket")) parameters.set("bucket", *bucket);
  return obstacle_of_unequal_micro_batches(parameters);
}

Exchange exchange_of(const CaseSpec& spec) {
  const Parameters& parameters = spec.parameters;
  if (spec.strategy == parameter_server) {
    const bool has_device = parameters.find("server") != nullptr;
    return {.kind = Exchange::Kind::server, .server = has_device ? devices_in(parameters) : 0};
  }
  if (is_undivided(spec)) return {};
  if (spec.strategy == tower) return {.kind = Exchange::Kind::first_device};
  if (spec.strategy == star_of_copies) return {.kind = Exchange::Kind::star};
  if (spec.strategy == replicate) return {.kind = Exchange::Kind::fed_from_first};
  if (spec.strategy != sharded) return {};
  Exchange exchange{.kind = Exchange::Kind::zero,
                    .zero_level = static_cast<int>(parameters.integer("zero"))};
  if (exchange.divides_parameters()) {
    exchange.prefetch = static_cast<int>(parameters.integer("prefetch"));
  }
  return exchange;
}

StepLayout DataParallel::layout_of(const CaseSpec& spec) const {
  return {.grid = {.replicas = devices_in(spec.parameters)}, .exchange = exchange_of(spec)};
}

}  // namespace

std::unique_ptr<Scenario> make_data_parallel() { return std::make_unique<DataParallel>(); }

}  // namespace parbench
