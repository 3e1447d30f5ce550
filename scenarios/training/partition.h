// Partition of a model into stages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/framework/scenario.h"
#include "scenarios/models/network.h"

namespace parbench {

/// Parses a partition: "published", or the names of the first units of the later stages, joined by
/// '+'. Returns the indices of these units. Throws UsageError for unknown units, units in another
/// order, another number of stages, and if there is no published partition.
[[nodiscard]] std::vector<int> named_partition(const Network& network, std::string_view text,
                                               int stages);

/// Returns "published" if there is a published partition for that number of stages, otherwise
/// "balanced".
[[nodiscard]] std::string default_partition(const Network& network, int stages);

/// Returns the names of the first units of the later stages: "layer2.0+layer3.2".
[[nodiscard]] std::string units_text(const Network& network, const std::vector<int>& partition);

/// Adds `cut_note` with the cut points of a partition and, if each unit is a stage, so that there
/// is no other partition, also `only_cut_note`.
void add_cut_notes(const Network& network, const std::vector<int>& partition,
                   std::vector<std::pair<std::string, std::string>>& notes);

/// First and last layer of a stage.
struct LayerRange {
  int first = 0;
  int last = 0;
};
[[nodiscard]] std::vector<LayerRange> stages_of(const Network& network,
                                                const std::vector<int>& partition);

/// Returns the first units of the later stages of a case, according to its parameter "partition":
/// names of units, "published", or "balanced". `devices`: device of each stage; `micro_batches`:
/// sizes of the micro-batches of a replica. A balanced partition is that of the case in
/// `Context::Options::known_cuts`, if there is a valid one. Otherwise it is computed from measured
/// costs of the first micro-batch (at most 16 samples). The slowest stage may take 3% longer than
/// that of the fastest partition, or the measurement's uncertainty if that is larger. Among the
/// partitions within this tolerance, one that an earlier case of the run with this network and
/// equal devices uses is preferred; if there is none, the one that is balanced by estimates.
[[nodiscard]] std::vector<int> chosen_partition(Context& context, const Network& network,
                                                const CaseSpec& spec,
                                                const std::vector<int>& devices,
                                                const std::vector<std::int64_t>& micro_batches);

}  // namespace parbench
