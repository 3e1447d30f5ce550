// The CUDA backend on the stand-in: what only a strict or failing driver shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kernels/base/bfloat16.h"
#include "kernels/base/error.h"
#include "kernels/core/activity.h"
#include "kernels/core/graph.h"
#include "kernels/core/ranks/host_worker.h"
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

TEST_F(CudaOnStandIn, AllocatesPinnedMemoryNearTheDevice) {
  if (syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0) != 0) {
    GTEST_SKIP() << "the system does not let this process choose NUMA nodes";
  }
  const Buffer pinned = bench().device().allocate(64, MemoryKind::pinned);
  const Buffer other = bench().device().allocate(64, MemoryKind::device);
  EXPECT_TRUE(stand_in::is_placed(pinned.data()));
  EXPECT_FALSE(stand_in::is_placed(other.data())) << "the policy remains";
}

/// A variable of the environment during the lifetime of this object.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* earlier = getenv(name)) earlier_ = earlier;
    setenv(name, value, 1);
  }
  ~Variable() {
    if (earlier_) {
      setenv(name_, earlier_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> earlier_;
};

struct LinksOf {
  const char* topology;
  std::vector<std::string> peers;  // peers of the first device
  const char* within_pair;
  const char* between_pairs;
};

TEST(LinksOnStandIn, AreThoseOfTheTopology) {
  const Variable devices("PARBENCH_STAND_IN_DEVICES", "3");
  const LinksOf all[] = {{"nvlink-switch",
                          {"cuda:1", "cuda:2"},
                          "NVLink 4.0 × 18, peer access",
                          "NVLink 4.0 × 18, peer access"},
                         {"nvlink-pairs",
                          {"cuda:1"},
                          "NVLink 4.0 × 4, peer access",
                          "PCIe, across NUMA nodes, no peer access"},
                         {"pcie-switches",
                          {"cuda:1"},
                          "PCIe, one switch, peer access",
                          "PCIe, within a NUMA node, no peer access"},
                         {"no-peers",
                          {},
                          "PCIe, across NUMA nodes, no peer access",
                          "PCIe, across NUMA nodes, no peer access"}};
  for (const LinksOf& expected : all) {
    SCOPED_TRACE(expected.topology);
    const Variable topology("PARBENCH_STAND_IN_TOPOLOGY", expected.topology);
    const auto opened = Machine().open("cuda:0,cuda:1,cuda:2", {});
    EXPECT_EQ(opened[0]->info().peers, expected.peers);
    EXPECT_EQ(opened[0]->link_to(*opened[1]), expected.within_pair);
    EXPECT_EQ(opened[0]->link_to(*opened[2]), expected.between_pairs);
    EXPECT_EQ(opened[2]->link_to(*opened[0]), expected.between_pairs);
  }
}

/// Copies numbers from one device to another, and returns what arrives.
std::vector<float> copied_between(Device& from, Device& to) {
  const std::vector<float> sent{1, 2, 3, 4};
  const std::size_t bytes = sent.size() * sizeof(float);
  const auto stream = from.make_stream(StreamKind::copy);
  const Buffer source = from.allocate(bytes, MemoryKind::device);
  const Buffer target = to.allocate(bytes, MemoryKind::device);
  const Buffer host = to.allocate(bytes, MemoryKind::pinned);
  std::memcpy(host.data(), sent.data(), bytes);
  ActivityLog log(3);
  stream->log_activities(&log);
  const Buffer* const way[] = {&host, &source, &target, &host};
  for (ActivityTag tag = 1; tag < std::size(way); ++tag) {
    stream->set_tag(tag);
    stream->copy(*way[tag], *way[tag - 1]);
  }
  stream->synchronize();
  EXPECT_EQ(log.activities().size(), 3U);
  EXPECT_EQ(log.dropped(), 0U);
  stream->log_activities(nullptr);
  std::vector<float> received(sent.size());
  std::memcpy(received.data(), host.data(), bytes);
  return received;
}

TEST(CopiesOnStandIn, BetweenDevicesAreLogged) {
  const auto devices = Machine().open("cuda:0,cuda:1", {});
  EXPECT_EQ(copied_between(*devices[0], *devices[1]), (std::vector{1.0F, 2.0F, 3.0F, 4.0F}));
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

/// A copy stream and numbers of f32 on each of these devices.
struct CollectiveLanes {
  explicit CollectiveLanes(const std::vector<Device*>& members, std::size_t numbers = 2) {
    for (Device* member : members) {
      lanes.push_back(streams.emplace_back(member->make_stream(StreamKind::copy)).get());
      memory.push_back(member->allocate(numbers * sizeof(float), MemoryKind::device));
    }
  }
  void gather(Communicator& by) const {
    by.enqueue(Collective::all_gather, lanes,
               std::vector<BufferView>(memory.begin(), memory.end()));
  }
  void synchronize() const {
    for (Stream* lane : lanes) lane->synchronize();
  }

  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<Stream*> lanes;
  std::vector<Buffer> memory;
};

TEST(CudaCommunicators, JoinSomeOfTheGpusInTheOrderGiven) {
  const Variable four("PARBENCH_STAND_IN_DEVICES", "4");
  const auto devices = machine().open("cuda:0,cuda:1,cuda:2,cuda:3", {});
  std::vector<Device*> members{devices[3].get(), devices[1].get()};
  const auto some = members.front()->make_communicator(members);
  ASSERT_NE(some, nullptr);
  const CollectiveLanes both(members);
  for (const Buffer& each : both.memory) {
    each.data()[0] = std::byte{3};
    each.data()[4] = std::byte{1};
  }
  both.memory[0].data()[4] = both.memory[1].data()[0] = std::byte{9};
  both.gather(*some);
  both.synchronize();
  for (const Buffer& each : both.memory) {
    EXPECT_EQ(each.data()[0], std::byte{3});
    EXPECT_EQ(each.data()[4], std::byte{1});
  }
}

/// Calls `use`, which makes the device load something, while a stream waits for a word of memory
/// that another thread writes after calls of the library. The driver may load a kernel while no
/// other thread can call it.
template <class Use>
void load_while_a_stream_waits(Device& device, const Use& use) {
  HostSignal signal(device.allocate(sizeof(std::uint32_t), MemoryKind::pinned));
  const std::uint32_t record = signal.shared_records()->announce();
  const auto event = device.make_event(EventKind::ordering);
  const auto waiting = device.make_stream(StreamKind::compute, 0, 1);
  waiting->record(*event);
  waiting->wait(signal);
  std::thread writer([&] {
    constexpr int calls = 100;
    for (int i = 0; i < calls; ++i) {
      event->check();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    signal.shared_records()->reach(record);
  });
  use();
  writer.join();
  waiting->synchronize();
}

TEST_F(CudaOnStandIn, LoadsNoKernelWhileAStreamWaitsForMemory) {
  load_while_a_stream_waits(bench().device(), [&] {
    const auto fill = bench().prepare(Fill{.count = 4});
    const Buffer memory = bench().device().allocate(4 * sizeof(float), MemoryKind::device);
    bench().run(*fill, {BufferView(memory)});
  });
}

TEST_F(CudaOnStandIn, BeginsNoCollectiveWhileAStreamWaitsForMemory) {
  const auto devices = machine().open("cuda:0,cuda:1", {});
  std::vector<Device*> members{devices[0].get(), devices[1].get()};
  const auto both = members.front()->make_communicator(members);
  ASSERT_NE(both, nullptr);
  for (const std::size_t numbers : {2, 2048}) {  // NCCL's algorithms depend on the size
    const CollectiveLanes lanes(members, numbers);
    load_while_a_stream_waits(*members.front(), [&] { lanes.gather(*both); });
    lanes.synchronize();
  }
}

TEST_F(CudaOnStandIn, BeginsNoCollectiveOfRanksWhileAStreamWaitsForMemory) {
  const auto device = std::move(machine().open("cuda:0", {}).front());
  const auto alone = device->join({.id = device->make_joining_id(), .rank = 0, .size = 1});
  for (const std::size_t numbers : {2, 2048}) {
    const CollectiveLanes lanes({device.get()}, numbers);
    load_while_a_stream_waits(*device, [&] { lanes.gather(*alone); });
    lanes.synchronize();
  }
}

/// A weight gradient of bf16 activations, its kernel, and who chose that.
struct FoundGradient {
  std::vector<float> values;
  std::string kernel;
  ChosenBy by;
};

/// Adds the gradient of small whole numbers, of which only the sums are not exact in bf16, to
/// ones.
FoundGradient gradient_added_to_ones(const DeviceOptions& options) {
  const ConvolutionShape shape{
      .batch = 4, .in_channels = 16, .height = 24, .width = 24, .out_channels = 16, .kernel = 3};
  const auto device = std::move(machine().open("cuda:0", options).front());
  const auto stream = device->make_stream(StreamKind::compute, 0, 1);
  const auto op = device->prepare(
      ConvolutionBackwardWeights{.shape = shape, .dtype = DType::bf16, .accumulate = true}, 1);
  std::vector<Buffer> memory;
  for (const Shape& one : {shape.source(), shape.destination()}) {
    const auto count = static_cast<std::size_t>(element_count(one));
    memory.push_back(device->allocate(2 * count, MemoryKind::device));
    auto* const values = reinterpret_cast<std::uint16_t*>(memory.back().data());
    for (std::size_t i = 0; i < count; ++i) values[i] = to_bf16(static_cast<float>(i * i % 7));
  }
  const auto count = static_cast<std::size_t>(element_count(shape.weights()));
  memory.push_back(device->allocate(count * sizeof(float), MemoryKind::device));
  auto* const sums = reinterpret_cast<float*>(memory.back().data());
  std::fill_n(sums, count, 1.0F);
  stream->reserve_scratch(op->scratch_bytes());
  const std::vector<BufferView> views(memory.begin(), memory.end());
  op->enqueue(*stream, views);
  stream->synchronize();
  return {{sums, sums + count}, op->implementation(), op->chosen_by()};
}

TEST(GradientsOnStandIn, AreRoundedOnlyIfTheyMayBe) {
  const FoundGradient exact = gradient_added_to_ones({});
  EXPECT_THAT(exact.kernel, testing::EndsWith(" on patches"));
  const FoundGradient rounded = gradient_added_to_ones({.round_gradients = true});
  EXPECT_THAT(rounded.kernel, testing::EndsWith(", rounded to bf16"));
  std::vector<float> expected;
  for (const float sum : exact.values) expected.push_back(1 + from_bf16(to_bf16(sum - 1)));
  EXPECT_EQ(rounded.values, expected);
  EXPECT_NE(rounded.values, exact.values);
  const FoundGradient tuned = gradient_added_to_ones({.autotune = true, .round_gradients = true});
  EXPECT_EQ(tuned.by, ChosenBy::measuring);
  const bool is_exact = tuned.kernel.ends_with(" on patches");
  EXPECT_EQ(tuned.values, is_exact ? exact.values : expected) << tuned.kernel;
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
      EXPECT_TRUE(stand_in::recover()) << "the failure was ignored";
      return number - 1;
    } catch (const Failure&) {
      stand_in::recover();
    }
  }
  ADD_FAILURE() << "each of " << max_failures << " attempts failed";
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
