// What becomes of memory that a kernel which hangs still uses.
#pragma once

#include <memory>
#include <utility>

#include "kernels/base/error.h"

namespace parbench::cuda {

/// Runs `work` on resources that go with it, unless it throws TimedOut: to free them would wait for
/// what does not end, or take memory from under it, so they stay until the process ends.
template <class Resources, class Work>
auto run_or_abandon(std::unique_ptr<Resources> resources, const Work& work) {
  try {
    return work(*resources);
  } catch (const TimedOut&) {
    (void)resources.release();
    throw;
  }
}

}  // namespace parbench::cuda
