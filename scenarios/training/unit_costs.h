// Costs of the stages of a partition: times of units and of copies between them, measured and
// estimated.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/framework/context.h"
#include "scenarios/models/network.h"
#include "scenarios/plan/schedules/partition.h"

namespace parbench {

/// How a unit runs when it is measured.
struct UnitRun {
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
  std::int64_t samples = 1;  // samples per micro-batch
  /// Whether backward accumulates gradients, as for all micro-batches of a step except the first.
  bool accumulate = false;
  bool recompute = false;  // whether the forward pass is repeated before the backward pass
};

/// Seconds of every unit's forward and backward passes for a micro-batch on a device.
struct UnitSeconds {
  std::vector<double> measured;   // the estimate if the context does not measure
  std::vector<double> estimated;  // from FLOPs and bytes; only ratios between units matter
  double uncertainty = 0;         // relative uncertainty of the sum of measured times
};

/// Measures each unit, if the context measures: on random data in separate memory, as the fastest
/// of three passes over all units. Later calls with the same arguments, or for an equal device,
/// return the result of the first.
[[nodiscard]] UnitSeconds unit_seconds(Context& context, int device, const Network& network,
                                       const UnitRun& run);

/// Basis of the costs of copies and exchanges. `measured`: measured if the context measures and its
/// first two devices are in this process, otherwise estimated.
enum class CostBasis { measured, estimated };

/// Returns, for each unit, the seconds for copying the tensors of a micro-batch that cross the cut
/// point before this unit, from the first device of the context to the second; 0 for the first
/// unit.
[[nodiscard]] const std::vector<double>& cut_seconds(Context& context, const Network& network,
                                                     const UnitRun& run, CostBasis basis);

/// Returns the pairs of units in which a layer of one unit is tied to a layer of the other. The
/// stages of both units copy and add gradients once per step; `seconds` is the time of one copy and
/// one addition, multiplied by the share of a micro-batch of `run` in the `batch` samples of the
/// step.
[[nodiscard]] std::vector<SharedParameters> shared_parameters(Context& context,
                                                              const Network& network,
                                                              const UnitRun& run,
                                                              std::int64_t batch, CostBasis basis);

/// Costs of stages on several devices.
struct StepCosts {
  PartitionCosts measured;
  PartitionCosts estimated;
  double uncertainty = 0;  // UnitSeconds::uncertainty, the maximum over all devices
};

/// Returns the costs of stages on these devices for a micro-batch of `run` in a step of `batch`
/// samples.
[[nodiscard]] StepCosts step_costs(Context& context, const Network& network,
                                   const std::vector<int>& devices, const UnitRun& run,
                                   std::int64_t batch);

}  // namespace parbench
