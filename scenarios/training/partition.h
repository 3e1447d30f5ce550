// Where to partition a model into stages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/framework/scenario.h"
#include "scenarios/models/network.h"

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

/// Returns the first units of the later stages of a case on these devices of the context, as its
/// parameter "partition" says: units by name, "published", or "balanced". A balanced one is that of
/// `Context::Options::known_cuts` for the case; else it follows from costs that are measured for
/// the first of a replica's micro-batches, for at most 16 samples. Partitions whose slowest stages
/// differ by less than 3%, or than the measurement's uncertainty, count as equal: of these it is
/// the first that an earlier case of the run has with this network and such devices, or the one
/// that estimates prefer.
[[nodiscard]] std::vector<int> chosen_partition(Context& context, const Network& network,
                                                const CaseSpec& spec,
                                                const std::vector<int>& devices,
                                                const std::vector<std::int64_t>& micro_batches);

}  // namespace parbench
