// The devices of all ranks, and a comparison of the ranks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cli/run_options.h"
#include "bench/ranks/rank_team.h"
#include "kernels/machine/machine.h"

namespace parbench {

/// Returns the allowed differences between ranks as texts. Throws UsageError if the ranks differ in
/// version, commit, build, libraries or flags, or, without --allow-different-ranks, in processor or
/// instruction set.
[[nodiscard]] std::vector<std::string> compare_ranks(RankTeam& team, const Machine& machine,
                                                     const RunOptions& options);

/// Opens the devices of this rank and returns the devices of all ranks in the order of the ranks;
/// placeholders represent devices of other ranks. Ranks of one machine divide the cores and GPUs
/// that several of them may use: "cuda:0" is the GPU assigned to a rank (unit_share.h), or a part
/// of it. Throws UsageError as Machine::open does.
[[nodiscard]] std::vector<std::unique_ptr<Device>> open_rank_devices(RankTeam& team,
                                                                     const Machine& machine,
                                                                     std::string_view request,
                                                                     const DeviceOptions& options);

}  // namespace parbench
