// Axes, layouts and answer of scenario tensor-parallel.
#include "scenarios/tensor_parallel/tensor_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/time_shares.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/training/question/question.h"
#include "scenarios/training/question/step_choice.h"

namespace parbench {
namespace {

constexpr std::string_view divided_batch_strategy = "data-parallel";
constexpr std::string_view divided_layers = "tensor-parallel";
constexpr std::string_view divided_positions = "sequence-parallel";

constexpr const char* transformer = "transformer-block";
constexpr const char* perceptron_alone = "perceptron-block";

/// Returns the sizes of transformers, with the values of presets, and the optimiser.
std::vector<Axis> axes_of_tensor_parallel() {
  Axis model = model_axis(transformer);
  model.description =
      "what is trained: attention and a perceptron (transformer-block), or the perceptron alone "
      "(perceptron-block)";
  model.published = {std::string(perceptron_alone), std::string(transformer)};
  model.choices = {perceptron_alone, transformer};
  model.file_suffix = {};
  std::vector<Axis> axes = training_axes(
      std::move(model), "samples of a training step on all devices together", Role::batch);
  constexpr std::array<std::string_view, 5> kept{"model", "batch", "hidden", "heads", "sequence"};
  std::erase_if(axes,
                [&](const Axis& axis) { return std::ranges::find(kept, axis.name) == kept.end(); });
  const auto preset = [&](std::string_view name, std::vector<Value> quick,
                          std::vector<Value> published) {
    Axis& axis = *std::ranges::find(axes, name, &Axis::name);
    axis.quick = std::move(quick);
    axis.published = std::move(published);
  };
  preset("batch", {8}, {8});
  preset("hidden", {128, 512}, {256, 512, 1024});
  preset("heads", {8}, {16});
  preset("sequence", {128}, {128, 512});
  axes.push_back(optimizer_axis());
  return axes;
}

class TensorParallel final : public TrainingQuestion {
 public:
  TensorParallel()
      : TrainingQuestion(
            {.name = "tensor-parallel",
             .question = "Does dividing the layers of a transformer block over devices pay, and "
                         "what does its communication cost?",
             .whole = "the whole block",
             .strategies =
                 {{std::string(divided_batch_strategy),
                   "a part of the batch on each device, one all-reduce of the gradients after the "
                   "backward pass"},
                  {std::string(divided_layers),
                   "a part of every linear layer and some heads on each device; all-reduces of "
                   "activations in both passes (Megatron-LM)"},
                  {std::string(divided_positions),
                   "the same, with reduce-scatters and all-gathers around normalisations, which "
                   "work on a part of the positions"}},
             .axes = axes_of_tensor_parallel()}) {}

  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& spec) const override {
    if (spec.strategy == single_device) return {};
    return {scaling_efficiency(single_of(spec), spec.parameters.integer(devices_parameter))};
  }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    return with_time_shares(best_strategy(*this, outcomes, possibly_fastest), *this, outcomes,
                            [](const CaseSpec& spec) { return spec.strategy; });
  }

 private:
  [[nodiscard]] std::optional<Obstacle> divide(const Request& request, const Network& network,
                                               Parameters& parameters) const override;
  [[nodiscard]] StepLayout layout_of(const CaseSpec& spec) const override;
};

RestOfNetwork rest_of(const CaseSpec& spec) {
  return spec.strategy == divided_positions ? RestOfNetwork::by_positions : RestOfNetwork::repeated;
}

/// Returns why collectives cannot divide the activations: they move whole words of four bytes.
std::optional<Obstacle> obstacle_of_words(const CaseSpec& spec, const Network& network,
                                          std::int64_t batch, int devices) {
  if (spec.strategy != divided_positions) return std::nullopt;
  const std::int64_t gathered = batch * element_count(network.input) / devices;
  if (gathered * static_cast<std::int64_t>(size_of(spec.dtype)) % 4 == 0) return std::nullopt;
  return Obstacle{{"hidden"},
                  fmt::format("--hidden: each device gathers {} bf16 values, which is not a "
                              "multiple of 4 bytes; use an even --hidden",
                              gathered)};
}

std::optional<Obstacle> TensorParallel::divide(const Request& request, const Network& network,
                                               Parameters& parameters) const {
  if (auto obstacle = obstacle_of_devices(request)) return obstacle;
  const int devices = request.device_count;
  const std::int64_t batch = parameters.integer("batch");
  parameters.set(std::string(devices_parameter), std::int64_t{devices});
  if (request.spec.strategy == divided_batch_strategy) return obstacle_of_replicas(batch, devices);
  if (const auto reason = obstacle_to_division(network, devices, RestOfNetwork::repeated)) {
    return Obstacle{{"strategy"}, fmt::format("--devices: {}; use fewer", *reason)};
  }
  if (const auto reason = obstacle_to_division(network, devices, rest_of(request.spec))) {
    return Obstacle{{"strategy", "sequence"},
                    fmt::format("--sequence: {}; use a multiple of {}", *reason, devices)};
  }
  return obstacle_of_words(request.spec, network, batch, devices);
}

StepLayout TensorParallel::layout_of(const CaseSpec& spec) const {
  StepLayout layout{.rest = rest_of(spec)};
  if (const Value* devices = spec.parameters.find(devices_parameter)) {
    (spec.strategy == divided_batch_strategy ? layout.grid.replicas : layout.grid.shards) =
        static_cast<int>(std::get<std::int64_t>(*devices));
  }
  return layout;
}

}  // namespace

std::unique_ptr<Scenario> make_tensor_parallel() { return std::make_unique<TensorParallel>(); }

}  // namespace parbench
