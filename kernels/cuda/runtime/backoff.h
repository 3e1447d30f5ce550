// How a host thread waits for a GPU without keeping a core busy for long.
#pragma once

#include <algorithm>
#include <chrono>

namespace parbench::cuda {

/// Returns how long a thread that has waited so long sleeps before it polls again; zero: not at
/// all. Short waits are seen to end within a microsecond, long ones a hundredth late at most (and
/// what the system's timers add, some 50 µs), so that wall times beside the device's own mean
/// something.
[[nodiscard]] constexpr std::chrono::nanoseconds backoff_after(std::chrono::nanoseconds waited) {
  using std::chrono::milliseconds;
  using std::chrono::nanoseconds;
  constexpr milliseconds eager{5};
  constexpr milliseconds longest{1};
  if (waited < eager) return nanoseconds::zero();
  return std::min<nanoseconds>(waited / 100, longest);
}

}  // namespace parbench::cuda
