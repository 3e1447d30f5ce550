// Spins on the global timer, which counts nanoseconds. The clock of the multiprocessors changes
// with load and temperature, so cycles do not measure time.
#include "kernels/base/random.h"
#include "kernels/cuda/device_code/spin_kernel.h"
#include "kernels/cuda/runtime/launch.h"

namespace parbench::cuda {
namespace {

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin_kernel(std::uint64_t* counter, std::uint64_t* executions, SpinTime time) {
  const std::uint64_t begin = nanoseconds();
  const RandomWords words = random_words({time.seed, 0}, *executions);
  const double unit = static_cast<double>(words.x) * 0x1p-32;
  const auto duration =
      static_cast<std::uint64_t>(time.nanoseconds * (1 + time.noise * (2 * unit - 1)));
  ++*executions;
  ++*counter;
  while (nanoseconds() - begin < duration) {
  }
}

}  // namespace

void spin(std::uint64_t* counter, std::uint64_t* executions, SpinTime time, cudaStream_t stream) {
  PARBENCH_LAUNCH(1, 1, stream, spin_kernel, counter, executions, time);
}

}  // namespace parbench::cuda
