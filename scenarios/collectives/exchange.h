// Plans, data and verification of collectives between all devices of a run.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/core/ranks/rank_link.h"
#include "scenarios/framework/collectives/algorithms.h"
#include "scenarios/framework/prepared_case.h"

namespace parbench {

/// The collective, its size, and its method.
struct Exchange {
  Collective collective = Collective::all_reduce;
  std::int64_t bytes = 0;  // size S of nccl-tests: bytes of a member's whole array; a multiple of 4
  std::optional<Algorithm> algorithm;  // algorithm by messages; nothing: by a communicator
  /// If set: the ranks' communicator runs the collective, with this kind of all-reduce.
  std::optional<RankAllReduce> over_ranks = {};
  std::int64_t calls = 1;  // number of consecutive collectives, each with its own data
};

/// Plans collectives over f32 numbers, with a check of every number that is defined afterwards.
/// Throws Unsupported if a communicator is needed and there is none, or none for blocks of
/// different sizes.
void plan_exchange(CaseParts& parts, const Exchange& exchange);

}  // namespace parbench
