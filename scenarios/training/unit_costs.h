// What the stages of a partition cost: measured times of units and of copies between them.
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
  std::int64_t samples = 1;  // of a micro-batch
  /// Whether backward adds to the gradients, as it does for all micro-batches of a step but the
  /// first.
  bool accumulate = false;
  bool recompute = false;  // its forward pass runs again ahead of backward
};

/// Seconds that every unit takes forward and backward for a micro-batch on a device.
struct UnitSeconds {
  std::vector<double> measured;   // the estimate where the context does not measure
  std::vector<double> estimated;  // from operations and traffic; only its ratios matter
  double uncertainty = 0;         // of the time of several units, relative to it
};

/// Times each unit on random data in memory of its own, in three passes over all units, of which
/// the fastest counts: once per run of the program and on the first of the devices that are alike.
[[nodiscard]] UnitSeconds unit_seconds(Context& context, int device, const Network& network,
                                       const UnitRun& run);

/// Whether costs are measured where the context measures and has two devices in this process, or
/// are always estimated.
enum class CostBasis { measured, estimated };

/// Returns the seconds that the tensors of a micro-batch which cross in front of each unit take
/// from the first device of the context to the second. Those of the first unit are 0.
[[nodiscard]] const std::vector<double>& cut_seconds(Context& context, const Network& network,
                                                     const UnitRun& run, CostBasis basis);

/// Returns the layers of different units that have the parameters of an earlier one, with the
/// seconds that the exchange of the gradients takes of each of both stages: one copy and one
/// addition. An exchange is made once a step, so that a micro-batch of `run` has its share of the
/// `batch` samples.
[[nodiscard]] std::vector<SharedParameters> shared_parameters(Context& context,
                                                              const Network& network,
                                                              const UnitRun& run,
                                                              std::int64_t batch, CostBasis basis);

/// What stages on some devices cost.
struct StepCosts {
  PartitionCosts measured;
  PartitionCosts estimated;
  double uncertainty = 0;  // UnitSeconds::uncertainty, the largest of all devices
};

/// Returns the costs of stages on these devices for a micro-batch of `run` in a step of `batch`
/// samples.
[[nodiscard]] StepCosts step_costs(Context& context, const Network& network,
                                   const std::vector<int>& devices, const UnitRun& run,
                                   std::int64_t batch);

}  // namespace parbench
