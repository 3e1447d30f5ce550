// The executor on real CPU streams: what tasks cost alone, and plans that are launched as graphs.
#include "bench/execution/executor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/execution/interrupt.h"
#include "kernels/base/error.h"
#include "kernels/machine/machine.h"
#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

bool never() { return false; }

class TaskCostsTest : public testing::Test {
 protected:
  static Buffer zeroed(Buffer buffer) {
    std::memset(buffer.data(), 0, buffer.bytes());
    return buffer;
  }

  /// Adds a task that spins so long; `key` as in Task::cost_key.
  void add(std::chrono::nanoseconds duration, const std::string& key = "") {
    add(device_->prepare(Spin{.duration = duration}, stream_->threads()), {counter_}, key);
  }

  void add(std::unique_ptr<Op> op, std::vector<BufferView> views, const std::string& key = "") {
    stream_->reserve_scratch(op->scratch_bytes());
    plan_.add({.name = "task", .lanes = {lane_}, .cost_key = key},
              {OpCall{op.get(), std::move(views)}});
    ops_.push_back(std::move(op));
  }

  /// With a counter of its own.
  void add_of_phase(const std::string& phase, int micro_batch, std::chrono::nanoseconds duration,
                    const std::string& key) {
    auto op = device_->prepare(Spin{.duration = duration}, stream_->threads());
    counters_.push_back(zeroed(device_->allocate(sizeof(std::uint64_t), MemoryKind::device)));
    plan_.add({.name = phase,
               .lanes = {lane_},
               .cost_key = key,
               .phase = phase,
               .micro_batch = micro_batch},
              {OpCall{op.get(), {counters_.back()}}});
    ops_.push_back(std::move(op));
  }

  [[nodiscard]] std::uint64_t executions_of(int task) const {
    std::uint64_t count = 0;
    std::memcpy(&count, counters_[static_cast<std::size_t>(task)].data(), sizeof count);
    return count;
  }

  [[nodiscard]] std::uint64_t executions() const {
    std::uint64_t count = 0;
    std::memcpy(&count, counter_.data(), sizeof count);
    return count;
  }

  Machine machine_;
  std::unique_ptr<Device> device_ = std::move(machine_.open("cpu:0").front());
  std::unique_ptr<Stream> stream_ = device_->make_stream(StreamKind::compute);
  Buffer counter_ = zeroed(device_->allocate(sizeof(std::uint64_t), MemoryKind::device));
  std::vector<std::unique_ptr<Op>> ops_;
  std::deque<Buffer> counters_;
  Plan plan_;
  LaneId lane_ = plan_.add_lane("lane", *stream_);
};

TEST_F(TaskCostsTest, OfShortTasksComeFromManyExecutions) {
  add(microseconds(20));
  std::unique_ptr<Executor> executor;
  std::uint64_t first = 0;
  // A task is long where another program has its core for a moment.
  for (int tries = 0; first <= 4 && tries < 100; ++tries) {
    const std::uint64_t before = executions();
    executor = std::make_unique<Executor>(plan_);
    EXPECT_GE(executor->measure_tasks(never).at(0), 20e-6);
    first = executions() - before;
  }
  EXPECT_GT(first, 4U);
  const std::uint64_t before = executions();
  (void)executor->measure_tasks(never);
  EXPECT_GT(executions(), before);
  EXPECT_EQ((executions() - before) % 2, 0U)
      << "as many ahead of the timed ones, so that waking the lane is no part of them";
}

TEST_F(TaskCostsTest, OfLongTasksComeFromOneExecutionARound) {
  add(milliseconds(2));
  add(milliseconds(3));
  Executor executor(plan_);
  (void)executor.measure_tasks(never);
  EXPECT_EQ(executions(), 2U);
  const std::vector<double> costs = executor.measure_tasks(never);
  EXPECT_EQ(executions(), 4U);
  EXPECT_GE(costs.at(0), 0.002);
  EXPECT_GE(costs.at(1), 0.003);
}

TEST_F(TaskCostsTest, OfTasksThatShareAKeyComeFromTheFirstThree) {
  for (int i = 0; i < 5; ++i) add(milliseconds(2), "same");
  add(milliseconds(2), "other");
  const std::vector<double> costs = Executor(plan_).measure_tasks(never);
  EXPECT_EQ(executions(), 3U + 1U);
  EXPECT_EQ(costs.at(0), costs.at(4));
  EXPECT_NE(costs.at(0), costs.at(5));
}

TEST_F(TaskCostsTest, OfBackwardPassesAndUpdatesComeFromOneExecutionBehindWhatTheyRead) {
  for (const char* phase : {"forward", "backward", "update"}) {
    add_of_phase(phase, 0, microseconds(20), phase);
  }
  (void)Executor(plan_).measure_tasks(never);
  EXPECT_GT(executions_of(0), 1U) << "short";
  EXPECT_EQ(executions_of(1), 1U);
  EXPECT_EQ(executions_of(2), 1U);
}

