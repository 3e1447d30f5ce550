// Optimisers and clipping as parameters of a case.
#include "scenarios/training/question/step_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "scenarios/models/model_choice.h"
#include "scenarios/models/onnx/model.h"
#include "scenarios/plan/schedules/data_parallel.h"
#include "scenarios/training/network_facts.h"
#include "scenarios/training/partition.h"

namespace parbench {
namespace {

constexpr std::string_view default_optimizer = "sgd";
constexpr std::string_view default_recompute = "none";
constexpr std::string_view micro_batches_flag = "micro-batches";

/// Returns 0 if gradients are not clipped.
double clip_of(const Parameters& parameters) {
  const Value* clip = parameters.find("clip");
  return clip != nullptr ? std::get<double>(*clip) : 0;
}

std::int64_t integer_or_one(const Parameters& parameters, std::string_view name) {
  const Value* value = parameters.find(name);
  return value == nullptr ? 1 : std::get<std::int64_t>(*value);
}

std::vector<std::int64_t> micro_batches_of(std::int64_t samples, const Value& split) {
  if (const auto* text = std::get_if<std::string>(&split)) return sizes_in(*text);
  const std::int64_t size = std::get<std::int64_t>(split);
  std::vector<std::int64_t> micro_batches(static_cast<std::size_t>(samples / size), size);
  if (samples % size != 0) micro_batches.push_back(samples % size);
  return micro_batches;
}

}  // namespace

Axis schedule_axis(std::vector<std::string> strategies) {
  return {.name = "schedule",
          .description =
              "order of the micro-batches: GPipe, GPipe from the last one on, or one forward one "
              "backward",
          .kind = AxisKind::choice,
          .quick = {std::string(default_schedule)},
          .published = {std::string(default_schedule)},
          .choices = {"gpipe", "reversed", "1f1b"},
          .strategies = std::move(strategies),
          .role = Role::schedule,
          .advised = "1f1b"};
}

Axis partition_axis(std::vector<std::string> strategies) {
  return {.name = "partition",
          .description =
              "how the model is partitioned: published (two devices), balanced on "
              "measured costs, or the first units of later stages as layer2.0+layer3.2; default: "
              "published "
              "where the model has one for the devices, else balanced",
          .kind = AxisKind::text,
          .quick = {},
          .published = {},
          .strategies = std::move(strategies),
          .role = Role::partition,
          .advised = "balanced"};
}

std::vector<std::int64_t> sizes_in(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    sizes.push_back(std::stoll(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return sizes;
}

bool scales_weakly(const Parameters& parameters) {
  return asked_or(parameters, "scaling", strong_scaling) == weak_scaling;
}

std::int64_t total_samples(const Parameters& parameters) {
  const std::int64_t batch = parameters.integer("batch");
  return scales_weakly(parameters) ? batch * integer_or_one(parameters, "devices") : batch;
}

std::vector<std::vector<std::int64_t>> micro_batches_of_replicas(const Parameters& parameters,
                                                                 int replicas) {
  const Value* split = parameters.find("split");
  const auto count = static_cast<int>(integer_or_one(parameters, "accumulate"));
  std::vector<std::vector<std::int64_t>> all;
  for (const std::int64_t share : divided_batch(total_samples(parameters), replicas)) {
    all.push_back(split == nullptr ? divided_batch(share, count) : micro_batches_of(share, *split));
  }
  return all;
}

Axis micro_batches_axis(std::vector<std::string> strategies) {
  return {.name = std::string(micro_batches_flag),
          .description = "number of micro-batches, in place of their size (--split)",
          .quick = {},
          .published = {},
          .max = 1 << 20,
          .strategies = std::move(strategies),
          .sets = "split"};
}

std::optional<std::int64_t> asked_micro_batches(const Scenario::Request& request) {
  const Value* count = request.spec.parameters.find(micro_batches_flag);
  if (count == nullptr) return std::nullopt;
  if (request.was_given("split")) {
    throw UsageError(
        "--split, --micro-batches: the size of micro-batches follows from their number; give one "
        "of the two");
  }
  return std::get<std::int64_t>(*count);
}

std::optional<Obstacle> obstacle_of_micro_batches(std::optional<std::int64_t> asked,
                                                  std::int64_t samples, const std::string& text) {
  if (!asked || *asked <= samples) return std::nullopt;
  return Obstacle{{micro_batches_flag},
                  fmt::format("--micro-batches: {} are more than {}; allowed are 1 to {}", *asked,
                              text, samples)};
}

Value split_into(std::int64_t samples, std::int64_t count) {
  const std::int64_t size = (samples + count - 1) / count;
  if ((samples + size - 1) / size == count) return size;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count), samples / count);
  for (std::int64_t larger = 0; larger < samples % count; ++larger) {
    ++sizes[static_cast<std::size_t>(larger)];
  }
  return fmt::format("{}", fmt::join(sizes, "+"));
}

Axis optimizer_axis() {
  return {.name = "optimizer",
          .description = "what updates the parameters: SGD, with momentum 0.9, Adam, or AdamW",
          .kind = AxisKind::choice,
          .quick = {std::string(default_optimizer)},
          .published = {std::string(default_optimizer)},
          .choices = {"sgd", "momentum", "adam", "adamw"}};
}

Axis clip_axis() {
  return {.name = "clip",
          .description = "maximum norm of all gradients together (clipping); 0: off",
          .kind = AxisKind::real,
          .quick = {0.0},
          .published = {0.0},
          .min = 0,
          .max = 1e6};
}

Axis recompute_axis() {
  return {.name = "recompute",
          .description =
              "activation checkpointing: none, or block (keep what crosses units, and run a unit's "
              "forward pass again before its backward pass)",
          .kind = AxisKind::choice,
          .quick = {std::string(default_recompute)},
          .published = {std::string(default_recompute)},
          .choices = {"none", "block"},
          .role = Role::memory_saving};
}

void add_step_choices(const std::vector<Axis>& axes, const Parameters& asked,
                      Parameters& parameters) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(axes, name, &Axis::name) != axes.end();
  };
  if (has("optimizer")) {
    add_choice(parameters, "optimizer", asked_or(asked, "optimizer", default_optimizer),
               default_optimizer);
  }
  if (has("recompute")) {
    add_choice(parameters, "recompute", asked_or(asked, "recompute", default_recompute),
               default_recompute);
  }
  if (has("clip")) add_choice(parameters, "clip", Value(clip_of(asked)), Value(0.0));
}

