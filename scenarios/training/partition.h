// Where to partition a model into stages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/framework/context.h"
#include "scenarios/models/network.h"
#include "scenarios/plan/schedules/partition.h"

namespace parbench {

/// Reads a partition: "published", or names of units joined by '+', each the first of a stage.
/// Throws UsageError that names the word and the units there are.
[[nodiscard]] std::vector<int> named_partition(const Network& network, std::string_view text,
                                               int stages);

/// "published" where one is for so many stages, else "balanced".
[[nodiscard]] std::string default_partition(const Network& network, int stages);

/// "layer2.0+layer3.2": the first units of the later stages.
[[nodiscard]] std::string units_text(const Network& network, const std::vector<int>& partition);

/// Adds the notes on a partition: where it cuts, and whether the network has no other one.
void add_cut_notes(const Network& network, const std::vector<int>& partition,
                   std::vector<std::pair<std::string, std::string>>& notes);

/// First and last layer of each stage.
struct LayerRange {
  int first = 0;
  int last = 0;
};
[[nodiscard]] std::vector<LayerRange> stages_of(const Network& network,
                                                const std::vector<int>& partition);

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

/// Seconds that each unit takes forward and backward for a micro-batch on a device of the context:
/// the median of three runs on random data in memory of its own, measured once per run of the
/// program and on the first of the devices that are alike. Where the context does not measure, an
/// estimate from operations and traffic, which is the same for every device.
[[nodiscard]] const std::vector<double>& measured_unit_seconds(Context& context, int device,
                                                               const Network& network,
                                                               const UnitRun& run);

/// Seconds that the tensors of a micro-batch which cross in front of each unit take from one device
/// to another: the median of three copies between the first two devices of the context, or an
/// estimate from their bytes where it does not measure or has one device. Those of the first unit
/// are 0.
[[nodiscard]] const std::vector<double>& measured_cut_seconds(Context& context,
                                                              const Network& network,
                                                              const UnitRun& run);

/// The layers of different units that have the parameters of an earlier one, with the seconds that
/// the exchange of the gradients takes of each of both stages: one copy and one addition, measured
/// or estimated like the tensors of a cut. An exchange is made once a step, so that a micro-batch
/// of `run` has its share of the batch.
[[nodiscard]] std::vector<SharedParameters> shared_parameters(Context& context,
                                                              const Network& network,
                                                              const UnitRun& run,
                                                              std::int64_t batch);

/// The first units of the later stages on these devices of the context: `kind` is "balanced", by
/// the costs that are measured for `run` in a step of `batch` samples, or what `named_partition`
/// reads. Of micro-batches that are large, fewer samples are measured.
[[nodiscard]] std::vector<int> chosen_partition(Context& context, const Network& network,
                                                std::string_view kind,
                                                const std::vector<int>& devices, UnitRun run,
                                                std::int64_t batch);

}  // namespace parbench
