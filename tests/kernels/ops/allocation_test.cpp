// A planned operation allocates nothing worth mentioning while it runs, in any thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "tests/kernels/ops/cases.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PARBENCH_COUNTS_ALLOCATIONS 1
#else
#define PARBENCH_COUNTS_ALLOCATIONS 0
#endif

#if PARBENCH_COUNTS_ALLOCATIONS

namespace {

// Book-keeping of a library (a shared pointer, a map's node) is smaller; working memory is larger.
constexpr std::size_t noteworthy = 4096;
std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

void note(std::size_t bytes) {
  if (bytes >= noteworthy && counting.load(std::memory_order_relaxed)) ++allocations;
}

}  // namespace

// The program's own definitions stand before the C library's, for every shared library too.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the C library's own names
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
// NOLINTEND(bugprone-reserved-identifier)

void* malloc(std::size_t bytes) {
  note(bytes);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  note(count * bytes);
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  note(bytes);
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  note(bytes);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  note(bytes);
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
}

namespace parbench::test {
namespace {

// Sizes of a real model, where a kernel would want working memory.
std::vector<OperationCase> model_cases() {
  return {
      {"resnet_first", ConvolutionForward{{4, 3, 64, 64, 64, 7, 2, 3, 1}}},
      {"resnet_3x3", ConvolutionForward{{4, 128, 16, 16, 128, 3, 1, 1, 1}}},
      {"resnet_3x3_data", ConvolutionBackwardData{{4, 128, 16, 16, 128, 3, 1, 1, 1}}},
      {"resnet_weights",
       ConvolutionBackwardWeights{{4, 256, 16, 16, 128, 1, 1, 0, 1}, DType::f32, false, true}},
      {"resnet_linear", LinearForward{{24, 2048, 1000}}},
      {"resnet_linear_weights", LinearBackwardWeights{{24, 2048, 1000}, DType::f32, true}},
      {"projection_data", LinearBackwardData{{700, 650, 1000}}},
      {"branch_convolution", ConvolutionForward{{2, 16, 32, 32, 16, 3, 1, 1, 1}, DType::f32, true}},
      {"branch_grouped", ConvolutionForward{{2, 64, 32, 32, 64, 3, 1, 1, 4}, DType::f32, true}},
      {"gemm_512", Gemm{512, 512, 512, DType::f32, false, false, true}},
      {"gemm_512_transposed", Gemm{512, 512, 512, DType::f32, true, true}},
  };
}

std::vector<OperationCase> operation_and_model_cases() {
  std::vector<OperationCase> cases = operation_cases();
  const std::vector<OperationCase> more = model_cases();
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

// oneDNN's general matrix product allocates its packing buffers at every call. It stands after
// convolutions whose channels fill no block, and without AVX-512 after matrix products.
bool allocates_by_itself(const Op& op) {
  return op.implementation().find("gemm:jit") != std::string::npos;
}

/// Returns the number of allocations in `run`. A GPU's driver allocates memory of its own at times,
/// so there it is the minimum of three runs: what is planned wrongly allocates in each.
template <class Run>
int allocations_in(const Lane& lane, const Run& run) {
  const int runs = lane.device.starts_with("cuda") ? 3 : 1;
  int min = std::numeric_limits<int>::max();
  for (int i = 0; i < runs; ++i) {
    const int before = allocations;
    counting = true;
    run();
    counting = false;
    min = std::min(min, allocations - before);
  }
  return min;
}

class Allocation : public testing::TestWithParam<Lane> {};

TEST_P(Allocation, CounterSeesAllocations) {
  counting = true;
  const int before = allocations;
  std::vector<char> memory(noteworthy);
  EXPECT_NE(memory.data(), nullptr);
  counting = false;
  EXPECT_GT(allocations, before);
}

TEST_P(Allocation, RunningAllocatesNothing) {
  std::string why;
  const auto bench = Bench::open(GetParam(), why);
  if (!bench) SKIP_WITHOUT_DEVICES(GetParam().device, why);
  for (const OperationCase& one : operation_and_model_cases()) {
    SCOPED_TRACE(one.name);
    try {
      Trial trial(*bench, one.desc, one.in_place);
      if (allocates_by_itself(trial.op())) continue;
      (void)trial.run(trial.draw_inputs(1));
      const std::vector<BufferView> views = trial.views();
      bench->run(trial.op(), views);
      EXPECT_EQ(allocations_in(GetParam(), [&] { bench->run(trial.op(), views); }), 0)
          << trial.op().implementation();
    } catch (const Unsupported&) {
      continue;  // the conformance suite reports it
    }
  }
}

TEST_P(Allocation, LaunchingAGraphAllocatesNothing) {
  std::string why;
  const auto bench = Bench::open(GetParam(), why);
  if (!bench) SKIP_WITHOUT_DEVICES(GetParam().device, why);
  constexpr std::int64_t count = 1000;
  constexpr int tasks = 3000;  // more commands than a stream's queue holds at first
  const auto op = bench->prepare(Sgd{.count = count});
  Stream& stream = bench->stream();
  stream.reserve_scratch(op->scratch_bytes());
  const Buffer memory = bench->device().allocate(4 * count, MemoryKind::device);
  const Buffer gradient = bench->device().allocate(4 * count, MemoryKind::device);
  const std::vector<BufferView> views{memory, gradient};
  bench->run(*op, views);
  const auto graph = stream.capture([&] {
    for (int i = 0; i < tasks; ++i) op->enqueue(stream, views);
  });
  const auto launch = [&] {
    graph->launch();
    stream.synchronize();
  };
  launch();
  EXPECT_EQ(allocations_in(GetParam(), launch), 0);
}

INSTANTIATE_TEST_SUITE_P(Lanes, Allocation, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test

#else

TEST(Allocation, RunningAllocatesNothing) {
  GTEST_SKIP() << "the C library or a sanitizer does not let a test count allocations";
}

#endif
