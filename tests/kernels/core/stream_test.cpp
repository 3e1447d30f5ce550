// Streams, events, copies and memory: what every backend's runtime promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <numeric>
#include <thread>

#include "kernels/base/error.h"
#include "kernels/cpu/device/device.h"
#include "kernels/machine/machine.h"
#include "tests/kernels/function_op.h"

namespace parbench {
namespace {

using namespace std::chrono_literals;

using test::FunctionOp;

class StreamTest : public ::testing::Test {
 protected:
  std::vector<std::unique_ptr<Device>> devices_ = Machine().open("cpu:0");
  Device& device_ = *devices_.front();
  // A share of one core, whatever the machine has: hand-made operations are prepared for one
  // thread.
  std::unique_ptr<Stream> first_ = device_.make_stream(StreamKind::compute, 0, 64);
  std::unique_ptr<Stream> second_ = device_.make_stream(StreamKind::compute, 1, 64);
};

TEST_F(StreamTest, EnqueueReturnsBeforeTheWorkIsDone) {
  std::promise<void> gate;
  FunctionOp blocked([open = gate.get_future().share()] { open.wait(); });
  blocked.enqueue(*first_, {});  // would never return if it ran here: the gate opens below
  gate.set_value();
  first_->synchronize();
}

TEST_F(StreamTest, RunsInTheOrderOfEnqueueing) {
  std::vector<int> order;
  std::vector<std::unique_ptr<FunctionOp>> ops;
  for (int i = 0; i < 5000; ++i) {  // more than the queue's first capacity
    ops.push_back(std::make_unique<FunctionOp>([&order, i] { order.push_back(i); }));
    ops.back()->enqueue(*first_, {});
  }
  first_->synchronize();
  std::vector<int> expected(5000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_F(StreamTest, WaitHoldsBackOnlyWhatFollowsIt) {
  std::promise<void> gate;
  std::atomic<bool> produced = false;
  std::atomic<bool> seen = false;
  FunctionOp produce([&, open = gate.get_future().share()] {
    open.wait();
    produced = true;
  });
  FunctionOp consume([&] { seen = produced.load(); });
  const std::unique_ptr<Event> done = device_.make_event();
  produce.enqueue(*first_, {});
  first_->record(*done);
  second_->wait(*done);
  consume.enqueue(*second_, {});
  gate.set_value();
  second_->synchronize();
  EXPECT_TRUE(seen);
}

TEST_F(StreamTest, WaitRefersToTheLatestRecordBeforeIt) {
  const std::unique_ptr<Event> event = device_.make_event();
  second_->wait(*event);  // never recorded: nothing to wait for
  second_->synchronize();

  first_->record(*event);
  first_->synchronize();
  std::promise<void> gate;
  FunctionOp blocked([open = gate.get_future().share()] { open.wait(); });
  second_->wait(*event);  // the record that was reached, not the one below
  blocked.enqueue(*first_, {});
  first_->record(*event);
  second_->synchronize();
  gate.set_value();
  first_->synchronize();
}

TEST_F(StreamTest, EventsKeepTheTimeBetweenThem) {
  const std::unique_ptr<Event> begin = device_.make_event();
  const std::unique_ptr<Event> end = device_.make_event();
  FunctionOp sleep([] { std::this_thread::sleep_for(5ms); });
  first_->record(*begin);
  sleep.enqueue(*first_, {});
  first_->record(*end);
  first_->synchronize();
  EXPECT_GE(end->seconds_since(*begin), 0.005);
  EXPECT_DOUBLE_EQ(begin->seconds_since(*begin), 0.0);
  EXPECT_THROW(static_cast<void>(device_.make_event()->seconds_since(*begin)), std::logic_error);
}

TEST_F(StreamTest, EventsThatOnlyOrderHaveNoTime) {
  const std::unique_ptr<Event> timing = device_.make_event();
  const std::unique_ptr<Event> ordering = device_.make_event(EventKind::ordering);
  first_->record(*timing);
  first_->record(*ordering);
  second_->wait(*ordering);
  second_->synchronize();
  first_->synchronize();
  EXPECT_THROW(static_cast<void>(ordering->seconds_since(*timing)), std::logic_error);
  EXPECT_THROW(static_cast<void>(timing->seconds_since(*ordering)), std::logic_error);
}

TEST_F(StreamTest, CopiesBetweenKindsOfMemory) {
  constexpr std::size_t bytes = (std::size_t{3} << 20) + 17;
  const Buffer from = device_.allocate(bytes, MemoryKind::pageable);
  const Buffer middle = device_.allocate(bytes, MemoryKind::device);
  const Buffer to = device_.allocate(bytes, MemoryKind::pinned);
  for (std::size_t i = 0; i < bytes; ++i) from.data()[i] = static_cast<std::byte>(i * 31 % 251);
  const std::unique_ptr<Stream> copier = device_.make_stream(StreamKind::copy);
  copier->copy(middle, from);
  copier->copy(to, middle);
  copier->synchronize();
  EXPECT_EQ(std::memcmp(from.data(), to.data(), bytes), 0);
  EXPECT_THROW(copier->copy(BufferView(to, 0, 5), from), std::invalid_argument);
}

TEST_F(StreamTest, ExceptionComesOutOfSynchronizeOnceAndSkipsWhatFollows) {
  bool ran = false;
  FunctionOp fails([] { throw Error("this kernel fails"); });
  FunctionOp follows([&] { ran = true; });
  const std::unique_ptr<Event> event = device_.make_event();
  fails.enqueue(*first_, {});
  follows.enqueue(*first_, {});
  first_->record(*event);
  second_->wait(*event);  // must not hang although the stream failed
  second_->synchronize();
  EXPECT_THROW(first_->synchronize(), Error);
  EXPECT_FALSE(ran);

  follows.enqueue(*first_, {});  // and the stream is usable again
  first_->synchronize();
  EXPECT_TRUE(ran);
}

TEST_F(StreamTest, SynchronizeGivesUpAtItsLimit) {
  std::promise<void> gate;
  FunctionOp blocked([open = gate.get_future().share()] { open.wait(); });
  blocked.enqueue(*first_, {});
  EXPECT_THROW(first_->synchronize(1ms), TimedOut);
  gate.set_value();
  first_->synchronize();
}

TEST_F(StreamTest, EventsQueuedOnADestroyedStreamAreReached) {
  const std::unique_ptr<Event> event = device_.make_event();
  FunctionOp busy([] { std::this_thread::sleep_for(100ms); });
  busy.enqueue(*first_, {});
  first_->record(*event);
  second_->wait(*event);
  first_.reset();  // while it is busy: the record has not run
  second_->synchronize(10s);
}

TEST_F(StreamTest, RefusesViewsThatNoMemoryBacks) {
  const std::unique_ptr<Op> op = device_.prepare(Sgd{.count = 100}, first_->threads());
  first_->reserve_scratch(op->scratch_bytes());
  const Buffer memory = device_.allocate(400, MemoryKind::device);
  const Buffer empty;
  for (const BufferView& view : {BufferView(empty, 0, 400), BufferView(memory, 1, 400),
                                 BufferView(memory, 404, 400), BufferView().part(0, 400)}) {
    EXPECT_THROW(op->enqueue(*first_, std::vector<BufferView>{memory, view}),
                 std::invalid_argument);
    EXPECT_THROW(first_->copy(memory, view), std::invalid_argument);
    EXPECT_THROW(first_->copy(view, memory), std::invalid_argument);
  }
  EXPECT_THAT([&] { first_->copy(BufferView(memory, 8, 400), memory); },
              ::testing::ThrowsMessage<std::invalid_argument>(
                  ::testing::HasSubstr("destination (400 bytes at offset 8 of a buffer of 400")));
  first_->synchronize();
}

// Streams of a device with that many cores (one, named several times) that share it evenly.
std::vector<int> threads_of_streams(int cores, int sharers) {
  const int core = Machine().open("cpu:0").front()->info().cores.front();
  DeviceInfo info;
  info.name = "cpu:0";
  info.cores.assign(static_cast<std::size_t>(cores), core);
  cpu::CpuDevice device(info, info.cores);
  std::vector<int> threads;
  for (int index = 0; index < sharers; ++index) {
    threads.push_back(device.make_stream(StreamKind::compute, index, sharers)->threads());
  }
  return threads;
}

TEST(StreamShares, LeaveNoCoreIdle) {
  EXPECT_THAT(threads_of_streams(6, 4), ::testing::UnorderedElementsAre(1, 1, 2, 2));
  EXPECT_THAT(threads_of_streams(5, 2), ::testing::UnorderedElementsAre(2, 3));
  EXPECT_THAT(threads_of_streams(4, 2), ::testing::ElementsAre(2, 2));
  EXPECT_THAT(threads_of_streams(3, 1), ::testing::ElementsAre(3));
  EXPECT_THAT(threads_of_streams(2, 5), ::testing::ElementsAre(1, 1, 1, 1, 1));
}

TEST_F(StreamTest, RefusesArgumentsThatAreMissingOrTooSmall) {
  const std::unique_ptr<Op> op = device_.prepare(Sgd{.count = 100}, first_->threads());
  first_->reserve_scratch(op->scratch_bytes());
  const Buffer large = device_.allocate(400, MemoryKind::device);
  const Buffer small = device_.allocate(396, MemoryKind::device);
  EXPECT_THROW(op->enqueue(*first_, std::vector<BufferView>{large}), std::invalid_argument);
  EXPECT_THROW(op->enqueue(*first_, std::vector<BufferView>{large, small}), std::invalid_argument);
}

TEST(Memory, TooMuchIsRefusedWithTheNumbers) {
  const auto devices = Machine().open("cpu:0");
  try {
    static_cast<void>(devices[0]->allocate(std::size_t{1} << 50, MemoryKind::device));
    FAIL() << "a petabyte was allocated";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.asked_bytes(), std::size_t{1} << 50);
    EXPECT_GT(error.available_bytes(), 0U);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("cpu:0"));
  }
}

}  // namespace
}  // namespace parbench