TEST_F(TaskCostsTest, OfABackwardPassComeBehindItsForwardPassEvenIfThatIsNotMeasured) {
  constexpr int micro_batches = 5;
  for (int i = 0; i < micro_batches; ++i) add_of_phase("forward", i, milliseconds(2), "forward");
  for (int i = micro_batches; i-- > 0;) add_of_phase("backward", i, milliseconds(2), "backward");
  const std::vector<double> costs = Executor(plan_).measure_tasks(never);
  // Backward passes of 4, 3 and 2; forward passes of 0, 1 and 2, and untimed ones of 4 and 3.
  std::vector<std::uint64_t> counts;
  for (int i = 0; i < 2 * micro_batches; ++i) counts.push_back(executions_of(i));
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{1, 1, 1, 1, 1, 1, 1, 1, 0, 0}));
  EXPECT_GE(costs.at(0), 0.002);
  EXPECT_EQ(costs.at(3), costs.at(0));
}

TEST_F(TaskCostsTest, AreLeftBetweenLanesWhenInterrupted) {
  add(milliseconds(2));
  const std::unique_ptr<Stream> second = device_->make_stream(StreamKind::compute);
  lane_ = plan_.add_lane("second", *second);
  add(milliseconds(2));
  EXPECT_THROW((void)Executor(plan_).measure_tasks([this] { return executions() > 0; }),
               Interrupted);
  EXPECT_EQ(executions(), 1U);
}

/// Takes everything and never comes to its end.
class HangingStream : public Stream {
 public:
  explicit HangingStream(Device& device) : device_(device) {}
  [[nodiscard]] Device& device() const override { return device_; }
  [[nodiscard]] int threads() const override { return 1; }
  [[nodiscard]] std::size_t scratch_bytes() const override { return 0; }
  void copy(BufferView, BufferView) override {}
  void record(Event&) override {}
  void wait(Event&) override {}
  void synchronize(std::chrono::milliseconds) override {
    ++waits;
    throw TimedOut("it hangs");
  }

  int waits = 0;

 private:
  void grow_scratch(std::size_t) override {}

  Device& device_;
};

/// A plan over two lanes whose result depends on the order of all its tasks: the second lane
/// doubles what the first has spun, the first spins on.
class GraphLaunch : public testing::Test {
 protected:
  GraphLaunch() {
    plan_.submit_as(SubmitMode::graph);
    const LaneId first = plan_.add_lane("first", *streams_[0]);
    const LaneId second = plan_.add_lane("second", *streams_[1]);
    spin_ = device_->prepare(Spin{.duration = microseconds(20)}, streams_[0]->threads());
    for (auto& stream : streams_) stream->reserve_scratch(spin_->scratch_bytes());
    const TaskId spun = plan_.add({.name = "spin", .lanes = {first}}, {spin_call()});
    const TaskId copied = plan_.add({.name = "copy", .lanes = {second}, .after = {spun}},
                                    {CopyCall{copy_, counter_}});
    plan_.add({.name = "spin on", .lanes = {first}, .after = {copied}}, {spin_call()});
  }

  OpCall spin_call() { return {spin_.get(), {counter_}}; }

  static std::uint64_t number_in(const Buffer& buffer) {
    std::uint64_t number = 0;
    std::memcpy(&number, buffer.data(), sizeof number);
    return number;
  }

  Buffer zero() {
    Buffer buffer = device_->allocate(sizeof(std::uint64_t), MemoryKind::device);
    std::memset(buffer.data(), 0, buffer.bytes());
    return buffer;
  }

  Machine machine_;
  std::unique_ptr<Device> device_ = std::move(machine_.open("cpu:0").front());
  Buffer counter_ = zero();
  Buffer copy_ = zero();
  std::unique_ptr<Op> spin_;
  std::vector<std::unique_ptr<Stream>> streams_ = [this] {  // of one thread each
    std::vector<std::unique_ptr<Stream>> streams;
    for (int i : {0, 1}) streams.push_back(device_->make_stream(StreamKind::compute, i, 64));
    return streams;
  }();
  Plan plan_;
};

TEST_F(GraphLaunch, RunsOnceWithoutTheGraphAndThenReplaysIt) {
  Executor executor(plan_);
  executor.prepare_graph();
  EXPECT_EQ(number_in(counter_), 2U);
  for (int run = 0; run < 50; ++run) {
    const Timing timing = executor.run();
    ASSERT_EQ(number_in(counter_), 2U * (run + 2));
    ASSERT_EQ(number_in(copy_), 2U * (run + 2) - 1) << "between the two spins";
    ASSERT_GE(timing.seconds, 40e-6);
    ASSERT_GE(timing.wall_seconds, timing.seconds);
  }
}

