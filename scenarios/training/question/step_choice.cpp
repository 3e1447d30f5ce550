// Shared axes of training, and settings of steps from parameters.
#include "scenarios/training/question/step_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "scenarios/framework/all_cores.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/plan/schedules/data_parallel.h"
#include "scenarios/training/partition.h"

namespace parbench {
namespace {

constexpr const char* default_optimizer = "sgd";
constexpr const char* default_recompute = "none";
constexpr const char* micro_batches_flag = "micro-batches";

std::vector<std::int64_t> micro_batches_of(std::int64_t samples, const Value& split) {
  if (const auto* text = std::get_if<std::string>(&split)) return sizes_in(*text);
  const std::int64_t size = std::get<std::int64_t>(split);
  std::vector<std::int64_t> micro_batches(static_cast<std::size_t>(samples / size), size);
  if (samples % size != 0) micro_batches.push_back(samples % size);
  return micro_batches;
}

/// Returns the value of "split" that divides samples into `count` micro-batches: one size, if all
/// micro-batches can have it except for a smaller last one; otherwise a list of sizes that differ
/// by at most one. `count`: at most `samples`.
Value split_into(std::int64_t samples, std::int64_t count) {
  const std::int64_t size = (samples + count - 1) / count;
  if ((samples + size - 1) / size == count) return size;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count), samples / count);
  for (std::int64_t larger = 0; larger < samples % count; ++larger) {
    ++sizes[static_cast<std::size_t>(larger)];
  }
  return fmt::format("{}", fmt::join(sizes, "+"));
}

/// Returns the axes of training other than the model, its sizes and the batch.
std::vector<Axis> further_axes() {
  return {{.name = "split",
           .description = "samples of a micro-batch; of a pipeline also several sizes as a+b+c; "
                          "default of hybrid: two micro-batches per stage",
           .kind = AxisKind::sizes,
           .max = 1 << 20,
           .role = Role::micro_batch_size},
          {.name = micro_batches_flag,
           .description = "number of micro-batches, in place of their size (--split)",
           .max = 1 << 20,
           .sets = "split"},
          {.name = "schedule",
           .description = "order of the micro-batches: GPipe, or one forward one backward",
           .kind = AxisKind::choice,
           .quick = {default_schedule},
           .published = {default_schedule},
           .choices = {"gpipe", "1f1b"},
           .role = Role::schedule,
           .advised = "1f1b"},
          {.name = "partition",
           .description =
               "how the model is partitioned: published (two devices), balanced on "
               "measured costs, or the first units of later stages as layer2.0+layer3.2; default: "
               "published "
               "where the model has one for the devices, else balanced",
           .kind = AxisKind::text,
           .role = Role::partition,
           .advised = "balanced"},
          {.name = "optimizer",
           .description = "optimiser: SGD, SGD with momentum 0.9, Adam, or AdamW",
           .kind = AxisKind::choice,
           .quick = {default_optimizer},
           .published = {default_optimizer},
           .choices = {"sgd", "momentum", "adam", "adamw"}},
          {.name = "clip",
           .description = "maximum norm of all gradients together (clipping); 0: off",
           .kind = AxisKind::real,
           .quick = {0.0},
           .published = {0.0},
           .min = 0,
           .max = 1e6},
          {.name = "recompute",
           .description = "activation checkpointing: none, or block (keep only tensors that cross "
                          "units, and run a unit's forward pass again before its backward pass)",
           .kind = AxisKind::choice,
           .quick = {default_recompute},
           .published = {default_recompute},
           .choices = {"none", "block"},
           .role = Role::memory_saving}};
}

}  // namespace

Axis step_axis(std::string_view name, std::vector<std::string> strategies, std::vector<Value> quick,
               std::vector<Value> published) {
  static const std::vector<Axis> all =
      training_axes(model_axis(default_model()), Role::batch, further_axes());
  Axis axis = *std::ranges::find(all, name, &Axis::name);
  axis.strategies = std::move(strategies);
  if (!quick.empty()) axis.quick = std::move(quick);
  if (!published.empty()) axis.published = std::move(published);
  return axis;
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
  return parameters.text_or("scaling", strong_scaling) == weak_scaling;
}

std::int64_t total_samples(const Parameters& parameters) {
  const std::int64_t batch = parameters.integer("batch");
  return scales_weakly(parameters) ? batch * devices_in(parameters) : batch;
}

std::vector<std::vector<std::int64_t>> micro_batches_of_replicas(const Parameters& parameters,
                                                                 int replicas) {
  const Value* split = parameters.find("split");
  const auto count = static_cast<int>(parameters.integer_or("accumulate", 1));
  std::vector<std::vector<std::int64_t>> all;
  for (const std::int64_t share : divided_batch(total_samples(parameters), replicas)) {
    all.push_back(split == nullptr ? divided_batch(share, count) : micro_batches_of(share, *split));
  }
  return all;
}

std::optional<Obstacle> add_split(const Scenario::Request& request, std::int64_t samples,
                                  const std::string& text, const std::optional<Value>& split,
                                  Parameters& parameters) {
  const Value* count = request.spec.parameters.find(micro_batches_flag);
  if (count == nullptr) {
    if (split) parameters.set("split", *split);
    return std::nullopt;
  }
  if (request.was_given("split")) {
    throw UsageError(
        "--split, --micro-batches: the size of micro-batches follows from their number; give one "
        "of the two");
  }
  const std::int64_t asked = std::get<std::int64_t>(*count);
  if (asked > samples) {
    return Obstacle{{micro_batches_flag},
                    fmt::format("--micro-batches: {} are more than {}; allowed are 1 to {}", asked,
                                text, samples)};
  }
  parameters.set("split", split_into(samples, asked));
  return std::nullopt;
}

void add_step_choices(const std::vector<Axis>& axes, const Parameters& asked,
                      Parameters& parameters) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(axes, name, &Axis::name) != axes.end();
  };
  for (const auto& [name, usual] : std::vector<std::pair<std::string, Value>>{
           {"optimizer", default_optimizer}, {"recompute", default_recompute}, {"clip", 0.0}}) {
    if (has(name)) add_asked(asked, name, usual, parameters);
  }
}

void add_partition_choice(const Parameters& asked, const Network& network, int stages,
                          Parameters& parameters) {
  const std::string usual = default_partition(network, stages);
  const std::string partition = asked.text_or("partition", usual);
  if (partition != usual && partition != "balanced") {
    static_cast<void>(named_partition(network, partition, stages));
  }
  add_choice(parameters, "partition", partition, usual);
}

bool recomputes(const Parameters& parameters) {
  return parameters.text_or("recompute", default_recompute) != default_recompute;
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
                  fmt::format("--batch: {} cannot be divided over {} replicas; use another batch "
                              "of at least {}",
                              batch, replicas, replicas)};
}

Optimizer optimizer_of(const Parameters& parameters) {
  return {.kind = optimizer_named(parameters.text_or("optimizer", default_optimizer)),
          .max_norm = static_cast<float>(std::get<double>(parameters.value_or("clip", 0.0)))};
}

}  // namespace parbench
