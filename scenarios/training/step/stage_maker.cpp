// Determines each stage's part of the network, its samples and its memory.
#include "scenarios/training/step/stage_maker.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "kernels/base/error.h"
#include "scenarios/training/partition.h"
#include "scenarios/training/stage_memory.h"

namespace parbench {
namespace {

/// Makes the plans of stages. Stages on devices of other ranks share a plan if they have the same
/// part of the network, micro-batches and kernels.
class StagePlans {
 public:
  explicit StagePlans(const TrainingStep& step) : step_(step) {}

  [[nodiscard]] std::shared_ptr<const StagePlan> of(const Stage::Options& options) {
    Context& context = step_.context;
    if (!context.is_remote(options.device)) return made(options);
    const DeviceInfo& info = context.device(options.device).info();
    auto& plan = known_[{options.range.network, options.range.first, options.micro_batches,
                         info.backend + " " + info.hardware, info.cores.size()}];
    if (!plan) plan = made(options);
    return plan;
  }

 private:
  /// Chooses layouts of parameters for the first micro-batch of the first replica, so that they are
  /// equal in all replicas.
  [[nodiscard]] std::shared_ptr<const StagePlan> made(const Stage::Options& options) const {
    return std::make_shared<const StagePlan>(
        step_.context.stream(options.device, StreamKind::compute), options.range,
        options.micro_batches, step_.layout.micro_batches.front().front());
  }

  using Key = std::tuple<const Network*, int, std::vector<std::int64_t>, std::string, std::size_t>;
  const TrainingStep& step_;
  std::map<Key, std::shared_ptr<const StagePlan>> known_;
};

/// Returns whether a stage updates its own parameters. Otherwise another device updates the
/// parameters, or, with ZeRO, each device updates its blocks of them (Shards).
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
          .optimizer = has_update(layout.exchange, point) ? step.settings.optimizer : Optimizer()};
}

/// Makes a stage whose parameters and gradients are stored as the exchange of replicas requires.
std::unique_ptr<Stage> stage_of(TrainingStep& step, const GridPoint& point,
                                const Stage::Options& options,
                                std::shared_ptr<const StagePlan> plan) {
  const Exchange& exchange = step.layout.exchange;
  const bool is_fed = exchange.kind == Exchange::Kind::fed_from_first && point.replica > 0;
  const bool is_shared = !is_fed && !exchange.divides_parameters();
  StageMemory memory = is_fed      ? fed_memory(step, options, *plan)
                       : is_shared ? shared_memory(step, options, *plan)
                                   : memory_without_parameters(step, options, *plan);
  const std::size_t bytes = plan->store.bytes();
  if (exchange.divides_gradients()) {
    memory.gradients = elsewhere(bytes);
  } else if (options.micro_batches.size() > 1 || step.settings.optimizer.clips()) {
    memory.gradients = step.context.borrow(options.device, bytes);
  }
  auto stage = std::make_unique<Stage>(step, options, std::move(plan), std::move(memory));
  if (is_shared) initialize_parameters_at_reset(step, *stage);
  // An update covers the whole region, including the padding between gradients, so the padding must
  // be finite.
  if (!exchange.divides_gradients()) {
    zero_at_reset(step, options.device, stage->region().gradients);
  }
  return stage;
}

/// Throws Unsupported if replicas have parameters in different layouts: their gradients can only be
/// added if they have equal offsets.
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
  StagePlans plans(step);
  std::int64_t first_sample = 0;
  for (int replica = 0; replica < layout.grid.replicas; ++replica) {
    for (const GridPoint& point : layout.points_of(replica)) {
      const Stage::Options options = options_of(step, point, first_sample);
      step.stages.push_back(stage_of(step, point, options, plans.of(options)));
    }
    first_sample += layout.samples_of(replica);
  }
  if (layout.exchange.kind != Exchange::Kind::none) check_parameter_layouts(step);
}

}  // namespace parbench
