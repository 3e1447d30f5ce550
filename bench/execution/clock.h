// The host's clock for timing runs.
#pragma once

#include <chrono>

namespace parbench {

/// Returns the seconds of the steady clock, from an arbitrary origin.
[[nodiscard]] inline double steady_seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace parbench
