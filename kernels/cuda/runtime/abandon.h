// Handling of memory that a hanging kernel still uses.
#pragma once

#include <memory>
#include <utility>

#include "kernels/base/error.h"

namespace parbench::cuda {

/// Runs `work` on the resources, destroys them and returns the result of `work`. If `work` throws
/// TimedOut, the resources are leaked until the process ends, because freeing them would wait for
/// the hanging kernel or free memory that the kernel uses.
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
