// The ranks of a run as scenarios and plans see them: processes that prepare and run the same
// cases.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "kernels/core/ranks/rank_link.h"

namespace parbench {

/// All ranks call these functions in the same order. Where one of them has failed instead, the
/// others get its exception.
class RankGroup {
 public:
  virtual ~RankGroup() = default;

  [[nodiscard]] virtual int rank() const = 0;  // of this process
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual RankLink& link() = 0;

  /// Throws where a rank is lost. Any thread may call it at any time.
  virtual void check() const = 0;

  /// Fills the memory at `data` with what rank `owner` has there.
  virtual void share(int owner, void* data, std::size_t bytes) = 0;

  /// Returns the largest of all ranks' values, one by one.
  [[nodiscard]] virtual std::vector<double> largest(std::vector<double> values) = 0;

  /// Runs work in which ranks wait for messages of each other: what fails there ends the run,
  /// because messages may still be on their way.
  virtual void exchange(const std::function<void()>& work) = 0;
};

}  // namespace parbench
