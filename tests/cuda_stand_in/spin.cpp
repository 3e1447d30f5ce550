// Takes the place of kernels/cuda/device_code/spin_kernel.cu, which reads a GPU's timer: sleeps.
#include "kernels/cuda/device_code/spin_kernel.h"

#include <chrono>
#include <thread>

#include "kernels/base/random.h"
#include "kernels/cuda/runtime/error.h"
#include "tests/cuda_stand_in/stand_in.h"

namespace parbench::cuda {

void spin(std::uint64_t* counter, std::uint64_t* executions, SpinTime time, cudaStream_t stream) {
  PARBENCH_CUDA(stand_in::launch(stream, [=] {
    const RandomWords words = random_words({time.seed, 0}, *executions);
    const double unit = static_cast<double>(words.x) * 0x1p-32;
    ++*executions;
    ++*counter;
    std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(
        time.nanoseconds * (1 + time.noise * (2 * unit - 1))));
  }));
}

}  // namespace parbench::cuda
