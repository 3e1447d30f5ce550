// The CUDA backend on the stand-in: what only a strict or failing driver shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/core/graph.h"
#include "tests/cuda_stand_in/stand_in.h"
#include "tests/kernels/harness.h"
#include "tests/kernels/ops/maps/map_programs.h"
#include "tests/support/machine.h"

namespace parbench::test {
namespace {

class CudaOnStandIn : public testing::Test {
 protected:
  CudaOnStandIn() {
    std::string why;
    bench_ = Bench::open({"cuda:0", 1}, why);
    EXPECT_TRUE(bench_.has_value()) << why;
  }
  ~CudaOnStandIn() override { stand_in::recover(); }

  [[nodiscard]] const Bench& bench() const { return *bench_; }
  void close() { bench_.reset(); }

 private:
  std::optional<Bench> bench_;
};

// They are copied from pageable memory, and streams have no order with such a copy by cudaMemcpy.
TEST_F(CudaOnStandIn, ValuesOfAMapAreOnTheDeviceWhenItIsPlanned) {
  ProgramWriter steps;
  steps.apply(ElementOp::addition, steps.input(0), steps.input(1));
  StridedTensor values = dense({4});
  values.values = std::make_shared<const std::vector<float>>(std::vector{1.0F, 2.0F, 3.0F, 4.0F});
  const Map sum{.extents = {4},
                .inputs = {values, dense({4})},
                .program = steps.program(),
                .output = dense({4})};
  const GuardedTensor source(bench(), canonical({4}));
  const GuardedTensor destination(bench(), canonical({4}));
  source.write({10, 20, 30, 40});
  stand_in::hold_copies(true);
  const auto op = bench().prepare(sum);
  bench().run(*op, {source.view(), destination.view()});
  const Buffer host = bench().device().allocate(4 * sizeof(float), MemoryKind::pinned);
  bench().stream().copy(host, destination.view());
  bench().stream().synchronize();
  stand_in::hold_copies(false);
  std::vector<float> got(4);
  std::memcpy(got.data(), host.data(), host.bytes());
  EXPECT_EQ(got, (std::vector{11.0F, 22.0F, 33.0F, 44.0F}));
}

TEST_F(CudaOnStandIn, GoesOnAfterAnAllocationThatFailed) {
  stand_in::fail_allocation(1);
  EXPECT_THROW((void)bench().device().allocate(64, MemoryKind::device), OutOfMemory);
  const Buffer memory = bench().device().allocate(64, MemoryKind::device);
  Buffer grown = bench().device().allocate(64, MemoryKind::device);
  stand_in::fail_allocation(1);
  EXPECT_THROW(bench().device().grow(grown, 128, MemoryKind::device), OutOfMemory);
  EXPECT_EQ(grown.bytes(), 64U);
  bench().stream().copy(grown, memory);
  bench().stream().synchronize();
}

TEST_F(CudaOnStandIn, SaysThatTheDeviceIsLost) {
  const Buffer from = bench().device().allocate(64, MemoryKind::device);
  const Buffer to = bench().device().allocate(64, MemoryKind::device);
  stand_in::lose_devices(1);
  bench().stream().copy(to, from);
  EXPECT_THAT([&] { bench().stream().synchronize(); },
              testing::ThrowsMessage<DeviceLost>(testing::HasSubstr(" at kernels/cuda/")));
  EXPECT_THROW((void)bench().device().allocate(64, MemoryKind::device), DeviceLost);
  EXPECT_THROW((void)bench().prepare(Reorder{canonical({4}), canonical({4})}), DeviceLost);
  EXPECT_THROW((void)bench().stream().capture([] {}), DeviceLost);
}

TEST_F(CudaOnStandIn, CapturesNothingThatWaits) {
  const Buffer from = bench().device().allocate(64, MemoryKind::device);
  const Buffer to = bench().device().allocate(64, MemoryKind::device);
  EXPECT_THROW((void)bench().stream().capture([&] { bench().stream().synchronize(); }),
               Unsupported);
  const auto graph = bench().stream().capture([&] { bench().stream().copy(to, from); });
  graph->launch();
  bench().stream().synchronize();
}

/// Opens devices, and uses a bit of everything on each.
void use_devices(const char* names) {
  for (const auto& device : machine().open(names, {})) {
    const auto stream = device->make_stream(StreamKind::compute, 0, 1);
    const auto event = device->make_event(EventKind::timing);
    const auto shared = device->make_shared_event(device->allocate(4, MemoryKind::pinned));
    const auto spin = device->prepare(Spin{.duration = std::chrono::microseconds(1)}, 1);
    const auto product = device->prepare(Gemm{4, 4, 4}, 1);
    const auto gradient = device->prepare(ConvolutionBackwardWeights{{1, 16, 8, 8, 16, 3, 2}}, 1);
    const auto lstm = device->prepare(LstmForward{{1, 2, 4, 4}}, 1);
    stream->reserve_scratch(std::max(gradient->scratch_bytes(), lstm->scratch_bytes()));
    const Buffer counter = device->allocate(sizeof(std::uint64_t), MemoryKind::device);
    const auto graph =
        stream->capture([&] { spin->enqueue(*stream, std::vector<BufferView>{counter}); });
    graph->launch();
    stream->record(*event);
    stream->record(*shared);
    EXPECT_GT(stand_in::live_objects().at("stream"), 0);
    stream->synchronize();
  }
}

constexpr const char* device_sets[] = {"cuda:0", "cuda:0/0,cuda:0/1", "cuda:0,cuda:1"};

TEST_F(CudaOnStandIn, GivesBackAllThatItTook) {
  close();
  const auto before = stand_in::live_objects();
  for (const char* names : device_sets) use_devices(names);
  EXPECT_EQ(stand_in::live_objects(), before);
}

/// Calls `use` with a failure at the first place, at the second, and so on until it meets none.
template <class Failure, class Inject, class Use>
int failures_of(const Inject& inject, const Use& use) {
  constexpr int max_failures = 200;
  for (int number = 1; number < max_failures; ++number) {
    SCOPED_TRACE(number);
    inject(number);
    try {
      use();
      stand_in::recover();
      return number - 1;
    } catch (const Failure&) {
      stand_in::recover();
    }
  }
  return max_failures;
}

TEST_F(CudaOnStandIn, GivesBackAllWhicheverAllocationFails) {
  close();
  const auto before = stand_in::live_objects();
  for (const char* names : device_sets) {
    SCOPED_TRACE(names);
    const int failures = failures_of<OutOfMemory>(stand_in::fail_allocation, [&] {
      EXPECT_EQ(stand_in::live_objects(), before);
      use_devices(names);
    });
    EXPECT_GT(failures, 3);
  }
  EXPECT_EQ(stand_in::live_objects(), before);
}

TEST_F(CudaOnStandIn, SaysThatTheDeviceIsLostWheneverItIs) {
  close();
  const auto before = stand_in::live_objects();
  for (const char* names : device_sets) {
    SCOPED_TRACE(names);
    const int failures = failures_of<DeviceLost>(stand_in::lose_devices, [&] {
      EXPECT_EQ(stand_in::live_objects(), before);
      use_devices(names);
    });
    EXPECT_GT(failures, 3);
  }
  EXPECT_EQ(stand_in::live_objects(), before);
}

}  // namespace
}  // namespace parbench::test
