// Assigns offsets to temporary tensors whose lifetimes are known before anything runs.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace parbench {

/// Best-fit allocator of offsets within one region. It allocates no memory: the caller replays the
/// lifetimes of its tensors once, then reads the size that the region needs (`peak`).
class RegionPlanner {
 public:
  static constexpr std::size_t alignment = 64;

  [[nodiscard]] std::size_t acquire(std::size_t bytes);
  /// Like `acquire`, but returns nothing if the region would have to grow.
  [[nodiscard]] std::optional<std::size_t> acquire_hole(std::size_t bytes);
  /// Throws std::logic_error for an offset that is not held.
  void release(std::size_t offset);
  [[nodiscard]] std::size_t peak() const { return peak_; }
  /// Returns the end of the block in use with the highest offset; 0 if no block is in use.
  [[nodiscard]] std::size_t end() const {
    return held_.empty() ? 0 : held_.rbegin()->first + held_.rbegin()->second;
  }

 private:
  std::map<std::size_t, std::size_t> held_;  // offset to bytes
  std::map<std::size_t, std::size_t> free_;  // offset to bytes; free blocks are never adjacent
  std::size_t peak_ = 0;
};

}  // namespace parbench
