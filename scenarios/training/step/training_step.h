// A training step on a grid of devices: its case, network and stages.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/training/stage.h"
#include "scenarios/training/step/layout.h"

namespace parbench {

/// Settings of a step that are independent of its layout.
struct StepSettings {
  NumberFormat format = {};
  Optimizer optimizer = {};
};

/// A case that trains a network; its plan refers to the stages.
struct TrainingStep : CaseParts {
  TrainingStep(Context& with, Network what, const StepSettings& how, StepLayout where);

  [[nodiscard]] Stage& stage(const GridPoint& point) const;
  /// Returns the stage of a replica that has a single stage and shard.
  [[nodiscard]] Stage& replica(std::size_t r) const {
    return stage({.replica = static_cast<int>(r)});
  }
  /// Returns the stages of one shard of a replica.
  [[nodiscard]] std::vector<Stage*> pipeline(int replica, int shard = 0) const;
  /// Returns the points of a stage and shard in all replicas.
  [[nodiscard]] std::vector<GridPoint> over_replicas(int stage, int shard) const;

  Network network;
  StepSettings settings;
  StepLayout layout;
  std::optional<NetworkDivision> division;     // set if there are several shards
  std::vector<std::unique_ptr<Stage>> stages;  // in the order of StepLayout::points
};

/// Makes the stages, and plans the passes, exchanges and updates of a step. Adds the loss and the
/// gradients of the whole batch as outputs, and checks that compare parts of the step with their
/// definition, and parameters of different devices with each other. Throws Unsupported if replicas
/// with an exchange have parameters in different layouts, and std::invalid_argument for an exchange
/// that the layout does not support.
[[nodiscard]] std::unique_ptr<TrainingStep> prepare_step(Context& context, Network network,
                                                         const StepSettings& settings,
                                                         StepLayout layout);

}  // namespace parbench
