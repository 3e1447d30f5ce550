// Which all-reduce between ranks is the fastest, by size.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "kernels/core/stream.h"
#include "scenarios/framework/ranks/rank_group.h"

namespace parbench {

/// Returns the first of `ways` that is not clearly slower than the fastest. `seconds` has those of
/// every round, each in the order of the ways, of which the best round counts: what others do to a
/// machine only makes it slower.
[[nodiscard]] RankAllReduce fastest_of(std::span<const RankAllReduce> ways,
                                       std::span<const double> seconds);

/// The choices of a run, which are the same on all ranks.
class AllReduceChoices {
 public:
  /// `measures`: whether ranks may exchange messages for it; if not, all choices are the library's.
  AllReduceChoices(RankGroup& ranks, bool measures) : ranks_(ranks), measures_(measures) {}

  [[nodiscard]] RankGroup& ranks() const { return ranks_; }

  /// Prepares the link for all-reduces of a set, unless ranks may not exchange messages. All ranks
  /// of the run call it before `choose`, in the same order. Throws what fails on any rank.
  void prepare(const RankSet& set);

  /// Returns the fastest way for f32 arrays of so many bytes between the ranks of a set. All ranks
  /// of the run call it, in the same order. The first call measures each way there is: for sizes up
  /// to the same power of two, at most 16 MiB, and for all sets whose ranks are as far apart.
  /// `own`: the stream of this rank's device on which it does so; null outside of the set. Throws
  /// what fails on any rank.
  [[nodiscard]] RankAllReduce choose(const RankSet& set, std::size_t bytes, Stream* own);

 private:
  [[nodiscard]] std::vector<double> measured(std::span<const RankAllReduce> ways,
                                             const RankSet& set, std::size_t bytes, Stream* own);

  RankGroup& ranks_;
  bool measures_;
  /// By the distances from the first rank of the set, and the size.
  std::map<std::pair<std::vector<int>, std::size_t>, RankAllReduce> chosen_;
};

}  // namespace parbench
