// Axes and layouts of scenario tensor-parallel.
#include <fmt/format.h>

#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/training/question/question.h"
#include "scenarios/training/question/step_choice.h"

namespace parbench {
namespace {

constexpr const char* divided_batch_strategy = "data-parallel";
constexpr const char* divided_layers = "tensor-parallel";
constexpr const char* divided_positions = "sequence-parallel";

constexpr const char* transformer = "transformer-block";
constexpr const char* perceptron_alone = "perceptron-block";

std::vector<Axis> axes_of_tensor_parallel() {
  Axis model = step_axis("model", {}, {transformer}, {perceptron_alone, transformer});
  model.description =
      "what is trained: attention and a perceptron (transformer-block), or the perceptron alone "
      "(perceptron-block)";
  model.choices = {perceptron_alone, transformer};
  model.file_suffix = {};
  return {std::move(model),
          step_axis("batch", {}, {8}, {8}),
          step_axis("hidden", {}, {128, 512}, {256, 512, 1024}),
          step_axis("heads", {}, {8}, {16}),
          step_axis("sequence", {}, {128}, {128, 512}),
          step_axis("optimizer")};
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
                 {{divided_batch_strategy,
                   "a part of the batch on each device, one all-reduce of the gradients after the "
                   "backward pass"},
                  {divided_layers,
                   "a part of every linear layer and some heads on each device; all-reduces of "
                   "activations in both passes (Megatron-LM)"},
                  {divided_positions,
                   "the same, with reduce-scatters and all-gathers around normalisations, which "
                   "work on a part of the positions"}},
             .axes = axes_of_tensor_parallel()}) {}

 private:
  [[nodiscard]] std::optional<Obstacle> divide(const Request& request, const Network& network,
                                               Parameters& parameters) const override;
  [[nodiscard]] StepLayout layout_of(const CaseSpec& spec) const override;
};

RestOfNetwork rest_of(const CaseSpec& spec) {
  return spec.strategy == divided_positions ? RestOfNetwork::by_positions : RestOfNetwork::repeated;
}

/// For sequence parallelism: returns an obstacle if a shard's part of the activations is not a
/// multiple of four bytes, the word size of collectives.
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
  (spec.strategy == divided_batch_strategy ? layout.grid.replicas : layout.grid.shards) =
      devices_in(spec.parameters);
  return layout;
}

}  // namespace

std::unique_ptr<Scenario> make_tensor_parallel() { return std::make_unique<TensorParallel>(); }

}  // namespace parbench
