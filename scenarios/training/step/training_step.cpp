// Makes the parts of a training step in order.
#include "scenarios/training/step/training_step.h"

#include <stdexcept>
#include <utility>

#include "scenarios/training/checks/step_checks.h"
#include "scenarios/training/partition.h"
#include "scenarios/training/step/results.h"
#include "scenarios/training/step/stage_maker.h"
#include "scenarios/training/step/step_writer.h"

namespace parbench {

TrainingStep::TrainingStep(Context& with, Network what, const StepSettings& how, StepLayout where)
    : CaseParts(with), network(std::move(what)), settings(how), layout(std::move(where)) {}

Stage& TrainingStep::stage(const GridPoint& point) const {
  const int row = point.replica * layout.stages() + point.stage;
  const int index = row * layout.grid.shards + point.shard;
  return *stages.at(static_cast<std::size_t>(index));
}

std::vector<Stage*> TrainingStep::pipeline(int replica, int shard) const {
  std::vector<Stage*> all;
  for (int s = 0; s < layout.stages(); ++s) all.push_back(&stage({replica, s, shard}));
  return all;
}

std::vector<GridPoint> TrainingStep::over_replicas(int stage, int shard) const {
  std::vector<GridPoint> all;
  for (int replica = 0; replica < layout.grid.replicas; ++replica) {
    all.push_back({replica, stage, shard});
  }
  return all;
}

namespace {

/// Throws std::invalid_argument for unsupported layouts.
void check(const StepLayout& layout) {
  const Exchange& exchange = layout.exchange;
  const bool is_divided = layout.stages() > 1 || layout.grid.shards > 1;
  const bool has_buckets = exchange.kind == Exchange::Kind::all_reduce && exchange.bucket_bytes > 0;
  if (exchange.copies() && is_divided) {
    throw std::invalid_argument("this exchange is for replicas of one stage and one shard");
  }
  if (has_buckets && layout.shards_positions()) {
    throw std::invalid_argument("gradients of sharded positions have no buckets");
  }
  for (int replica = 0; replica < layout.grid.replicas; ++replica) {
    if (exchange.kind == Exchange::Kind::fed_from_first && layout.micro_batch_count(replica) > 1) {
      throw std::invalid_argument("replicas that are fed have one micro-batch");
    }
  }
}

}  // namespace

std::unique_ptr<TrainingStep> prepare_step(Context& context, Network network,
                                           const StepSettings& settings, StepLayout layout) {
  check(layout);
  auto step =
      std::make_unique<TrainingStep>(context, std::move(network), settings, std::move(layout));
  if (step->layout.stages() > 1) {
    add_cut_notes(step->network, step->layout.partition, step->notes);
  }
  step->tolerance = tolerance_of_step(settings.format);
  make_stages(*step);
  const std::optional<UpdatedParameters> elsewhere = StepWriter(*step).write();
  add_results(*step, elsewhere);
  add_checks(*step, elsewhere);
  const Exchange& exchange = step->layout.exchange;
  step->amount = {.value = static_cast<double>(step->layout.samples()),
                  .unit = step->network.one_hot_target ? "images" : "samples"};
  step->reads_borrowed_memory = settings.optimizer.reads_borrowed_memory() ||
                                exchange.kind == Exchange::Kind::server ||
                                exchange.divides_parameters();
  return step;
}

}  // namespace parbench
