// The part of a run that profilers are to see.
#pragma once

#include <functional>

namespace parbench {

/// Between what it says to profilers when it is made and when it goes.
class Profiled {
 public:
  explicit Profiled(const std::function<void(bool)>& tell) : tell_(tell) { tell_(true); }
  ~Profiled() {
    try {
      tell_(false);
    } catch (
        ...) {  // NOLINT(bugprone-empty-catch): a trace without an end is no reason to lose a run
    }
  }
  Profiled(const Profiled&) = delete;
  Profiled& operator=(const Profiled&) = delete;

 private:
  const std::function<void(bool)>& tell_;
};

}  // namespace parbench
