// Axes, layouts and answer of scenario data-parallel.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "kernels/base/units/units.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/training/question/question.h"
#include "scenarios/training/question/step_choice.h"

namespace parbench {
namespace {

constexpr const char* one_all_reduce = "all-reduce";
constexpr const char* bucketed_all_reduce = "all-reduce-buckets";
constexpr const char* tower = "tower";
constexpr const char* replicate = "replicate";
constexpr const char* parameter_server = "parameter-server";
constexpr const char* sharded = "sharded";

constexpr const char* recurrent_model = "rnn-lm";

constexpr std::int64_t last_zero_level = 3;
constexpr std::int64_t usual_prefetch = 1;

std::vector<Axis> axes_of_data_parallel() {
  return training_axes(
      model_axis(recurrent_model, {"linear", recurrent_model}), Role::batch,
      {{.name = "scaling",
        .description = "strong: the batch is divided over the devices; weak: each device has one "
                       "of its own",
        .kind = AxisKind::choice,
        .quick = {strong_scaling},
        .published = {strong_scaling},
        .choices = {strong_scaling, weak_scaling},
        .strategies = {one_all_reduce, bucketed_all_reduce, tower, replicate, parameter_server,
                       sharded}},
       {.name = "zero",
        .description = "what is divided over devices: 1 the optimiser's state, 2 also gradients, 3 "
                       "also parameters (ZeRO)",
        .quick = {1, 3},
        .published = {1, 2, 3},
        .max = last_zero_level,
        .strategies = {sharded}},
       {.name = "prefetch",
        .description =
            "with --zero 3: number of segments of a pass by which parameters are gathered early",
        .quick = {usual_prefetch},
        .published = {usual_prefetch},
        .min = 0,
        .max = 64,
        .strategies = {sharded}},
       {.name = "bucket",
        .description = "MiB of gradients that are reduced together, of --zero 3 also of "
                       "parameters that are gathered together",
        .quick = {5},
        .published = {1, 5, 25},
        .max = 1 << 14,
        .strategies = {bucketed_all_reduce, sharded},
        .role = Role::exchange_size},
       {.name = "accumulate",
        .description = "micro-batches of each device, whose gradients are accumulated",
        .quick = {1},
        .published = {1},
        .max = 1 << 10,
        .strategies = {one_all_reduce, bucketed_all_reduce, tower, parameter_server, sharded}},
       step_axis("optimizer"),
       step_axis("clip")});
}

/// Returns whether a strategy that divides the batch would leave samples for only one device.
bool is_undivided(const CaseSpec& spec) {
  if (spec.strategy == single_device || uses_all_cores(spec)) return false;
  return micro_batches_of_replicas(spec.parameters, devices_in(spec.parameters)).size() == 1;
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
                 {{one_all_reduce,
                   "a part of the batch on each device, one all-reduce of the gradients after the "
                   "backward pass, an update on each"},
                  {bucketed_all_reduce,
                   "the same, all-reducing buckets of gradients during the rest of the backward "
                   "pass (DistributedDataParallel)"},
                  {tower,
                   "gradients added, clipped and applied on the first device, parameters copied "
                   "back (towers, parallel_do)"},
                  {replicate,
                   "parameters and samples from the first device in every step, loss and update "
                   "there (DataParallel)"},
                  {parameter_server,
                   "parameters and the optimiser's state on a server, which gets all gradients: a "
                   "CPU device other than those that compute, if there is one, else the first of "
                   "them"},
                  {sharded,
                   "each device updates a part of the parameters, and keeps no more than that part "
                   "of the optimiser's state, from --zero 2 on of gradients, with --zero 3 of "
                   "parameters (ZeRO)"}},
             .axes = axes_of_data_parallel()}) {}

  /// Returns false for batches that grow with the number of devices or are too small to be divided.
  [[nodiscard]] bool comparable(const CaseSpec& spec) const override {
    return !scales_weakly(spec.parameters) && !is_undivided(spec);
  }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override;

