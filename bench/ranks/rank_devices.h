// The devices of all ranks, and whether the ranks are alike.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cli/run_options.h"
#include "bench/ranks/rank_team.h"
#include "kernels/machine/machine.h"

namespace parbench {

/// Throws UsageError where ranks have different versions, commits or options, or different
/// processors or instruction sets unless that is allowed. Returns the differences that are allowed,
/// as texts.
[[nodiscard]] std::vector<std::string> compare_ranks(RankTeam& team, const Machine& machine,
                                                     const RunOptions& options);

/// Opens the devices of this rank and returns those of all ranks, in the order of the ranks: its
/// own ones, and for those of others what stands for them. Ranks of one machine that may use the
/// same cores divide them, and so do ranks that see the same GPUs: "cuda:0" is the GPU that falls
/// to a rank (unit_share.h), or a part of it. Throws UsageError as Machine::open does.
[[nodiscard]] std::vector<std::unique_ptr<Device>> open_rank_devices(RankTeam& team,
                                                                     const Machine& machine,
                                                                     std::string_view request,
                                                                     const DeviceOptions& options);

}  // namespace parbench
