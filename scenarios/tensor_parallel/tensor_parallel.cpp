// Parameters and cases of the tensor-parallel scenario.
#include "scenarios/tensor_parallel/tensor_parallel.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/time_shares.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/requests.h"
#include "scenarios/models/models.h"
#include "scenarios/plan/schedules/data_parallel.h"
#include "scenarios/training/step/training_step.h"
#include "scenarios/training/step_choice.h"

namespace parbench {
namespace {

constexpr std::string_view one_device = "single";
constexpr std::string_view divided_batch_strategy = "data-parallel";
constexpr std::string_view divided_layers = "tensor-parallel";
constexpr std::string_view divided_positions = "sequence-parallel";

constexpr std::string_view transformer = "transformer";
constexpr std::string_view perceptron_of_block = "mlp";

Axis size_axis(std::string name, std::string description, std::vector<Value> quick,
               std::vector<Value> published, double max = 1 << 16) {
  return {.name = std::move(name),
          .description = std::move(description),
          .quick = std::move(quick),
          .published = std::move(published),
          .max = max};
}

std::vector<Axis> axes_of_tensor_parallel() {
  Axis batch = size_axis("batch", "samples of a training step on all devices together",
                         {std::int64_t{8}}, {std::int64_t{8}}, 1 << 20);
  batch.role = Role::batch;
  return {{.name = "block",
           .description = "what is trained: attention and a perceptron (transformer), or the "
                          "perceptron alone (mlp)",
           .kind = AxisKind::choice,
           .quick = {std::string(transformer)},
           .published = {std::string(perceptron_of_block), std::string(transformer)},
           .choices = {std::string(perceptron_of_block), std::string(transformer)}},
          std::move(batch),
          size_axis("hidden", "features of a token; the perceptron has four times as many inside",
                    {std::int64_t{128}, std::int64_t{512}},
                    {std::int64_t{256}, std::int64_t{512}, std::int64_t{1024}}),
          size_axis("heads", "heads of the attention", {std::int64_t{8}}, {std::int64_t{16}}, 1024),
          size_axis("sequence", "tokens of a sample", {std::int64_t{128}},
                    {std::int64_t{128}, std::int64_t{512}}),
          optimizer_axis()};
}

bool is_transformer(const Parameters& parameters) {
  return parameters.text("block") == transformer;
}

Network network_of_block(const Parameters& parameters) {
  BlockSizes sizes{.hidden = parameters.integer("hidden"),
                   .heads = 1,
                   .sequence = parameters.integer("sequence")};
  if (!is_transformer(parameters)) return perceptron_block(sizes);
  sizes.heads = parameters.integer("heads");
  return transformer_block(sizes);
}

/// Returns why the block cannot be computed, which applies to every strategy.
std::optional<Obstacle> obstacle_of_block(const Scenario::Request& request,
                                          const Parameters& parameters) {
  if (!is_transformer(parameters)) {
    if (!request.was_given("heads")) return std::nullopt;
    return Obstacle{{"heads"}, "--heads: block mlp has no attention; leave it out"};
  }
  const std::int64_t hidden = parameters.integer("hidden");
  const std::int64_t heads = parameters.integer("heads");
  if (hidden % heads == 0) return std::nullopt;
  return Obstacle{
      {"heads", "hidden"},
      fmt::format("--hidden: {} is not a multiple of --heads {}; use one that is", hidden, heads)};
}

std::optional<Obstacle> obstacle_of_batch(const Scenario::Request& request,
                                          const Parameters& parameters) {
  const std::int64_t batch = parameters.integer("batch");
  const int devices = request.device_count;
  if (static_cast<int>(divided_batch(batch, devices).size()) == devices) return std::nullopt;
  return Obstacle{{"batch"},
                  fmt::format("--batch: {} cannot be divided over {} devices; use a batch "
                              "of at least {}",
                              batch, devices, devices)};
}

std::optional<Obstacle> obstacle_of_shards(const Scenario::Request& request,
                                           const Parameters& parameters) {
  const int devices = request.device_count;
  if (const auto reason = obstacle_to_division(network_of_block(parameters), devices)) {
    return Obstacle{{"strategy"}, fmt::format("--devices: {}; use fewer", *reason)};
  }
  if (request.spec.strategy != divided_positions) return std::nullopt;
  const std::int64_t sequence = parameters.integer("sequence");
  if (sequence % devices != 0) {
    return Obstacle{{"sequence"},
                    fmt::format("--sequence: {} positions cannot be divided over {} "
                                "devices; use a multiple of {}",
                                sequence, devices, devices)};
  }
  const std::int64_t hidden = parameters.integer("hidden");
  const std::int64_t gathered = parameters.integer("batch") * (sequence / devices) * hidden;
  if (gathered * static_cast<std::int64_t>(size_of(request.spec.dtype)) % 4 == 0) {
    return std::nullopt;
  }
  return Obstacle{
      {"hidden"},
      fmt::format("--hidden: each device gathers {} bf16 values, which is not a multiple "
                  "of 4 bytes; use an even --hidden",
                  gathered)};
}

class TensorParallel final : public Scenario {
 public:
  [[nodiscard]] std::string_view name() const override { return "tensor-parallel"; }
  [[nodiscard]] std::string_view question() const override {
    return "Does dividing the layers of a transformer block over devices pay, and what does its "
           "communication cost?";
  }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override { return strategies_; }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return one_device; }
  [[nodiscard]] int default_devices() const override { return 2; }
  [[nodiscard]] bool runs_over_ranks() const override { return true; }
  [[nodiscard]] int min_devices() const override { return 2; }