 private:
  [[nodiscard]] std::optional<Obstacle> divide(const Request& request, const Network& network,
                                               Parameters& parameters) const override;
  [[nodiscard]] StepLayout layout_of(const CaseSpec& spec) const override;
};

/// Adds the number of devices that compute: all but the last if that is a CPU device that only
/// serves as parameter server, otherwise all. Returns an obstacle if the devices are too few or of
/// several kinds.
std::optional<Obstacle> add_devices(const Scenario::Request& request, Parameters& parameters) {
  const bool may_serve = request.spec.strategy == parameter_server;
  const bool serves = may_serve && request.last_serves && request.device_count > 2;
  if (auto obstacle = obstacle_of_devices(request); obstacle && !serves) {
    if (may_serve && request.device_count > 1) {
      obstacle->message += "; a CPU device after them may be the server";
    }
    return obstacle;
  }
  const std::int64_t devices = request.device_count - (serves ? 1 : 0);
  parameters.set(std::string(devices_parameter), devices);
  if (serves) parameters.set("server", std::string("cpu"));
  return std::nullopt;
}

/// Returns an obstacle if devices have different numbers of micro-batches with ZeRO 2 or 3, which
/// reduces the gradients of each micro-batch over all devices.
std::optional<Obstacle> obstacle_of_unequal_micro_batches(const Parameters& parameters) {
  const std::int64_t level = parameters.integer_or("zero", 1);
  if (level == 1) return std::nullopt;
  const int devices = devices_in(parameters);
  const auto all = micro_batches_of_replicas(parameters, devices);
  const auto is_equal = [&](const auto& one) { return one.size() == all.front().size(); };
  if (std::ranges::all_of(all, is_equal)) return std::nullopt;
  return Obstacle{
      {"accumulate"},
      fmt::format("--accumulate: {} micro-batches of each device are not possible with a batch of "
                  "{} on {} devices, but --zero {} reduces each on all of them together; use "
                  "another --batch, or --zero 1",
                  parameters.integer("accumulate"), total_samples(parameters), devices, level)};
}

