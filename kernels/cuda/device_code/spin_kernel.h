// A kernel that takes a known time.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace parbench::cuda {

/// The time of an execution: `nanoseconds` times a factor in [1 − noise, 1 + noise] that follows
/// from the seed and the number of the execution.
struct SpinTime {
  double nanoseconds;
  double noise;
  std::uint64_t seed;
};

/// Increments `*counter` and `*executions`, the number of this execution, and occupies one thread
/// for the time, to within a step of the GPU's global timer: about a microsecond on some GPUs, less
/// on others. The number lives on the device, so that a captured launch draws anew at every replay.
void spin(std::uint64_t* counter, std::uint64_t* executions, SpinTime time, cudaStream_t stream);

}  // namespace parbench::cuda
