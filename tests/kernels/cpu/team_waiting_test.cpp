// How long OpenMP teams wait, measured on real teams and on oneDNN's.
#include "kernels/cpu/runtime/team_waiting.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "kernels/machine/machine.h"

namespace parbench::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

void spin_for(milliseconds duration) {
  const auto end = Clock::now() + duration;
  while (Clock::now() < end) {
  }
}

/// Share of the time of a team of two, while it does this, in which a thread has no work.
template <class Work>
double waiting_share(const Work& work) {
  const TeamMeter meter;
  const auto begin = Clock::now();
  work();
  const std::chrono::nanoseconds whole = Clock::now() - begin;
  return std::chrono::duration<double>(meter.waiting(whole, 2)) /
         std::chrono::duration<double>(whole);
}

TEST(TeamMeter, CountsAThreadThatHasEndedItsPart) {
  const double share = waiting_share([] {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) spin_for(milliseconds(20));
  });
  EXPECT_GT(share, 0.45);
}

TEST(TeamMeter, CountsAThreadAtABarrier) {
  const double share = waiting_share([] {
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 0) spin_for(milliseconds(20));
#pragma omp barrier
    }
  });
  EXPECT_GT(share, 0.45);
}

TEST(TeamMeter, CountsTheOthersWhileOneThreadWorksByItself) {
  const double share = waiting_share([] { spin_for(milliseconds(20)); });
  EXPECT_NEAR(share, 0.5, 1e-6);
}

TEST(TeamMeter, DoesNotCountThreadsThatWork) {
  std::atomic<int> arrived{0};
  const double share = waiting_share([&] {
#pragma omp parallel num_threads(2)
    {
      ++arrived;
      while (arrived < 2) {
      }
      spin_for(milliseconds(100));
    }
  });
  EXPECT_LT(share, 0.4);
}

TEST(TeamMeter, MeasuresItsOwnThreadAndNothingAfterItsEnd) {
  { const TeamMeter ended; }
  int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
  threads += 1;
  EXPECT_EQ(threads, 2);
}

/// Without the regions of oneDNN, a product on two cores would seem to be the work of one.
TEST(TeamMeter, SeesTheRegionsOfOneDnn) {
  const Machine machine;
  const std::unique_ptr<Device> device = std::move(machine.open("cpu:0").front());
  if (device->info().cores.size() < 2) GTEST_SKIP() << "one core: there is no team";
  const std::unique_ptr<Stream> stream = device->make_stream(StreamKind::compute);
  const std::unique_ptr<Op> product =
      device->prepare(Gemm{.m = 768, .n = 768, .k = 768}, stream->threads());
  stream->reserve_scratch(product->scratch_bytes());
  std::vector<Buffer> buffers;
  std::vector<BufferView> views;
  buffers.reserve(product->arguments().size());  // views refer to them
  for (const Argument& argument : product->arguments()) {
    buffers.push_back(device->allocate(argument.tensor.bytes, MemoryKind::device));
    std::fill_n(buffers.back().data(), buffers.back().bytes(), std::byte{0});
    views.push_back(buffers.back());
  }
  constexpr int executions = 10;
  ActivityLog log(executions);
  stream->log_activities(&log);
  stream->set_tag(1);
  for (int i = 0; i < executions; ++i) product->enqueue(*stream, views);
  stream->synchronize();
  stream->log_activities(nullptr);
  double smallest = 1;
  for (const Activity& activity : log.activities()) {
    smallest = std::min(smallest, std::chrono::duration<double>(activity.team_waiting) /
                                      (activity.end - activity.begin));
  }
  EXPECT_LT(smallest, 0.4) << "of a team of " << stream->threads();
}

}  // namespace
}  // namespace parbench::cpu