std::optional<Obstacle> DataParallel::divide(const Request& request, const Network& /*network*/,
                                             Parameters& parameters) const {
  if (auto obstacle = add_devices(request, parameters)) return obstacle;
  const Parameters& asked = request.spec.parameters;
  add_asked(asked, "scaling", strong_scaling, parameters);
  if (asked.find("accumulate") != nullptr) add_asked(asked, "accumulate", 1, parameters);
  const int devices = devices_in(parameters);
  const auto used = static_cast<int>(micro_batches_of_replicas(parameters, devices).size());
  if (used < devices) parameters.imply("idle", std::int64_t{devices - used});
  // Only ZeRO 3 gathers parameters in segments and has a prefetch distance.
  const std::int64_t level = asked.integer_or("zero", 0);
  if (level > 0) parameters.set("zero", level);
  if (level == last_zero_level) add_asked(asked, "prefetch", usual_prefetch, parameters);
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

// --- answer ---

double fullest_device(const CaseOutcome& one) {
  return one.memory.empty() ? 0 : std::ranges::max(one.memory);
}

std::string memory_of(const CaseOutcome& one) { return format_bytes(fullest_device(one)); }

/// Returns "all-reduce holds 404 MiB on its fullest device, one device 380 MiB; least memory:
/// sharded with zero 3, 315 MiB a device in 1.20× the time." The last part is omitted if it would
/// save less than a tenth.
std::string memory_text(const Scenario& scenario, const Outcomes& outcomes,
                        const Recommendation& best) {
  const CaseOutcome* used = find_outcome(outcomes, best.candidates.front().name);
  if (used == nullptr || fullest_device(*used) <= 0) return {};
  if (uses_all_cores(used->spec)) return {};  // all-cores needs the memory of one device
  const CaseOutcome* single = nullptr;
  const CaseOutcome* least = used;
  for (const CaseOutcome* one : outcomes) {
    if (uses_all_cores(one->spec) || single_of(one->spec) != single_of(used->spec)) continue;
    const double held = fullest_device(*one);
    if (one->spec.strategy == single_device) {
      single = one;
    } else if (held > 0 &&
               (least->spec.strategy == single_device || held < fullest_device(*least))) {
      least = one;
    }
  }
  const auto label = [&](const CaseOutcome& one) {
    return strategy_label(scenario, outcomes, one.spec);
  };
  std::string text = fmt::format("{} holds {}", label(*used), memory_of(*used));
  if (used == single) text = with_capital(text);
  if (used != single) text += " on its fullest device";
  if (single != nullptr && used != single) {
    text += fmt::format(", {} {}", label(*single), memory_of(*single));
  }
  constexpr double noteworthy = 0.9;
  if (fullest_device(*least) <= noteworthy * fullest_device(*used)) {
    text +=
        fmt::format("; least memory: {}, {} a device in {} the time", label(*least),
                    memory_of(*least), format_ratio(least->median_seconds / used->median_seconds));
  }
  return text + ".";
}

/// Returns a sentence for each model: "With 20 samples on each of 2 devices, all-reduce reaches 93%
/// of linear scaling."; with several models it begins with "With model vgg16 and 20 samples …".
std::vector<std::string> weak_scaling_texts(const Scenario& scenario, const Outcomes& outcomes) {
  std::vector<std::string> texts;
  for (const SameWork& group : same_work(outcomes, {"model"})) {
    const CaseOutcome& best = **std::ranges::max_element(
        group.cases, {},
        [](const CaseOutcome* one) { return one->metric(scaling_efficiency)->value; });
    const CaseSpec& spec = best.spec;
    texts.push_back(fmt::format(
        "With {}{} on each of {}, {} reaches {} of linear scaling.",
        group.setting.empty() ? "" : group.setting + " and ",
        format_count(spec.parameters.integer("batch"), "sample"),
        format_count(devices_in(spec.parameters), "device"),
        strategy_label(scenario, outcomes, with_strategy(spec, spec.strategy, {"scaling"})),
        format_percent(*best.metric(scaling_efficiency))));
  }
  return texts;
}

Conclusion DataParallel::answer(const std::vector<CaseOutcome>& outcomes,
                                const PossiblyFastest& possibly_fastest) const {
  const Outcomes all = all_outcomes(outcomes);
  const auto is_weak = [](const CaseSpec& spec) { return scales_weakly(spec.parameters); };
  Outcomes weak = outcomes_where(all, is_weak);
  const bool divides_one_batch = has_case(all, [&](const CaseSpec& spec) {
    return spec.strategy != single_device && !uses_all_cores(spec) && !is_weak(spec);
  });
  const Outcomes strong = outcomes_where(all, [&](const CaseSpec& spec) {
    if (uses_all_cores(spec) && !weak.empty() && !divides_one_batch) return false;
    return !is_weak(spec) && !is_undivided(spec);
  });
  Conclusion made = best_strategy(*this, strong, possibly_fastest);
  std::vector<std::string> texts;
  if (made.is_answered) {
    texts = {made.text, memory_text(*this, strong, best_of(made.recommendations))};
  }
  std::erase_if(weak, [](const auto* one) { return one->metric(scaling_efficiency) == nullptr; });
  std::ranges::move(weak_scaling_texts(*this, weak), std::back_inserter(texts));
  if (!texts.empty()) {
    made.text = joined_sentences(texts);
    made.is_answered = true;
  } else if (has_case(all, is_undivided)) {
    made.text = "The batch is a single sample: one device has it, and there is nothing to combine.";
  }
  return made;
}

}  // namespace

std::unique_ptr<Scenario> make_data_parallel() { return std::make_unique<DataParallel>(); }

}  // namespace parbench
