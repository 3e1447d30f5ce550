// The ranks of a run from the view of scenarios and plans: processes that prepare and run the same
// cases.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "kernels/core/ranks/rank_link.h"

namespace parbench {

/// All ranks call `share`, `largest` and `exchange` in the same order. If one rank has failed,
/// these functions throw its exception on the others.
class RankGroup {
 public:
  virtual ~RankGroup() = default;

  [[nodiscard]] virtual int rank() const = 0;  // rank of this process
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual RankLink& link() = 0;

  /// Throws if a rank is lost. Any thread may call it at any time.
  virtual void check() const = 0;

  /// Copies the memory at `data` on rank `owner` to all ranks.
  virtual void share(int owner, void* data, std::size_t bytes) = 0;

  /// Returns the element-wise maximum of all ranks' values.
  [[nodiscard]] virtual std::vector<double> largest(std::vector<double> values) = 0;

  /// Runs work in which ranks wait for messages of each other. A failure ends the run, because
  /// messages may still be in flight.
  virtual void exchange(const std::function<void()>& work) = 0;
};

}  // namespace parbench
