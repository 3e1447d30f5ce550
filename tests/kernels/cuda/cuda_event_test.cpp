// Events of CUDA streams. Needs a GPU: without a driver every call of CUDA returns the same error.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/core/stream.h"
#include "kernels/ops/ops.h"
#include "tests/kernels/harness.h"

namespace parbench::cuda {
namespace {

TEST(CudaEvents, ThatAreNotReachedLeaveNoErrorBehind) {
  const test::Lane gpu{"cuda:0", 1};
  std::string why;
  const auto bench = test::Bench::open(gpu, why);
  if (!bench) SKIP_WITHOUT_DEVICES(gpu.device, why);
  Stream& stream = bench->stream();
  const auto spin = bench->prepare(Spin{.duration = std::chrono::milliseconds(100)});
  stream.reserve_scratch(spin->scratch_bytes());
  const Buffer counter = bench->device().allocate(sizeof(std::uint64_t), MemoryKind::device);
  const auto event = bench->device().make_event(EventKind::ordering);
  spin->enqueue(stream, std::vector<BufferView>{counter});
  stream.record(*event);
  event->check();
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  stream.synchronize();
}

}  // namespace
}  // namespace parbench::cuda
