// The stand-in itself: what a careful driver would refuse is refused, and what is not ordered
// happens in any order.
#include "tests/cuda_stand_in/stand_in.h"

#include <cublasLt.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

namespace parbench::stand_in {
namespace {

using testing::HasSubstr;

/// A stream of a device, and a gate that keeps what is enqueued behind it.
class Gated {
 public:
  explicit Gated(int device = 0) {
    EXPECT_EQ(cudaSetDevice(device), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  ~Gated() {
    open_ = true;
    (void)cudaStreamSynchronize(stream_);
    (void)cudaStreamDestroy(stream_);
    (void)cudaGetLastError();
  }
  Gated(const Gated&) = delete;
  Gated& operator=(const Gated&) = delete;

  void close() {
    EXPECT_EQ(launch(stream_,
                     [this] {
                       while (!open_) std::this_thread::yield();
                     }),
              cudaSuccess);
  }
  void open() { open_ = true; }
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  std::atomic<bool> open_ = false;
  cudaStream_t stream_ = nullptr;
};

cudaEvent_t make_event(unsigned int flags = cudaEventDefault) {
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&event, flags), cudaSuccess);
  return event;
}

TEST(StandIn, RunsStreamsIndependentlyAndWaitsForEvents) {
  Gated first;
  const Gated second;
  cudaEvent_t event = make_event();
  std::atomic<int> value = 0;
  first.close();
  (void)launch(first.get(), [&] { value = 1; });
  EXPECT_EQ(cudaEventRecord(event, first.get()), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  (void)launch(second.get(), [&] { value = 7; });
  EXPECT_EQ(cudaStreamSynchronize(second.get()), cudaSuccess);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(cudaStreamWaitEvent(second.get(), event, 0), cudaSuccess);
  int seen = 0;
  (void)launch(second.get(), [&] { seen = value; });
  EXPECT_EQ(cudaStreamQuery(second.get()), cudaErrorNotReady);
  first.open();
  EXPECT_EQ(cudaStreamSynchronize(second.get()), cudaSuccess);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST(StandIn, WaitsForCopiesOnlyWhereTheDocumentationSaysSo) {
  Gated stream;
  void* device = nullptr;
  void* pinned = nullptr;
  EXPECT_EQ(cudaMalloc(&device, sizeof(int)), cudaSuccess);
  EXPECT_EQ(cudaHostAlloc(&pinned, sizeof(int), cudaHostAllocPortable), cudaSuccess);
  auto& host = *static_cast<int*>(pinned);
  host = 0;
  const auto copy = [&](void* to, const void* from) {
    EXPECT_EQ(cudaMemcpyAsync(to, from, sizeof(int), cudaMemcpyDefault, stream.get()), cudaSuccess);
  };
  stream.close();
  int pageable = 1;
  copy(device, &pageable);
  pageable = 2;
  EXPECT_NE(*static_cast<int*>(device), 1);
  copy(pinned, device);
  EXPECT_EQ(host, 0);
  stream.open();
  copy(&pageable, device);
  EXPECT_EQ(pageable, 1);
  EXPECT_EQ(host, 1);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST(StandIn, FillsTheTargetWithNansUntilACopyArrives) {
  void* device = nullptr;
  void* other = nullptr;
  EXPECT_EQ(cudaMalloc(&device, sizeof(float)), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&other, sizeof(float)), cudaSuccess);
  const Gated stream;
  const auto read = [&] {
    float value = 0;
    EXPECT_EQ(cudaMemcpyAsync(&value, device, sizeof value, cudaMemcpyDefault, stream.get()),
              cudaSuccess);
    return value;
  };
  EXPECT_EQ(cudaMemsetAsync(device, 0, sizeof(float), stream.get()), cudaSuccess);
  EXPECT_EQ(read(), 0);
  hold_copies(true);
  const float one = 1;
  EXPECT_EQ(cudaMemcpy(device, &one, sizeof one, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_TRUE(std::isnan(read()));
  hold_copies(false);
  EXPECT_EQ(cudaFree(other), cudaSuccess);  // waits for all copies
  EXPECT_EQ(read(), 1);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

/// Whether cuBLASLt has the algorithms that need vectors for a product of f32 with these addresses.
bool has_vectors(std::uint32_t alignment, std::int64_t next_column, std::uintptr_t bias) {
  cublasLtMatmulDescOpaque_t product{};
  cublasLtMatrixLayoutOpaque_t matrix{};
  cublasLtMatmulPreferenceOpaque_t preference{};
  (void)cublasLtMatmulDescInit(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  (void)cublasLtMatrixLayoutInit(&matrix, CUDA_R_32F, 4, 4, next_column);
  (void)cublasLtMatmulPreferenceInit(&preference);
  for (const auto which :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    (void)cublasLtMatmulPreferenceSetAttribute(&preference, which, &alignment, sizeof alignment);
  }
  if (bias != 0) {
    const cublasLtEpilogue_t adds = CUBLASLT_EPILOGUE_BIAS;
    (void)cublasLtMatmulDescSetAttribute(&product, CUBLASLT_MATMUL_DESC_EPILOGUE, &adds,
                                         sizeof adds);
    (void)cublasLtMatmulDescSetAttribute(&product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                         sizeof bias);
  }
  cublasLtHandle_t handle = nullptr;
  (void)cublasLtCreate(&handle);
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  EXPECT_EQ(cublasLtMatmulAlgoGetHeuristic(handle, &product, &matrix, &matrix, &matrix, &matrix,
                                           &preference, 1, &found, &count),
            CUBLAS_STATUS_SUCCESS);
  std::int32_t number = 0;
  std::size_t written = 0;
  (void)cublasLtMatmulAlgoConfigGetAttribute(&found.algo, CUBLASLT_ALGO_CONFIG_ID, &number,
                                             sizeof number, &written);
  (void)cublasLtDestroy(handle);
  return number == 21;
}

TEST(StandIn, OffersVectorsOnlyForAlignedProducts) {
  EXPECT_TRUE(has_vectors(16, 4, 0));
  EXPECT_TRUE(has_vectors(16, 8, 32));
  EXPECT_FALSE(has_vectors(4, 4, 0));
  EXPECT_FALSE(has_vectors(16, 5, 0));
  EXPECT_FALSE(has_vectors(16, 4, 4));
}

TEST(StandIn, RefusesHandlesOfOtherContexts) {
  const Gated other(1);
  const Gated stream(0);
  cudaEvent_t event = make_event();
  EXPECT_EQ(launch(other.get(), [] {}), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, other.get()), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, stream.get()), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other.get(), event, 0), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST(StandIn, TakesTimesOfEventsThatHaveThem) {
  const Gated stream;
  cudaEvent_t begin = make_event();
  cudaEvent_t end = make_event();
  cudaEvent_t ordering = make_event(cudaEventDisableTiming);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorInvalidResourceHandle);
  for (cudaEvent_t event : {begin, end, ordering}) (void)cudaEventRecord(event, stream.get());
  EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, ordering), cudaErrorInvalidResourceHandle);
  for (cudaEvent_t event : {begin, end, ordering}) (void)cudaEventDestroy(event);
}

TEST(StandIn, CapturesStreamsThatForkAndJoin) {
  const Gated origin;
  const Gated branch;
  cudaEvent_t fork = make_event();
  cudaEvent_t join = make_event();
  std::vector<int> order;
  std::mutex mutex;
  const auto add = [&](cudaStream_t stream, int number) {
    (void)launch(stream, [&, number] {
      const std::lock_guard lock(mutex);
      order.push_back(number);
    });
  };
  EXPECT_EQ(cudaStreamBeginCapture(origin.get(), cudaStreamCaptureModeRelaxed), cudaSuccess);
  add(origin.get(), 1);
  (void)cudaEventRecord(fork, origin.get());
  (void)cudaStreamWaitEvent(branch.get(), fork, 0);
  add(branch.get(), 2);
  EXPECT_EQ(cudaEventQuery(fork), cudaErrorCapturedEvent);
  cudaGraph_t graph = nullptr;
  (void)cudaEventRecord(join, branch.get());
  (void)cudaStreamWaitEvent(origin.get(), join, 0);
  add(origin.get(), 3);
  EXPECT_EQ(cudaStreamEndCapture(origin.get(), &graph), cudaSuccess);
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(cudaStreamWaitEvent(origin.get(), join, 0), cudaErrorCapturedEvent);
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, origin.get()), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, origin.get()), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(origin.get()), cudaSuccess);
  EXPECT_EQ(order, (std::vector{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (cudaEvent_t event : {fork, join}) (void)cudaEventDestroy(event);
}

TEST(StandIn, RefusesWhatACaptureMustNotDo) {
  const Gated origin;
  const Gated branch;
  cudaEvent_t before = make_event();
  cudaEvent_t fork = make_event();
  (void)cudaEventRecord(before, branch.get());
  cudaGraph_t graph = nullptr;
  const auto begin = [&] {
    return cudaStreamBeginCapture(origin.get(), cudaStreamCaptureModeRelaxed);
  };
  ASSERT_EQ(begin(), cudaSuccess);
  (void)cudaEventRecord(fork, origin.get());
  (void)cudaStreamWaitEvent(branch.get(), fork, 0);
  (void)launch(branch.get(), [] {});
  EXPECT_EQ(cudaStreamEndCapture(branch.get(), &graph), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(cudaStreamEndCapture(origin.get(), &graph), cudaErrorStreamCaptureUnjoined);
  ASSERT_EQ(begin(), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(origin.get(), before, 0), cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(cudaStreamEndCapture(origin.get(), &graph), cudaErrorStreamCaptureInvalidated);
  ASSERT_EQ(begin(), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(origin.get()), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(origin.get(), &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  for (cudaEvent_t event : {before, fork}) (void)cudaEventDestroy(event);
}

TEST(StandIn, InjectsFailures) {
  void* memory = nullptr;
  fail_allocation(2);
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaErrorMemoryAllocation);
  const Gated stream;
  lose_devices(1);
  (void)launch(stream.get(), [] {});
  EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaErrorIllegalAddress);
  recover();
  EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
}

using StandInDeathTest = testing::Test;

TEST(StandInDeathTest, EndsAtUsesAfterDestroy) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  cudaEvent_t event = make_event();
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_DEATH((void)cudaEventQuery(event), "cudaEventQuery: the event was destroyed");
  EXPECT_DEATH((void)cudaFree(&event), "cudaFree: no address that was allocated so");
  void* memory = nullptr;
  (void)cudaMalloc(&memory, 16);
  EXPECT_DEATH(static_cast<volatile char*>(memory)[256] = 1, "");
  const Gated stream;
  EXPECT_DEATH((void)cudaMemsetAsync(memory, 0, 17, stream.get()),
               "the bytes exceed an allocation");
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST(StandInDeathTest, EndsAtArgumentsThatAKernelCannotAccess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Gated other(1);
  void* elsewhere = nullptr;
  EXPECT_EQ(cudaMalloc(&elsewhere, 64), cudaSuccess);
  const Gated stream;
  void* here = nullptr;
  void* freed = nullptr;
  EXPECT_EQ(cudaMalloc(&here, 64), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&freed, 64), cudaSuccess);
  EXPECT_EQ(cudaFree(freed), cudaSuccess);
  int pageable = 0;
  const auto check = [&](const void* address, bool is_pointer) {
    check_arguments(stream.get(), {{reinterpret_cast<std::uintptr_t>(address), is_pointer}});
  };
  check(here, true);
  check(static_cast<const char*>(here) + 64, true);
  check(nullptr, true);
  check(&pageable, false);
  EXPECT_DEATH(check(&pageable, true), "a kernel's argument: memory of no device");
  EXPECT_DEATH(check(freed, true), "memory that was freed");
  EXPECT_DEATH(check(freed, false), "memory that was freed");
  EXPECT_DEATH(check(elsewhere, false), "memory of another device, without peer access");
  check_device_memory("a product", 1, elsewhere, 64);
  EXPECT_DEATH(check_device_memory("a product", 0, elsewhere, 64),
               "a product: memory of another device, without peer access");
  EXPECT_DEATH(check_device_memory("a product", 0, &pageable, 4), "an address of no device");
  EXPECT_EQ(cudaFree(here), cudaSuccess);
  EXPECT_EQ(cudaFree(elsewhere), cudaSuccess);
}

TEST(StandInDeathTest, EndsWhereAHostFunctionCallsTheRuntime) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        const Gated stream;
        (void)cudaLaunchHostFunc(
            stream.get(), [](void* /*data*/) { (void)cudaFree(nullptr); }, nullptr);
        (void)cudaStreamSynchronize(stream.get());
      },
      "cudaFree: called by a host function");
}

}  // namespace
}  // namespace parbench::stand_in
