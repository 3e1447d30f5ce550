// Polling intervals of a host thread that waits for a GPU without occupying a core for long.
#pragma once

#include <algorithm>
#include <chrono>

namespace parbench::cuda {

/// Returns how long a thread sleeps before its next poll if it has waited for `waited` so far: zero
/// below 5 ms, then 1% of that time, at most 1 ms. Waits end at most 1% late (plus about 50 µs
/// of the system's timers), and wall times can be compared with the device's own times.
[[nodiscard]] constexpr std::chrono::nanoseconds backoff_after(std::chrono::nanoseconds waited) {
  using std::chrono::milliseconds;
  using std::chrono::nanoseconds;
  constexpr milliseconds eager{5};
  constexpr milliseconds longest{1};
  if (waited < eager) return nanoseconds::zero();
  return std::min<nanoseconds>(waited / 100, longest);
}

}  // namespace parbench::cuda
