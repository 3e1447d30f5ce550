// Messages between ranks whose data is not in host memory, here on devices that say so of theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/core/ranks/host_worker.h"
#include "kernels/core/ranks/remote_device.h"
#include "scenarios/framework/plan.h"
#include "scenarios/framework/ranks/messages.h"
#include "tests/bench/ranks/linked_ranks.h"
#include "tests/support/cpu_devices.h"
#include "tests/support/other_device.h"

namespace parbench::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t chunk = Staging::slot_bytes;

/// A device of each of two ranks as one of them sees them, with a lane each. `staged`: by rank,
/// whether its device is one whose data is not in host memory.
struct TwoDevices {
  TwoDevices(RankTeam& team, std::array<bool, 2> staged) : team_(team), plan(&team) {
    const Machine machine;
    auto cpu = std::move(machine.open("cpu:0", {.rank = team.rank()}).front());
    const bool is_staged = staged[static_cast<std::size_t>(team.rank())];
    if (is_staged) {
      auto made = std::make_unique<OtherDevice>(std::move(cpu), "other:0");
      made->stage_messages();
      fake = made.get();
      own = std::move(made);
    } else {
      own = std::move(cpu);
    }
    DeviceInfo info = own->info();
    info.rank = 1 - team.rank();
    info.staged = staged[static_cast<std::size_t>(info.rank)];
    other = std::make_unique<RemoteDevice>(info, *own, true);
    for (int rank = 0; rank < 2; ++rank) {
      streams.push_back(device(rank).make_stream(StreamKind::compute));
      lanes.push_back(plan.add_lane(std::to_string(rank), *streams.back()));
    }
  }

  [[nodiscard]] Device& device(int rank) const { return rank == team_.rank() ? *own : *other; }
  [[nodiscard]] Stream& stream() const { return *streams[static_cast<std::size_t>(team_.rank())]; }

  /// Adds a copy from rank 0 to rank 1.
  void add_message(const BufferView& from, const BufferView& to) {
    plan.add({.name = "copy", .lanes = lanes}, {CopyCall{.destination = to, .source = from}});
  }
  /// Enqueues the tasks, without the barrier with which an execution begins.
  void enqueue_all() {
    for (const std::vector<Call>& calls : plan.calls()) {
      for (const Call& call : calls) enqueue(call, plan.streams());
    }
  }

  RankTeam& team_;
  std::unique_ptr<Device> own;
  std::unique_ptr<Device> other;
  OtherDevice* fake = nullptr;  // the own device, where it is one
  std::vector<std::unique_ptr<Stream>> streams;
  Plan plan;
  std::vector<LaneId> lanes;
};

std::byte byte_at(std::size_t place) { return static_cast<std::byte>(place * 7 + place / 251); }

void fill(const Buffer& buffer) {
  for (std::size_t i = 0; i < buffer.bytes(); ++i) buffer.data()[i] = byte_at(i);
}

std::size_t first_wrong(const Buffer& buffer) {
  std::size_t place = 0;
  while (place < buffer.bytes() && buffer.data()[place] == byte_at(place)) ++place;
  return place;
}

class StagedBy : public ::testing::TestWithParam<std::array<bool, 2>> {};

TEST_P(StagedBy, MessagesOfAllSizesArriveWhole) {
  for (const std::size_t bytes : {std::size_t{1}, chunk - 1, chunk, chunk + 1, 9 * chunk + 5}) {
    run_ranks(2, [&](RankTeam& team) {
      TwoDevices two(team, GetParam());
      const Buffer there = two.device(0).allocate(bytes, MemoryKind::device);
      const Buffer here = two.device(1).allocate(bytes, MemoryKind::device);
      if (team.rank() == 0) fill(there);
      two.add_message(there, here);
      two.enqueue_all();
      two.stream().synchronize();
      if (team.rank() == 1) {
        EXPECT_EQ(first_wrong(here), bytes);
      }
    });
  }
}

