// Determines each stage's part of the network, its samples and its memory.
#include "scenarios/training/step/stage_maker.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "kernels/base/error.h"
#include "scenarios/training/partition.h"

namespace parbench {
namespace {

/// Stages on devices of other ranks with equal passes: those of the same part of the network, with
/// the same micro-batches and kernels.
class Twins {
 public:
  explicit Twins(const Context& context) : context_(context) {}

  /// Returns a known stage with equal passes; null if there is none.
  [[nodiscard]] const Stage* of(const Stage::Options& options) const {
    const auto found = known_.find(key_of(options));
    return found == known_.end() || !context_.is_remote(options.device) ? nullptr : found->second;
  }
  void add(const Stage& stage, const Stage::Options& options) {
    if (context_.is_remote(options.device)) known_.try_emplace(key_of(options), &stage);
  }

 private:
  using Key = std::tuple<const Network*, int, std::vector<std::int64_t>, std::string, std::size_t>;
  [[nodiscard]] Key key_of(const Stage::Options& options) const {
    const DeviceInfo& info = context_.device(options.device).info();
    return {options.range.network, options.range.first, options.micro_batches,
            info.backend + " " + info.hardware, info.cores.size()};
  }

  const Context& context_;
  std::map<Key, const Stage*> known_;
};

/// Returns whether a stage updates its own parameters. Otherwise they come from another device, or
/// their blocks are updated separately.
bool has_update(const Exchange& exchange, const GridPoint& point) {
  const bool is_central = exchange.kind == Exchange::Kind::first_device ||
                          exchange.kind == Exchange::Kind::fed_from_first;
  return exchange.updates_all() || (is_central && point.replica == 0);
}

Stage::Options options_of(const TrainingStep& step, const GridPoint& point,
                          std::int64_t first_sample) {
  const StepLayout& layout = step.layout;
  const auto s = static_cast<std::size_t>(point.stage);
  const LayerRange layers = stages_of(step.network, layout.partition).at(s);
  const Network& network = step.division ? step.division->network(point.shard) : step.network;
  const Schedule schedule =
      schedule_named(layout.schedule, layout.stages(), layout.micro_batch_count(point.replica));
  return {.device = layout.device(point),
          .range = {.network = &network,
                    .first = layers.first,
                    .last = layers.last,
                    .dtype = step.settings.format.dtype,
                    .math = step.settings.format.math,
                    .batch = layout.samples(),
                    .recompute = layout.recompute},
          .micro_batches = layout.micro_batches.at(static_cast<std::size_t>(point.replica)),
          .first_sample = first_sample,
          .slots = stage_slots(schedule, point.stage),
          .optimizer = has_update(layout.exchange, point) ? step.settings.optimizer : Optimizer(),
          .layout_samples = layout.micro_batches.front().front(),
          .is_fed = layout.exchange.kind == Exchange::Kind::fed_from_first && point.replica > 0,
          .has_norm = !layout.exchange.updates_all() && step.settings.optimizer.clips(),
          .gradients_elsewhere = layout.exchange.divides_gradients(),
          .parameters_elsewhere = layout.exchange.divides_parameters()};
}

/// Gradients of replicas can only be added if they have equal offsets.
void check_parameter_layouts(const TrainingStep& step) {
  for (const GridPoint& point : step.layout.points()) {
    const Stage& first = step.stage({0, point.stage, point.shard});
    const Stage& other = step.stage(point);
    if (first.layouts() == other.layouts()) continue;
    throw Unsupported(
        fmt::format("{} and {} have parameters in different layouts, so that their gradients "
                    "cannot be added; use devices of one kind and size",
                    step.context.device(first.device()).info().name,
                    step.context.device(other.device()).info().name));
  }
}

}  // namespace

void make_stages(TrainingStep& step) {
  const StepLayout& layout = step.layout;
  if (layout.grid.shards > 1) {
    step.division.emplace(step.network, layout.grid.shards, layout.rest,
                          step.context.options().seed);
  }
  Twins twins(step.context);
  std::int64_t first_sample = 0;
  for (int replica = 0; replica < layout.grid.replicas; ++replica) {
    for (const GridPoint& point : layout.points_of(replica)) {
      Stage::Options options = options_of(step, point, first_sample);
      options.twin = twins.of(options);
      step.stages.push_back(std::make_unique<Stage>(step, options));
      twins.add(*step.stages.back(), options);
    }
    first_sample += layout.samples_of(replica);
  }
  if (layout.exchange.kind != Exchange::Kind::none) check_parameter_layouts(step);
}

}  // namespace parbench
