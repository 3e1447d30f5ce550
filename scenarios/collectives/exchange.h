// Plans, data and verification of one collective between all devices of a run.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/core/ranks/rank_link.h"
#include "scenarios/framework/collectives/algorithms.h"
#include "scenarios/framework/prepared_case.h"

namespace parbench {

/// What is exchanged, and how.
struct Exchange {
  Collective collective = Collective::all_reduce;
  std::int64_t bytes = 0;  // S of nccl-tests: of a member's whole array; a multiple of 4
  std::optional<Algorithm> algorithm;  // of messages; nothing: by a communicator
  /// By the communicator of the ranks, its all-reduces in that way.
  std::optional<RankAllReduce> over_ranks = {};
  std::int64_t calls = 1;  // one after the other, each of data of its own
};

/// Plans a collective over f32 numbers with a check of every number of its results. Throws
/// Unsupported where a communicator is wanted and there is none for it.
void plan_exchange(CaseParts& parts, const Exchange& exchange);

}  // namespace parbench