TEST_F(GraphLaunch, FollowsMemoryThatMoves) {
  Executor executor(plan_);
  executor.prepare_graph();
  (void)executor.run();
  EXPECT_EQ(number_in(counter_), 4U);
  Buffer former = std::exchange(counter_, zero());
  (void)executor.run();
  EXPECT_EQ(number_in(counter_), 2U);
  EXPECT_EQ(number_in(former), 4U) << "memory that has been replaced may not be touched";
}

TEST_F(GraphLaunch, ThePlansOwnWayOfLaunchingCanBeOverruled) {
  plan_.submit_as(SubmitMode::one_thread);
  Executor executor(plan_, SubmitMode::graph);
  executor.prepare_graph();
  (void)executor.run();
  EXPECT_EQ(number_in(counter_), 4U);
}

TEST_F(GraphLaunch, TasksAreMeasuredWithoutIt) {
  Executor executor(plan_);
  executor.prepare_graph();
  const std::vector<double> costs = executor.measure_tasks(never);
  ASSERT_EQ(costs.size(), 3U);
  EXPECT_GE(costs[0], 20e-6);
  (void)executor.run();
}

/// Can be enqueued so often.
class LimitedOp final : public Op {
 public:
  explicit LimitedOp(int times) : times_(times) {}
  void enqueue(Stream& /*stream*/, std::span<const BufferView> /*views*/) override {
    if (times_-- == 0) throw Error("the library allocates");
  }

 private:
  int times_;
};

TEST_F(GraphLaunch, NamesTheTaskThatCannotBeCapturedAndLeavesTheStreamsUsable) {
  LimitedOp once(1);
  plan_.add({.name = "stubborn", .lanes = {0}}, {OpCall{&once, {}}});
  Executor executor(plan_);
  try {
    executor.prepare_graph();
    FAIL() << "it was captured";
  } catch (const Unsupported& error) {
    EXPECT_STREQ(error.what(),
                 "task 'stubborn' cannot be captured into a graph: the library allocates; run the "
                 "case without one");
  }
  spin_->enqueue(*streams_[0], std::vector<BufferView>{counter_});
  for (auto& stream : streams_) stream->synchronize();
  EXPECT_EQ(number_in(counter_), 3U);
}

/// Counts what it captures; its scratch memory has no room to grow.
class CapturingStream final : public Stream {
 public:
  explicit CapturingStream(Device& device) : device_(device) {}
  [[nodiscard]] Device& device() const override { return device_; }
  [[nodiscard]] int threads() const override { return 1; }
  [[nodiscard]] std::size_t scratch_bytes() const override { return held; }
  void copy(BufferView, BufferView) override {}
  void record(Event&) override {}
  void wait(Event&) override {}
  void synchronize(std::chrono::milliseconds) override {}
  [[nodiscard]] std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) override {
    enqueue();
    ++captures;
    return std::make_unique<NoGraph>();
  }

  static constexpr std::size_t held = 4096;
  int captures = 0;

 private:
  struct NoGraph final : Graph {
    void launch() override {}
  };
  void grow_scratch(std::size_t bytes) override { throw OutOfMemory("the fake", bytes, held); }

  Device& device_;
};

TEST(Executor, CapturesAgainAfterScratchMemoryThatCouldNotGrow) {
  test::FakeDevice device(0);
  CapturingStream stream(device);
  Plan plan;
  plan.add_lane("lane", stream);
  Executor executor(plan, SubmitMode::graph);
  executor.prepare_graph();
  stream.reserve_scratch(CapturingStream::held);
  (void)executor.run();
  EXPECT_EQ(stream.captures, 1);
  EXPECT_THROW(stream.reserve_scratch(2 * CapturingStream::held), OutOfMemory);
  (void)executor.run();
  EXPECT_EQ(stream.captures, 2) << "the memory is as large as it was, but may be elsewhere";
  (void)executor.run();
  EXPECT_EQ(stream.captures, 2);
}

TEST(Executor, RefusesAGraphOnStreamsThatCaptureNothing) {
  test::FakeDevice device(0);
  const auto stream = device.make_stream(StreamKind::compute, 0, 1);
  Plan plan;
  plan.add_lane("lane", *stream);
  Executor executor(plan, SubmitMode::graph);
  EXPECT_THROW(executor.prepare_graph(), Unsupported);
}

TEST(Executor, WaitsForNoOtherLaneAfterOneThatHangs) {
  const Machine machine;
  const std::unique_ptr<Device> device = std::move(machine.open("cpu:0").front());
  HangingStream first(*device);
  HangingStream second(*device);
  Plan plan;
  plan.add_lane("first", first);
  plan.add_lane("second", second);
  EXPECT_THROW((void)Executor(plan).run(), TimedOut);
  EXPECT_EQ(first.waits + second.waits, 1);
}

}  // namespace
}  // namespace parbench
