// Whether an MPI launcher has started this process as one of several ranks, and the library of
// ranks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kernels/core/ranks/rank_link.h"

namespace parbench {

/// What a launcher says of this process.
struct Launched {
  int rank = 0;
  int size = 1;
  friend bool operator==(const Launched&, const Launched&) = default;
};

/// Returns what the variables of mpirun (Open MPI, MPICH, Intel MPI) or srun say; nothing for a
/// process that was started otherwise, or as the only one. `variable` returns the value of a
/// variable of the environment, null where it is not set.
[[nodiscard]] std::optional<Launched> launched_ranks(
    const std::function<const char*(const char*)>& variable);

/// The same for this process.
[[nodiscard]] std::optional<Launched> launched_ranks();

/// Loads the library of ranks and initialises MPI, which ends with the result. Throws UsageError
/// where this build has no such library, or MPI does not suffice.
[[nodiscard]] std::unique_ptr<RankLink> load_rank_link();

}  // namespace parbench
