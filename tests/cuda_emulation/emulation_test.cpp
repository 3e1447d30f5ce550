// The emulation itself: barriers, shuffles and shared memory behave as on a GPU, and what would
// hang or race there is found.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "kernels/cuda/device_code/arrival_counters.h"
#include "kernels/cuda/device_code/batch_norm/batch_norm_kernels.h"
#include "kernels/cuda/runtime/enqueue.h"
#include "tests/kernels/harness.h"

namespace parbench::cuda {
namespace {

constexpr unsigned int threads = 96;

/// Each block adds up its numbers: by halves in shared memory, then in a warp.
void sum_kernel(const double* numbers, double* sums, bool with_barriers) {
  __shared__ double shared[threads];
  const unsigned int me = threadIdx.y * blockDim.x + threadIdx.x;
  shared[me] = numbers[blockIdx.x * threads + me];
  if (with_barriers) __syncthreads();
  if (me >= emulation::warp_size) return;
  double sum = shared[me] + shared[me + 32] + shared[me + 64];
  for (unsigned int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xFFFFFFFFU, sum, distance);
  }
  if (me == 0) sums[blockIdx.x] = sum;
}

std::vector<double> sums_of(const std::vector<double>& numbers, bool with_barriers) {
  const auto blocks = static_cast<unsigned int>(numbers.size() / threads);
  std::vector<double> sums(blocks);
  enqueue(blocks, dim3(threads / 4, 4), nullptr, sum_kernel, numbers.data(), sums.data(),
          with_barriers);
  return sums;
}

TEST(CudaEmulation, AddsUpBlocks) {
  std::vector<double> numbers(std::size_t{2} * threads);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  EXPECT_EQ(sums_of(numbers, true), (std::vector<double>{95 * 48, 95 * 48 + 96 * 96}));
}

TEST(CudaEmulation, AMissingBarrierChangesResults) {
  std::vector<double> numbers(std::size_t{4} * threads);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  EXPECT_NE(sums_of(numbers, false), sums_of(numbers, true));
}

void exchange_kernel(unsigned int* partners) {
  const unsigned int me = threadIdx.x;
  partners[me] = __shfl_xor_sync(0xFFFFFFFFU, me, 1U);
  partners[me] += 100 * __shfl_down_sync(0xFFFFFFFFU, me, 2U);
}

// Beyond the warp a shuffle returns the own value, as on a GPU.
TEST(CudaEmulation, ExchangesInWarps) {
  std::vector<unsigned int> partners(40);
  enqueue(1, 40, nullptr, exchange_kernel, partners.data());
  EXPECT_EQ(partners[0], 1 + 100 * 2);
  EXPECT_EQ(partners[1], 0 + 100 * 3);
  EXPECT_EQ(partners[31], 30 + 100 * 31);
  EXPECT_EQ(partners[32], 33 + 100 * 34);
}

void divergent_kernel() {
  if (threadIdx.x < 3) __syncthreads();
}

TEST(CudaEmulationDeathTest, RefusesABarrierThatSomeThreadsPass) {
  EXPECT_DEATH(enqueue(1, 32, nullptr, divergent_kernel), "a thread waits at .*emulation_test.cpp");
}

void count_kernel(unsigned int* counter, unsigned int* last) {
  if (atomicInc(counter, gridDim.x - 1) == gridDim.x - 1) *last += 1;
}

TEST(CudaEmulation, CountsBlocksAndStartsAgain) {
  unsigned int counter = 0;
  unsigned int last = 0;
  for (unsigned int run = 1; run <= 2; ++run) {
    enqueue(7, 1, nullptr, count_kernel, &counter, &last);
    EXPECT_EQ(counter, 0U);
    EXPECT_EQ(last, run);
  }
}

void empty_kernel() {}

// The emulation runs blocks in the other order at every launch. The empty launch lets operations
// with an even number of launches meet both orders, too.
TEST(CudaEmulation, OfBatchNormalisationGivesEqualBitsInBothOrdersOfBlocks) {
  std::string why;
  const auto bench = test::Bench::open({"cuda:0"}, why);
  ASSERT_TRUE(bench.has_value()) << why;
  for (const OpDesc& desc : {OpDesc(BatchNormForward{{4, 64, 33, 31}}),
                             OpDesc(BatchNormForward{{4, 64, 33, 31}, DType::bf16})}) {
    test::Trial trial(*bench, desc);
    const test::Tensors inputs = trial.draw_inputs(1);
    const test::Tensors first = trial.run(inputs);
    EXPECT_EQ(trial.run(inputs), first);
    enqueue(1, 1, nullptr, empty_kernel);
    EXPECT_EQ(trial.run(inputs), first);
  }
}

// Every column of blocks has a counter for each group of slices, and one for the groups.
TEST(NormShape, NeedsNoMoreCountersThanAStreamHas) {
  constexpr std::int64_t scalar_block_channels = 32;
  for (const int multiprocessors : {1, 40, 132, 300}) {
    for (std::int64_t channels = 1; channels < 200'000; channels += channels / 7 + 1) {
      const NormShape shape = norm_shape(500'000, channels, multiprocessors);
      EXPECT_GE(shape.slices_of_group * shape.groups(), shape.slices);
      const std::int64_t columns = (channels + scalar_block_channels - 1) / scalar_block_channels;
      if (shape.slices > 1) {
        EXPECT_LE(columns * (shape.groups() + 1), arrival_counters)
            << channels << " channels, " << multiprocessors << " multiprocessors";
      }
    }
  }
}

}  // namespace
}  // namespace parbench::cuda
