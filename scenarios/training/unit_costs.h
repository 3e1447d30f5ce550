// Costs of the stages of a partition: measured times of units and of copies between them.
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
  double uncertainty = 0;         // relative uncertainty of the time of several units
};

/// Measures each unit on random data in separate memory, in three passes over all units, and takes
/// the fastest time. Runs once per run of the program, on the first of equal devices.
[[nodiscard]] UnitSeconds unit_seconds(Context& context, int device, const Network& network,
                                       const UnitRun& run);

/// Basis of the costs of copies and exchanges: measured (if the context measures and has two
/// devices in this process) or always estimated.
enum class CostBasis { measured, estimated };

/// Returns the seconds for copying the tensors of a micro-batch that cross before each unit, from
/// the first device of the context to the second. Those of the first unit are 0.
[[nodiscard]] const std::vector<double>& cut_seconds(Context& context, const Network& network,
                                                     const UnitRun& run, CostBasis basis);

/// Returns the layers that use the parameters of an earlier layer in another unit, with the time in
/// seconds for which each of the two stages exchanges gradients: one copy and one addition. There
/// is one exchange per step, so a micro-batch of `run` is charged its share of the `batch` samples.
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
