// The executor on real CPU streams: what tasks cost alone.
#include "bench/executor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/interrupt.h"
#include "bench/statistics.h"
#include "kernels/error.h"
#include "kernels/machine.h"

namespace parbench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

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
    plan_.add({.name = "task",
               .lane = lane_,
               .calls = {OpCall{op.get(), std::move(views)}},
               .cost_key = key});
    ops_.push_back(std::move(op));
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
  Plan plan_;
  LaneId lane_ = plan_.add_lane("lane", *stream_);
};

TEST_F(TaskCostsTest, OfShortTasksAreWhatTheyCostInAPlan) {
  const Buffer data = zeroed(device_->allocate(4096, MemoryKind::device));
  for (int i = 0; i < 100; ++i) {
    add(device_->prepare(Gemm{.m = 8, .n = 8, .k = 8}, stream_->threads()), {data, data, data});
  }
  Executor executor(plan_);
  std::vector<double> in_plan;
  for (int i = 0; i < 100; ++i) in_plan.push_back(executor.run().seconds);
  const TaskCosts costs = executor.measure_tasks({.repeats = 25, .budget_seconds = 10});
  const double sum = std::accumulate(costs.seconds.begin(), costs.seconds.end(), 0.0);
  EXPECT_LT(sum, 2 * median(in_plan)) << "waking the lane is no part of a task";
  EXPECT_GT(sum, 0);
}

TEST_F(TaskCostsTest, OfShortTasksRepeatOperations) {
  for (int i = 0; i < 20; ++i) add(microseconds(20));
  const TaskCosts costs = Executor(plan_).measure_tasks({});
  EXPECT_TRUE(costs.repeated_operations);
  EXPECT_EQ(costs.execution_seconds, 0) << "a round in which tasks ran more than once";
  EXPECT_GT(executions(), 20U);
}

TEST_F(TaskCostsTest, OfLongTasksWithKeysOfTheirOwnAreExecutions) {
  add(milliseconds(2), "first");
  add(milliseconds(3), "second");
  const TaskCosts costs = Executor(plan_).measure_tasks({.repeats = 2, .budget_seconds = 10});
  EXPECT_EQ(executions(), 4U);
  EXPECT_GE(costs.execution_seconds, 0.010);
  EXPECT_FALSE(costs.repeated_operations);
  EXPECT_GE(costs.seconds.at(0), 0.002);
  EXPECT_GE(costs.seconds.at(1), 0.003);
}

TEST_F(TaskCostsTest, OfTasksThatShareAKeyAreMeasuredOnceAndAreNoExecution) {
  add(milliseconds(2), "same");
  add(milliseconds(2), "same");
  const TaskCosts costs = Executor(plan_).measure_tasks({});
  EXPECT_EQ(executions(), 1U);
  EXPECT_EQ(costs.execution_seconds, 0);
  EXPECT_EQ(costs.seconds.at(0), costs.seconds.at(1));
}

TEST_F(TaskCostsTest, OfManyTasksThatShareAKeyHaveSeveralMeasurementsWhateverTheBudget) {
  for (int i = 0; i < 3; ++i) add(milliseconds(2), "three");
  for (int i = 0; i < 2; ++i) add(milliseconds(2), "two");
  add(milliseconds(2), "one");
  (void)Executor(plan_).measure_tasks({.repeats = 25, .budget_seconds = 0});
  EXPECT_EQ(executions(), 3U + 1U + 1U);
}

TEST_F(TaskCostsTest, NoFurtherRoundBeginsAfterTheBudget) {
  add(milliseconds(2));
  (void)Executor(plan_).measure_tasks({.repeats = 25, .budget_seconds = 0});
  EXPECT_EQ(executions(), 1U);
}

TEST_F(TaskCostsTest, AreLeftBetweenTasksWhenInterrupted) {
  add(milliseconds(2));
  add(milliseconds(2));
  const CostLimits limits{.interrupted = [this] { return executions() > 0; }};
  EXPECT_THROW((void)Executor(plan_).measure_tasks(limits), Interrupted);
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
