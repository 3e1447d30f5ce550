// Events that streams of two backends order themselves by, on a CPU device and a stranger to it,
// and on a CPU device and a GPU.
#include "kernels/core/crossing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cpu/runtime/cpu_op.h"
#include "kernels/machine/machine.h"
#include "tests/kernels/harness.h"
#include "tests/support/cpu_devices.h"
#include "tests/support/other_device.h"

namespace parbench {
namespace {

using namespace std::chrono_literals;

Buffer word_at(std::uint32_t& word) {
  return {reinterpret_cast<std::byte*>(&word), sizeof word, MemoryKind::pinned, [](std::byte*) {}};
}

/// An event of no stream: the test reaches its records.
class HandMadeEvent final : public Event {
 public:
  explicit HandMadeEvent(std::uint32_t& word) : records(word_at(word)) {}
  double seconds_since(const Event&) const override { return 0; }
  SharedRecords* shared_records() override { return &records; }
  void check() const override {
    if (lost) throw DeviceLost("other", "the device of the event is lost");
  }

  SharedRecords records;
  bool lost = false;
};

TEST(SharedRecordsTest, AreReachedInTheirOrderAcrossTheEndOfTheNumbers) {
  std::uint32_t word = 7;
  SharedRecords records(word_at(word));
  EXPECT_EQ(word, 0U);
  EXPECT_EQ(records.announced(), 0U);
  EXPECT_TRUE(records.reached(0)) << "before the first record there is nothing to wait for";
  EXPECT_EQ(records.announce(), 1U);
  EXPECT_FALSE(records.reached(1));
  records.reach(1);
  EXPECT_TRUE(records.reached(1));

  constexpr std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
  records.reach(last);
  EXPECT_TRUE(records.reached(last - 1));
  EXPECT_FALSE(records.reached(0)) << "the record after the last number";
  records.reach(1);
  EXPECT_TRUE(records.reached(last));
}

TEST(SharedRecordsTest, NeedAWord) { EXPECT_THROW(SharedRecords(Buffer{}), std::invalid_argument); }

TEST(WaitOnHost, EndsAtItsLimit) {
  std::uint32_t word = 0;
  HandMadeEvent event(word);
  EXPECT_FALSE(wait_on_host(event, event.records.announce(), 1ms));
  event.records.reach(1);
  EXPECT_TRUE(wait_on_host(event, 1, 0ms));
}

TEST(WaitOnHost, OfACpuStreamEndsWithALostDevice) {
  const auto devices = test::cpu_devices(1);
  const auto stream = devices[0]->make_stream(StreamKind::compute);
  std::uint32_t word = 0;
  HandMadeEvent event(word);
  event.lost = true;
  event.records.announce();
  stream->wait(event);
  EXPECT_THROW(stream->synchronize(), DeviceLost);
  stream->synchronize();  // and the stream goes on
}

TEST(WaitOnHost, OfACpuStreamIsForTheRecordBeforeItAndNotForALaterOne) {
  const auto devices = test::cpu_devices(1);
  const auto stream = devices[0]->make_stream(StreamKind::compute);
  std::uint32_t word = 0;
  HandMadeEvent event(word);
  event.records.announce();
  stream->wait(event);
  event.records.announce();  // recorded again, which will never be reached
  event.records.reach(1);
  stream->synchronize(10s);
}

/// An operation that fails in the stream's worker.
class FailingOp final : public cpu::CpuOp {
 public:
  FailingOp() : cpu::CpuOp("failing") {}
  void execute(const cpu::Execution&, std::span<std::byte* const>) override {
    throw Error("it fails");
  }
};

TEST(WaitOnHost, EndsWhereACpuStreamHasFailedBeforeItsRecord) {
  const auto devices = test::cpu_devices(1);
  const auto other = test::mixed_devices(1, true);
  const auto failing = devices[0]->make_stream(StreamKind::copy);  // one thread
  const auto waiting = other[0]->make_stream(StreamKind::compute);
  const std::array<Device*, 1> waiters = {other[0].get()};
  const auto event = make_event_for(*devices[0], waiters, EventKind::timing);
  FailingOp op;
  op.enqueue(*failing, {});
  failing->record(*event);
  waiting->wait(*event);
  waiting->synchronize(10s);
  EXPECT_THROW(failing->synchronize(), Error);
}

TEST(WaitOnHost, IsForEventsMadeForIt) {
  const auto devices = test::mixed_devices(1, true);
  const auto cpu = test::cpu_devices(1);
  const auto stream = cpu[0]->make_stream(StreamKind::compute);
  const auto own = devices[0]->make_event();
  EXPECT_THROW(stream->wait(*own), std::invalid_argument);
}

/// Two devices of different backends, in either order, as the cases of a run have them.
struct Pair {
  std::string name;
  std::vector<std::unique_ptr<Device>> (*open)(std::string& why);
};
void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }

std::vector<std::unique_ptr<Device>> open_other(std::string& why) {
  if (Machine().find("cpu")->device_limit() >= 2) return test::mixed_devices(2);
  why = "two devices need two cores";
  return {};
}

std::vector<std::unique_ptr<Device>> open_gpu(std::string& why) {
  const Machine machine;
  const Backend* backend = machine.find("cuda");
  if (backend != nullptr && backend->device_count() > 0) return machine.open("cpu:0,cuda:0");
  why = "no device cuda:0";
  return {};
}

class CrossingTest : public testing::TestWithParam<std::tuple<Pair, bool>> {
 protected:
  void SetUp() override {
    const auto& [pair, turned] = GetParam();
    std::string why;
    devices_ = pair.open(why);
    if (devices_.empty()) SKIP_WITHOUT_DEVICES(pair.name == "cuda" ? "cuda:0" : "cpu:1", why);
    if (turned) std::swap(devices_[0], devices_[1]);
    for (const auto& device : devices_)
      streams_.push_back(device->make_stream(StreamKind::compute));
  }

