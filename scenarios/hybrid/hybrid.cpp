// Parameters and cases of the hybrid scenario.
#include "scenarios/hybrid/hybrid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/units/units.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/time_shares.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/requests.h"
#include "scenarios/hybrid/choices.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/plan/schedules/device_grid.h"
#include "scenarios/plan/schedules/partition.h"
#include "scenarios/training/in_turn.h"
#include "scenarios/training/partition.h"
#include "scenarios/training/step/training_step.h"
#include "scenarios/training/step_choice.h"

namespace parbench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Reference for models whose results depend on how the batch is divided: the same micro-batches
/// one after the other. Not offered to users.
constexpr std::string_view parts_in_turn = "parts-in-turn";

std::string label_of(const CaseSpec& spec, const std::vector<CaseOutcome>& outcomes) {
  if (spec.strategy != hybrid_divided) return spec.strategy;
  std::string label = spec.parameters.text("layout");
  for (const std::string_view name : {"split", "schedule", "partition", "bucket"}) {
    const Value* value = spec.parameters.find(name);
    if (value == nullptr) continue;
    const bool is_varied = std::ranges::any_of(outcomes, [&](const CaseOutcome& one) {
      const Value* other = one.spec.parameters.find(name);
      return one.spec.strategy == hybrid_divided && other != nullptr && *other != *value &&
             one.spec.parameters.text("layout") == spec.parameters.text("layout") &&
             one.spec.parameters.text("model") == spec.parameters.text("model");
    });
    if (is_varied) label += fmt::format(", {} {}", name, to_string(*value));
  }
  return label;
}

/// Returns " parbench cannot divide layers of resnet50 into shards." if only replicas and stages
/// were compared.
std::string undivided_text(const std::vector<CaseOutcome>& outcomes) {
  std::set<std::string> undivided;
  std::set<std::string> with_shards;
  for (const CaseOutcome& one : outcomes) {
    if (one.spec.strategy != hybrid_divided) continue;
    const std::string& model = one.spec.parameters.text("model");
    if (grid_of(one.spec.parameters).shards > 1) with_shards.insert(model);
    if (obstacle_to_division(network_of(one.spec.parameters), 2)) undivided.insert(model);
  }
  std::vector<std::string> names;
  std::ranges::set_difference(undivided, with_shards, std::back_inserter(names));
  if (names.empty()) return {};
  return fmt::format(" parbench cannot divide layers of {} into shards.",
                     report::format_list(names));
}

class Hybrid final : public Scenario {
 public:
  [[nodiscard]] std::string_view name() const override { return "hybrid"; }
  [[nodiscard]] std::string_view question() const override {
    return "Data, pipeline or tensor parallelism, or which mix of them?";
  }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override { return strategies_; }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return hybrid_single; }
  [[nodiscard]] int default_devices() const override { return 2; }
  [[nodiscard]] int min_devices() const override { return 2; }
  [[nodiscard]] bool runs_over_ranks() const override { return true; }

  [[nodiscard]] std::optional<CaseSpec> resolve(const Request& request) const override {
    return resolved_grid(request);
  }
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override;
  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> model_notes(
      const std::vector<CaseSpec>& specs) const override {
    return notes_on_trained_models(specs);
  }
  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& spec) const override {
    if (spec.strategy == hybrid_single) return {};
    const bool is_divided = spec.strategy == hybrid_divided;
    return {scaling_efficiency(single_of(spec), is_divided ? grid_of(spec.parameters).devices()
                                                           : spec.parameters.integer("devices"))};
  }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    const auto label = [&](const CaseSpec& spec) { return label_of(spec, outcomes); };
    Conclusion made = best_strategy(*this, outcomes, possibly_fastest, label);
    if (!made.is_answered) return made;
    made.text = joined_sentences({made.text, undivided_text(outcomes)});
    return with_time_shares(std::move(made), *this, outcomes, label);
  }

 private:
  [[nodiscard]] static CaseSpec single_of(const CaseSpec& spec) {
    return with_strategy(spec, hybrid_single,
                         {"devices", "layout", "split", "schedule", "partition", "bucket"});
  }

  std::vector<Strategy> strategies_ = {
      {std::string(hybrid_single), "the whole model and batch on the first device"},
      {std::string(all_cores),
       "the whole model and batch on one device that has the cores of all devices (for parts of a "
       "GPU: the whole GPU)"},
      {std::string(hybrid_divided),
       "the model on a grid of devices that --layout chooses: replicas (dp) with parts of the "
       "batch, "
       "stages (pp) with parts of the layers, shards (tp) with parts of each layer; gradients are "
       "added up by one all-reduce, or in buckets"}};
  std::vector<Axis> axes_ = axes_of_hybrid();
};

std::optional<CaseSpec> Hybrid::reference(const CaseSpec& spec) const {
  if (spec.strategy == hybrid_single && !recomputes(spec.parameters)) return std::nullopt;
  if (spec.strategy == hybrid_single || !depends_on_division(network_of(spec.parameters))) {
    return with_strategy(single_of(spec), hybrid_single, {"recompute"});
  }
  CaseSpec reference =
      with_strategy(spec, parts_in_turn, {"schedule", "partition", "bucket", "recompute"});
  reference.parameters.set("layout",
                           to_string(DeviceGrid{.replicas = grid_of(spec.parameters).replicas}));
  return reference;
}

StepLayout layout_of(const CaseSpec& spec, const Network& network, Context& context) {
  StepLayout layout{.grid = grid_of(spec.parameters),
                    .micro_batches = micro_batches_of_replicas(spec.parameters),
                    .recompute = recomputes(spec.parameters)};
  if (const Value* bucket = spec.parameters.find("bucket")) {
    layout.exchange.bucket_bytes =
        static_cast<std::size_t>(std::get<std::int64_t>(*bucket)) * mebibyte;
  }
  if (layout.grid.stages == 1) return layout;
  layout.schedule = spec.parameters.text("schedule");
  layout.partition = chosen_partition(context, network, spec, devices_of_stages(layout.grid),
                                      layout.micro_batches.front());
  return layout;
}

std::unique_ptr<Case> Hybrid::prepare(const CaseSpec& spec, Context& context) const {
  Network network = network_of(spec.parameters);
  StepLayout layout =
      spec.strategy == parts_in_turn
          ? in_turn(context, all_micro_batches(micro_batches_of_replicas(spec.parameters)))
          : layout_of(spec, network, context);
  return make_case(prepare_step(
      context, std::move(network),
      {.format = spec.format(), .optimizer = optimizer_of(spec.parameters)}, std::move(layout)));
}

}  // namespace

std::unique_ptr<Scenario> make_hybrid() { return std::make_unique<Hybrid>(); }

}  // namespace parbench
