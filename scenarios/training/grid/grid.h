// A training step on a grid of devices: replicas of a network in stages, whose layers ranks may
// divide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/plan/schedules/device_grid.h"
#include "scenarios/training/grid/network_division.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// A case with its network and stages, which its plan refers to.
struct GridParts : CaseParts {
  using CaseParts::CaseParts;

  /// The stages of one rank of a replica.
  [[nodiscard]] const std::vector<std::unique_ptr<Stage>>& pipeline(int replica, int rank) const {
    const auto ranks = static_cast<std::size_t>(grid.ranks);
    return pipelines.at(static_cast<std::size_t>(replica) * ranks + static_cast<std::size_t>(rank));
  }

  Network network;
  DeviceGrid grid;
  /// The samples of each micro-batch, by replica.
  std::vector<std::vector<std::int64_t>> micro_batches;
  std::vector<int> partition;  // the first units of the later stages
  std::string schedule = "gpipe";
  RestOfNetwork rest = RestOfNetwork::repeated;

  std::optional<NetworkDivision> division;  // where there are several ranks
  std::vector<std::vector<std::unique_ptr<Stage>>> pipelines;
};

/// What a step computes on any grid.
struct GridStep {
  std::int64_t batch = 1;
  NumberFormat format;
  Optimizer optimizer = {};
  /// Gradients of replicas are added up in buckets of so many bytes, beside the rest of the
  /// backward pass; 0: all at once behind it. Not where positions are divided.
  std::size_t bucket_bytes = 0;
  bool recompute = false;  // StageRange::recompute
};

/// Makes the stages and adds a step of all replicas, of whose gradients the sum updates the
/// parameters of each. Everything of the parts up to `rest` is set, but the layers of the whole.
/// Loss and gradients of the whole batch become outputs; checks that need no reference hold parts
/// of the step to their definition, and parameters that several devices have to each other. Throws
/// Unsupported where replicas have parameters in different layouts.
void prepare_grid(GridParts& parts, const GridStep& step);

}  // namespace parbench
