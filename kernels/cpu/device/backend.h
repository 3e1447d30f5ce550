// The CPU backend: devices are disjoint sets of cores, kernels are those of oneDNN.
#pragma once

#include <memory>

#include "kernels/core/backend.h"

namespace parbench::cpu {

/// Reads the process's affinity mask with hwloc; never fails on a machine that runs the program.
[[nodiscard]] std::unique_ptr<Backend> make_backend();

}  // namespace parbench::cpu
