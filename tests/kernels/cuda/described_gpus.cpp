// Properties of GPUs in cuDNN's form.
#include "tests/kernels/cuda/described_gpus.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace parbench::test {

const std::vector<DescribedGpu>& described_gpus() {
  constexpr std::size_t gibibyte = std::size_t{1} << 30U;
  constexpr int mebibyte = 1 << 20;
  static const std::vector<DescribedGpu> gpus{
      {"Tesla T4", 75, 40, 1024, 16, 65536, 1590000, 5001000, 4 * mebibyte, 15 * gibibyte},
      {"NVIDIA A100-SXM4-80GB", 80, 108, 2048, 32, 166912, 1410000, 1593000, 40 * mebibyte,
       80 * gibibyte},
      {"NVIDIA H200", 90, 132, 2048, 32, 232448, 1980000, 3201000, 60 * mebibyte, 141 * gibibyte},
      {"NVIDIA B200", 100, 148, 2048, 32, 232448, 1965000, 3996000, 126 * mebibyte,
       180 * gibibyte}};
  return gpus;
}

const DescribedGpu& described_gpu(int compute_capability) {
  const auto found =
      std::ranges::find(described_gpus(), compute_capability, &DescribedGpu::compute_capability);
  if (found == described_gpus().end()) throw std::out_of_range("no described GPU of that kind");
  return *found;
}

cuda::CudnnTarget target_of(const DescribedGpu& gpu) {
  const nlohmann::json properties{{"deviceName", gpu.name},
                                  {"deviceVer", 10 * gpu.compute_capability},
                                  {"driverVer", 13000},
                                  {"cudaDeviceId", 0},
                                  {"pciDeviceId", 0},
                                  {"isTccDriver", 0},
                                  {"supportCoopLaunch", 1},
                                  {"multiProcessorCount", gpu.multiprocessors},
                                  {"warpSize", 32},
                                  {"maxGridSize", {2147483647, 65535, 65535}},
                                  {"maxBlockSize", {1024, 1024, 64}},
                                  {"maxThreadsPerBlock", 1024},
                                  {"maxThreadsPerSM", gpu.threads_per_multiprocessor},
                                  {"maxCtasPerSM", gpu.blocks_per_multiprocessor},
                                  {"regsPerBlock", 65536},
                                  {"maxRegistersPerSM", 65536},
                                  {"maxSharedMemoryPerBlock", 49152},
                                  {"maxSharedMemoryPerBlockOptin", gpu.shared_memory_optin},
                                  {"reservedSharedMemoryPerBlock", 1024},
                                  {"smClockRateKHz", gpu.clock_khz},
                                  {"memClockRateKHz", gpu.memory_clock_khz},
                                  {"l2CacheSize", gpu.l2_bytes},
                                  {"totalGlobalMem", gpu.memory_bytes}};
  return cuda::target_of(properties.dump());
}

}  // namespace parbench::test
