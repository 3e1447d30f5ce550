// Names of all-reduces, and sets of ranks.
#include "kernels/core/ranks/rank_link.h"

#include <numeric>

namespace parbench {

RankSet RankSet::all(int size) {
  RankSet set{.ranks = std::vector<int>(static_cast<std::size_t>(size))};
  std::iota(set.ranks.begin(), set.ranks.end(), 0);
  return set;
}

std::string_view name_of(RankAllReduce by) {
  switch (by) {
    case RankAllReduce::library:
      return "mpi";
    case RankAllReduce::shared_memory:
      return "shared-memory";
    case RankAllReduce::doubling:
      return "doubling";
    case RankAllReduce::ring:
      break;
  }
  return "rank-ring";
}

}  // namespace parbench