  [[nodiscard]] std::optional<CaseSpec> resolve(const Request& request) const override;
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override;
  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override {
    if (spec.strategy == one_device) return std::nullopt;
    return single_of(spec);
  }
  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& spec) const override {
    if (spec.strategy == one_device) return {};
    return {scaling_efficiency(single_of(spec), spec.parameters.integer("devices"))};
  }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    return with_time_shares(best_strategy(*this, outcomes, possibly_fastest), *this, outcomes,
                            [](const CaseSpec& spec) { return spec.strategy; });
  }

 private:
  [[nodiscard]] static CaseSpec single_of(const CaseSpec& spec) {
    return with_strategy(spec, one_device, {"devices"});
  }

  std::vector<Strategy> strategies_ = {
      {std::string(one_device), "the whole block on the first device"},
      {std::string(all_cores),
       "the whole block on one device that has the cores of all devices (for parts of a GPU: the "
       "whole GPU)"},
      {std::string(divided_batch_strategy),
       "a part of the batch on each device, one all-reduce of the gradients after the backward "
       "pass"},
      {std::string(divided_layers),
       "a part of every linear layer and some heads on each device; all-reduces of activations in "
       "both passes (Megatron-LM)"},
      {std::string(divided_positions),
       "the same, with reduce-scatters and all-gathers around normalisations, which work on a part "
       "of the positions"}};
  std::vector<Axis> axes_ = axes_of_tensor_parallel();
};

std::optional<CaseSpec> TensorParallel::resolve(const Request& request) const {
  const Parameters& asked = request.spec.parameters;
  CaseSpec spec = request.spec;
  spec.parameters = {};
  for (const std::string_view name : {"block", "batch", "hidden", "heads", "sequence"}) {
    if (name == "heads" && !is_transformer(asked)) continue;
    spec.parameters.set(std::string(name), *asked.find(name));
  }
  add_optimizer_choice(asked, spec.parameters);
  if (is_left_out(request, obstacle_of_block(request, spec.parameters))) return std::nullopt;
  if (spec.strategy == one_device) return spec;
  if (request.device_count < 2 || !request.devices_alike) {
    return refuse(request, "strategy", needs_alike_devices(request));
  }
  const bool divides_batch = spec.strategy == divided_batch_strategy;
  if (is_left_out(request, divides_batch ? obstacle_of_batch(request, spec.parameters)
                                         : obstacle_of_shards(request, spec.parameters))) {
    return std::nullopt;
  }
  spec.parameters.set("devices", std::int64_t{request.device_count});
  return spec;
}

std::unique_ptr<Case> TensorParallel::prepare(const CaseSpec& spec, Context& context) const {
  StepLayout layout{.rest = spec.strategy == divided_positions ? RestOfNetwork::by_positions
                                                               : RestOfNetwork::repeated};
  if (const Value* devices = spec.parameters.find("devices")) {
    (spec.strategy == divided_batch_strategy ? layout.grid.replicas : layout.grid.shards) =
        static_cast<int>(std::get<std::int64_t>(*devices));
  }
  const std::int64_t batch = spec.parameters.integer("batch");
  for (const std::int64_t share : divided_batch(batch, layout.grid.replicas)) {
    layout.micro_batches.push_back({share});
  }
  return make_case(prepare_step(
      context, network_of_block(spec.parameters),
      {.format = spec.format(), .optimizer = optimizer_of(spec.parameters)}, std::move(layout)));
}

}  // namespace

std::unique_ptr<Scenario> make_tensor_parallel() { return std::make_unique<TensorParallel>(); }

}  // namespace parbench