  [[nodiscard]] std::unique_ptr<Event> event() {
    const std::array<Device*, 1> waiters = {devices_[1].get()};
    return make_event_for(*devices_[0], waiters, EventKind::timing);
  }

  /// Lets the first stream work so long.
  void delay(std::chrono::nanoseconds duration) {
    Op& op = *ops_.emplace_back(
        devices_[0]->prepare(Spin{.duration = duration}, streams_[0]->threads()));
    streams_[0]->reserve_scratch(op.scratch_bytes());
    counters_.push_back(devices_[0]->allocate(op.arguments()[0].tensor.bytes, MemoryKind::device));
    const std::vector<BufferView> views = {counters_.back()};
    op.enqueue(*streams_[0], views);
  }

  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Op>> ops_;
  std::vector<Buffer> counters_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

/// Numbers that go from the first device to the second through pinned memory, as often as one event
/// is recorded again: each copy must find what the first stream has written before.
TEST_P(CrossingTest, AWaitOrdersWhatFollowsItAfterTheRecord) {
  constexpr std::size_t bytes = std::size_t{1} << 20;
  Device& pinning = devices_[0]->info().host_memory ? *devices_[1] : *devices_[0];
  const Buffer source = pinning.allocate(bytes, MemoryKind::pinned);
  const Buffer shared = pinning.allocate(bytes, MemoryKind::pinned);
  const Buffer result = pinning.allocate(bytes, MemoryKind::pinned);
  const std::unique_ptr<Event> ready = event();
  for (int round = 1; round <= 20; ++round) {
    std::memset(source.data(), round, bytes);
    std::memset(result.data(), 0, bytes);
    delay(200us);
    streams_[0]->copy(shared, source);
    streams_[0]->record(*ready);
    streams_[1]->wait(*ready);
    streams_[1]->copy(result, shared);
    streams_[1]->synchronize();
    ASSERT_EQ(result.data()[0], static_cast<std::byte>(round));
    ASSERT_EQ(std::memcmp(result.data(), source.data(), bytes), 0) << "round " << round;
  }
  streams_[0]->synchronize();
}

TEST_P(CrossingTest, AWaitBeforeAnyRecordHasNothingToWaitFor) {
  const std::unique_ptr<Event> never = event();
  streams_[1]->wait(*never);
  streams_[1]->synchronize(10s);
}

std::string name_of_parameter(const testing::TestParamInfo<std::tuple<Pair, bool>>& parameter) {
  const auto& [pair, turned] = parameter.param;
  return pair.name + (turned ? "_first" : "_second");
}

INSTANTIATE_TEST_SUITE_P(Backends, CrossingTest,
                         testing::Combine(testing::Values(Pair{"other", open_other},
                                                          Pair{"cuda", open_gpu}),
                                          testing::Bool()),
                         name_of_parameter);

TEST(Reaches, IsTrueOfTheOwnBackendAndOfHostMemory) {
  const auto devices = test::mixed_devices(1, true);
  const auto cpu = test::cpu_devices(1);
  EXPECT_TRUE(reaches(*devices[0], *cpu[0]));
  EXPECT_FALSE(reaches(*cpu[0], *devices[0]));
  EXPECT_TRUE(reaches(*cpu[0], *cpu[0]));
  EXPECT_TRUE(reaches(*devices[0], *devices[0]));
}

}  // namespace
}  // namespace parbench
