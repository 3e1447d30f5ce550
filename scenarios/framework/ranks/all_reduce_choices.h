// Selects the fastest all-reduce between ranks for each size.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "kernels/core/stream.h"
#include "scenarios/framework/ranks/rank_group.h"

namespace parbench {

/// Returns the ways in which the ranks of a set can do an all-reduce of `bytes` bytes.
[[nodiscard]] std::vector<RankAllReduce> possible_all_reduces(const RankLink& link,
                                                              const RankSet& set,
                                                              std::size_t bytes);

/// Returns the first of `ways` that is at most 5% slower than the fastest. `seconds`: times of
/// every round, in the order of `ways`. The best round of a way counts, because other load on a
/// machine only makes it slower.
[[nodiscard]] RankAllReduce fastest_of(std::span<const RankAllReduce> ways,
                                       std::span<const double> seconds);

/// The choices of a run, which are the same on all ranks.
class AllReduceChoices {
 public:
  /// `measures`: whether ranks may exchange messages for measurements; if not, the library's
  /// all-reduce is always chosen.
  AllReduceChoices(RankGroup& ranks, bool measures) : ranks_(ranks), measures_(measures) {}

  [[nodiscard]] RankGroup& ranks() const { return ranks_; }

  /// Prepares the link for all-reduces of a set, if ranks may exchange messages. All ranks of the
  /// run call it before `choose`, in the same order. Throws errors of any rank.
  void prepare(const RankSet& set);

  /// Returns the fastest way for f32 arrays of `bytes` bytes between the ranks of a set. All ranks
  /// of the run call it, in the same order. The first call measures the possible ways, if there are
  /// several, with `bytes` rounded up to a power of two, but at most 16 MiB. Its result is reused
  /// for sizes that round to the same number in sets with the same distances between ranks and the
  /// same possible ways. `own`: the stream of this rank's device for the measurement; null outside
  /// of the set. Throws errors of any rank.
  [[nodiscard]] RankAllReduce choose(const RankSet& set, std::size_t bytes, Stream* own);

 private:
  [[nodiscard]] std::vector<double> measured(std::span<const RankAllReduce> ways,
                                             const RankSet& set, std::size_t bytes, Stream* own);

  RankGroup& ranks_;
  bool measures_;
  /// Choices by the distances from the first rank of the set, the possible ways, and the rounded
  /// size.
  std::map<std::tuple<std::vector<int>, std::vector<RankAllReduce>, std::size_t>, RankAllReduce>
      chosen_;
};

}  // namespace parbench
