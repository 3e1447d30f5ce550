// Runs the same function for many items on all cores that this process may use.
#pragma once

#include <cstddef>
#include <functional>

namespace parbench::report {

/// Calls `work` once with each of 0 … count − 1, roughly in this order, in as many threads as there
/// are cores. After an exception no new item is started, and once all threads have ended, the first
/// exception is rethrown.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace parbench::report
