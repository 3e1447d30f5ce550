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
/// '+'. Returns the indices of these units. Throws UsageError with the word and the available
/// units.
[[nodiscard]] std::vector<int> named_partition(const Network& network, std::string_view text,
                                               int stages);

/// Returns "published" if there is a published partition for that number of stages, otherwise
/// "balanced".
[[nodiscard]] std::string default_partition(const Network& network, int stages);

/// Returns "layer2.0+layer3.2", the first units of the later stages.
[[nodiscard]] std::string units_text(const Network& network, const std::vector<int>& partition);

/// Adds notes on a partition: its cut points (`cut_note`), and whether the network has no other
/// partition into this number of stages (`only_cut_note`).
void add_cut_notes(const Network& network, const std::vector<int>& partition,
                   std::vector<std::pair<std::string, std::string>>& notes);

/// First and last layer of a stage.
struct LayerRange {
  int first = 0;
  int last = 0;
};
[[nodiscard]] std::vector<LayerRange> stages_of(const Network& network,
                                                const std::vector<int>& partition);

/// Returns the first units of the later stages of a case on these devices, according to its
/// parameter "partition": names of units, "published", or "balanced". A balanced partition comes
/// from `Context::Options::known_cuts` if the case is listed there. Otherwise it is computed from
/// measured costs of a replica's first micro-batch, of at most 16 samples. Partitions whose slowest
/// stages differ by less than 3%, or less than the measurement's uncertainty, count as equal. Among
/// these, the partition of an earlier case of the run with this network and equal devices is
/// preferred; without such a case, the partition that is balanced by estimates.
[[nodiscard]] std::vector<int> chosen_partition(Context& context, const Network& network,
                                                const CaseSpec& spec,
                                                const std::vector<int>& devices,
                                                const std::vector<std::int64_t>& micro_batches);

}  // namespace parbench
