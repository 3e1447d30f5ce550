// A kernel that runs for a given time.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace parbench::cuda {

/// Duration of an execution: `nanoseconds` times a factor in [1 − noise, 1 + noise] that depends on
/// the seed and the number of the execution.
struct SpinTime {
  double nanoseconds;
  double noise;
  std::uint64_t seed;
};

/// Increments `*counter` and `*executions`, and occupies one thread for the given time, with the
/// resolution of the GPU's global timer: about a microsecond on some GPUs, less on others.
/// `executions`: number of earlier executions, in device memory, so that a captured launch draws a
/// new factor at every replay.
void spin(std::uint64_t* counter, std::uint64_t* executions, SpinTime time, cudaStream_t stream);

}  // namespace parbench::cuda
