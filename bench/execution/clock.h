// The clock that runs are timed with on the host.
#pragma once

#include <chrono>

namespace parbench {

/// Seconds of the steady clock, from an origin that means nothing.
[[nodiscard]] inline double steady_seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace parbench
