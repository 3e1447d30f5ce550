// Takes the place of kernels/cuda/runtime/enqueue.h: the stand-in's streams run a kernel's grid on
// the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "tests/cuda_stand_in/stand_in.h"

namespace parbench::cuda {

template <class... Parameters, class... Arguments>
void enqueue(dim3 grid, dim3 block, cudaStream_t stream, void (*kernel)(Parameters...),
             Arguments... arguments) {
  constexpr std::size_t max_parameter_bytes = 4096;
  static_assert((sizeof(Parameters) + ... + 0) <= max_parameter_bytes);
  const auto work = [=] {
    const std::lock_guard alone(stand_in::grids());
    emulation::run_grid(grid, block, [&] { kernel(arguments...); });
  };
  (void)stand_in::launch(stream, work, reinterpret_cast<const void*>(kernel));
}

}  // namespace parbench::cuda
