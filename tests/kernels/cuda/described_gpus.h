// GPUs that cuDNN can plan for although this machine does not have them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/cuda/cudnn/cudnn_graph.h"

namespace parbench::test {

/// The properties of a GPU that cuDNN's engines and heuristics ask for, from NVIDIA's data sheets
/// and the tables of the CUDA programming guide.
struct DescribedGpu {
  std::string name;
  int compute_capability = 0;  // 90 for 9.0
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;
  int blocks_per_multiprocessor = 0;
  int shared_memory_optin = 0;  // bytes, of one block
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int l2_bytes = 0;
  std::size_t memory_bytes = 0;
};

/// One each of sm_75, sm_80, sm_90 and sm_100.
[[nodiscard]] const std::vector<DescribedGpu>& described_gpus();

/// Throws std::out_of_range for a compute capability that none of them has.
[[nodiscard]] const DescribedGpu& described_gpu(int compute_capability);

/// What cuDNN plans for. Its keys were found by asking cuDNN 9.19 for what it misses; its version
/// of the driver is that of CUDA 13.0.
[[nodiscard]] cuda::CudnnTarget target_of(const DescribedGpu& gpu);

}  // namespace parbench::test
