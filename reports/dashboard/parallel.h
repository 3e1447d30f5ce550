// The same work on many things, on all cores that this process may use.
#pragma once

#include <cstddef>
#include <functional>

namespace parbench::report {

/// Calls `work` with 0 … count − 1, each once, in about that order, in as many threads as there are
/// cores. What it throws first is thrown again here, once all threads have ended; nothing new
/// begins after that.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace parbench::report