void add_partition_choice(const Parameters& asked, const Network& network, int stages,
                          Parameters& parameters) {
  const std::string usual = default_partition(network, stages);
  const std::string partition = asked_or(asked, "partition", usual);
  if (partition != usual && partition != "balanced") {
    static_cast<void>(named_partition(network, partition, stages));
  }
  add_choice(parameters, "partition", partition, usual);
}

bool recomputes(const Parameters& parameters) {
  return asked_or(parameters, "recompute", default_recompute) != default_recompute;
}

std::vector<std::pair<std::string, std::string>> notes_on_trained_models(
    const std::vector<CaseSpec>& specs) {
  std::vector<std::pair<std::string, std::string>> notes;
  std::set<std::string> known;
  for (const CaseSpec& spec : specs) {
    const std::string& model = spec.parameters.text("model");
    if (!model.ends_with(onnx_import::file_suffix) || !known.insert(model).second) continue;
    const Network network = network_of(spec.parameters);
    const std::size_t count = convolutions_without_normalisation(network);
    if (count == 0) continue;
    notes.emplace_back(
        network.name,
        fmt::format("{} convolution{} and no normalisation. If the model has batch normalisations, "
                    "the export has folded them, and a training step of the file takes less time "
                    "than one of the model; parbench inspect {} says how to keep them.",
                    count, count == 1 ? "" : "s", model));
  }
  return notes;
}

Metric scaling_efficiency(const CaseSpec& baseline, std::int64_t devices) {
  return {.name = "scaling efficiency",
          .others = {baseline},
          .value = [devices](std::span<const double> seconds, std::span<const double>) {
            return seconds[1] / (seconds[0] * static_cast<double>(devices));
          }};
}

std::optional<Obstacle> obstacle_of_devices(const Scenario::Request& request) {
  if (request.device_count < 2) return Obstacle{{"strategy"}, too_few_devices(request)};
  if (request.devices_alike) return std::nullopt;
  return Obstacle{{"strategy"},
                  fmt::format("--strategy {} needs devices of one kind, and those of this run are "
                              "of several; name others with --devices",
                              request.spec.strategy)};
}

std::optional<Obstacle> obstacle_of_replicas(std::int64_t batch, int replicas) {
  if (static_cast<int>(divided_batch(batch, replicas).size()) == replicas) return std::nullopt;
  return Obstacle{{"batch"},
                  fmt::format("--batch: {} cannot be divided over {} replicas; use another one of "
                              "at least {}",
                              batch, replicas, replicas)};
}

Optimizer optimizer_of(const Parameters& parameters) {
  return {.kind = optimizer_named(asked_or(parameters, "optimizer", default_optimizer)),
          .max_norm = static_cast<float>(clip_of(parameters))};
}

}  // namespace parbench
