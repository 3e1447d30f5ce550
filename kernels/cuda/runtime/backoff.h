// Polling intervals of a host thread that waits for a GPU without occupying a core for long.
#pragma once

#include <algorithm>
#include <chrono>

namespace parbench::cuda {

/// Returns how long a thread that has waited for `waited` sleeps before it polls again; zero: it
/// does not sleep. Short waits end within a microsecond, long ones at most 1% late (plus some 50 µs
/// of the system's timers), so that wall times can be compared with the device's own times.
[[nodiscard]] constexpr std::chrono::nanoseconds backoff_after(std::chrono::nanoseconds waited) {
  using std::chrono::milliseconds;
  using std::chrono::nanoseconds;
  constexpr milliseconds eager{5};
  constexpr milliseconds longest{1};
  if (waited < eager) return nanoseconds::zero();
  return std::min<nanoseconds>(waited / 100, longest);
}

}  // namespace parbench::cuda
