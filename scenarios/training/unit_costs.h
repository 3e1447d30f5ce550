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
  bool recompute = false;  // repeat its forward pass before backward
};

/// Seconds of every unit's forward and backward passes for a micro-batch on a device.
struct UnitSeconds {
  std::vector<double> measured;   // the estimate if the context does not measure
  std::vector<double> estimated;  // from operations and traffic; only its ratios matter
  double uncertainty = 0;         // relative uncertainty of the sum of measured times
};

/// Measures each unit on random data in separate memory, if the context measures, and takes the
/// fastest of three passes over all units. Later calls for equal devices return the result of the
/// first.
[[nodiscard]] UnitSeconds unit_seconds(Context& context, int device, const Network& network,
                                       const UnitRun& run);

/// Basis of the costs of copies and exchanges: measured (if the context measures and has two
/// devices in this process) or always estimated.
enum class CostBasis { measured, estimated };

/// Returns, for each unit, the seconds for copying the tensors of a micro-batch that cross the cut
/// point before it, from the first device of the context to the second; 0 for the first unit.
[[nodiscard]] const std::vector<double>& cut_seconds(Context& context, const Network& network,
                                                     const UnitRun& run, CostBasis basis);

/// Returns the pairs of units in which a layer uses the parameters of a layer of an earlier unit.
/// The seconds are for one copy and one addition of gradients, which the stages of both units do
/// once per step of `batch` samples; a micro-batch of `run` gets its share of them.
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
