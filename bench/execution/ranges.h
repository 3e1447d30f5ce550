// Named ranges on the host's timeline, for Nsight Systems and other readers of NVTX.
#pragma once

#include <cstdint>
#include <string>

namespace parbench {

/// Returns this build's version of NVTX, or "not in this build" and the remedy. Without NVTX,
/// profilers do not show the ranges.
[[nodiscard]] std::string nvtx_support();

/// A range name, registered once in the NVTX domain "parbench".
class RangeName {
 public:
  explicit RangeName(const std::string& name);

 private:
  friend class Range;
  void* handle_ = nullptr;
};

/// A range on the calling thread, open during the object's lifetime; ranges nest. Does nothing if
/// no tool listens or the build has no NVTX headers. Tools can group ranges by name; `payload`
/// distinguishes ranges with the same name.
class Range {
 public:
  explicit Range(const RangeName& name, std::int64_t payload = 0);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace parbench