TEST_P(StagedBy, MessagesFollowEachOtherWithoutAllocating) {
  run_ranks(2, [](RankTeam& team) {
    TwoDevices two(team, GetParam());
    const Buffer there = two.device(0).allocate(5 * chunk, MemoryKind::device);
    const Buffer here = two.device(1).allocate(5 * chunk, MemoryKind::device);
    if (team.rank() == 0) fill(there);
    two.add_message({there, 0, 2 * chunk}, {here, 0, 2 * chunk});
    two.add_message({there, 2 * chunk, 3 * chunk}, {here, 2 * chunk, 3 * chunk});
    const int allocations = two.fake != nullptr ? two.fake->allocations : 0;
    for (int execution = 0; execution < 3; ++execution) {
      if (team.rank() == 1) std::fill_n(here.data(), here.bytes(), std::byte{0});
      two.enqueue_all();
      two.stream().synchronize();
      if (team.rank() == 1) {
        EXPECT_EQ(first_wrong(here), here.bytes());
      }
    }
    if (two.fake != nullptr) {
      EXPECT_EQ(two.fake->allocations, allocations);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, StagedBy,
                         ::testing::Values(std::array{true, true}, std::array{true, false},
                                           std::array{false, true}));

TEST(StagedMessages, SignalsNeedNoCopies) {
  run_ranks(2, [](RankTeam& team) {
    TwoDevices two(team, {true, true});
    two.plan.add({.name = "signal", .lanes = two.lanes}, {CopyCall{}});
    two.enqueue_all();
    two.stream().synchronize();
    EXPECT_EQ(two.fake->copies, 0);
  });
}

/// A link whose first message ends when the test says so.
class HeldLink final : public RankLink {
 public:
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 2; }
  void check_with(std::function<void()> /*check*/) override {}
  void send_message(int /*to*/, int /*tag*/, const std::byte* /*data*/,
                    std::size_t /*bytes*/) override {
    if (sent++ == 0) first();
  }
  void receive_message(int /*from*/, int /*tag*/, std::byte* /*data*/,
                       std::size_t /*bytes*/) override {}
  void wait_for_all() override {}
  void run(Collective /*collective*/, std::byte* /*data*/, std::size_t /*bytes*/,
           const std::byte* /*input*/) override {}
  [[nodiscard]] bool offers(RankAllReduce /*by*/, const RankSet& /*set*/,
                            std::size_t /*bytes*/) const override {
    return false;
  }
  void prepare(const RankSet&) override {}
  void add_up(RankAllReduce /*by*/, const RankSet& /*set*/, std::byte* /*data*/,
              std::size_t /*bytes*/) override {}

  std::function<void()> first;
  int sent = 0;

 private:
  std::string name_ = "held";
};

/// A device with a stream, and one of another rank.
struct Sender {
  Sender() {
    own.stage_messages();
    DeviceInfo info = own.info();
    info.rank = 1;
    other = std::make_unique<RemoteDevice>(info, own, true);
    stream = own.make_stream(StreamKind::compute, 0, 1);
    receiver = other->make_stream(StreamKind::compute, 0, 1);
  }

  std::unique_ptr<MessagePart> message_of(RankLink& link, const Buffer& memory) {
    return make_message_part(link, {.from = 0, .to = 1, .source = memory, .destination = memory},
                             *stream, *receiver);
  }

  OtherDevice own{std::move(cpu_devices(1).front()), "other:0"};
  std::unique_ptr<RemoteDevice> other;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<Stream> receiver;
};

/// Reads a byte that another thread may be writing: whether it has is what a test asks.
[[gnu::no_sanitize_thread, gnu::noinline]] std::byte peek(const std::byte* at) {
  return *static_cast<const volatile std::byte*>(at);
}

TEST(StagedMessages, TheNextChunksAreCopiedWhileOneIsSent) {
  Sender sender;
  const Buffer memory = sender.own.allocate(3 * chunk, MemoryKind::device);
  std::fill_n(memory.data(), memory.bytes(), std::byte{1});
  HeldLink link;
  const auto part = sender.message_of(link, memory);
  HostWorker& worker = *sender.stream->host_worker();
  for (auto& slot : worker.staging().slots) std::fill_n(slot.memory.data(), chunk, std::byte{0});
  // The last byte of a slot comes last; a send that holds the copies up ends the test by its limit.
  bool was_copied = false;
  link.first = [&] {
    const std::byte* last = worker.staging().slots[2].memory.data() + chunk - 1;
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!was_copied && std::chrono::steady_clock::now() < end) {
      was_copied = peek(last) == std::byte{1};
    }
  };
  part->enqueue(*sender.stream);
  sender.stream->synchronize(Stream::default_limit);
  EXPECT_TRUE(was_copied);
  EXPECT_EQ(link.sent, 3);
}

TEST(StagedMessages, AFailedSendFailsTheStreamOnce) {
  Sender sender;
  const Buffer memory = sender.own.allocate(6 * chunk, MemoryKind::device);
  HeldLink link;
  link.first = [] { throw Error("the other rank is lost"); };
  const auto part = sender.message_of(link, memory);
  part->enqueue(*sender.stream);
  EXPECT_THROW(sender.stream->synchronize(Stream::default_limit), Error);
  EXPECT_EQ(link.sent, 1) << "the rest is skipped";
  part->enqueue(*sender.stream);
  EXPECT_NO_THROW(sender.stream->synchronize(Stream::default_limit));
}

TEST(StagedMessages, AStreamThatEndsSkipsWhatHasNotBegun) {
  HeldLink link;
  Sender sender;
  const Buffer memory = sender.own.allocate(6 * chunk, MemoryKind::device);
  const auto part = sender.message_of(link, memory);
  std::atomic<bool> begun = false;
  std::atomic<bool> ends = false;
  link.first = [&] {
    begun = true;
    while (!ends) std::this_thread::yield();
  };
  part->enqueue(*sender.stream);
  while (!begun) std::this_thread::yield();
  sender.stream->host_worker()->stop();
  ends = true;
  sender.stream.reset();
  EXPECT_EQ(link.sent, 1);
}

TEST(StagedMessages, AreOneActivityEach) {
  Sender sender;
  const Buffer memory = sender.own.allocate(6 * chunk, MemoryKind::device);
  HeldLink link;
  link.first = [] {};
  const auto part = sender.message_of(link, memory);
  HostWorker& worker = *sender.stream->host_worker();
  worker.note_activities(true);
  for (const ActivityTag tag : {5U, 6U}) {
    sender.stream->set_tag(tag);
    part->enqueue(*sender.stream);
  }
  sender.stream->synchronize(Stream::default_limit);
  ActivityLog log(4);
  worker.deliver(log);
  ASSERT_EQ(log.activities().size(), 2U);
  EXPECT_EQ(log.activities()[0].tag, 5U);
  EXPECT_EQ(log.activities()[1].tag, 6U);
  EXPECT_LE(log.activities()[0].end, log.activities()[1].begin);
  EXPECT_EQ(sender.stream->tag(), 6U);
}

TEST(StagedMessages, NeedADeviceThatLetsItsStreamsWaitForTheHost) {
  HeldLink link;
  Sender sender;
  const Buffer memory = sender.own.allocate(chunk, MemoryKind::device);
  EXPECT_THROW(static_cast<void>(make_message_part(
                   link, {.from = 0, .to = 1, .source = memory, .destination = memory},
                   *sender.receiver, *sender.receiver)),
               Unsupported);
}

}  // namespace
}  // namespace parbench::test
