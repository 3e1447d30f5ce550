// Detection of MPI launchers, and loading of libparbench-mpi.so, which calls MPI.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "kernels/core/ranks/rank_link.h"

namespace parbench {

/// Rank and number of ranks that a launcher gave this process.
struct Launched {
  int rank = 0;
  int size = 1;
  friend bool operator==(const Launched&, const Launched&) = default;
};

/// Returns rank and size from the variables of mpirun (Open MPI, MPICH, Intel MPI) or srun; nothing
/// if the process was started otherwise, or as the only one. `variable` returns the value of an
/// environment variable, null if it is not set.
[[nodiscard]] std::optional<Launched> launched_ranks(
    const std::function<const char*(const char*)>& variable);

/// Reads the variables of this process.
[[nodiscard]] std::optional<Launched> launched_ranks();

/// Loads libparbench-mpi.so and initialises MPI; destroying the result finalises MPI. Throws
/// UsageError if this build has no such library, or if MPI lacks a required feature.
[[nodiscard]] std::unique_ptr<RankLink> load_rank_link();

}  // namespace parbench
