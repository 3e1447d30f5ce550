// Tasks over several lanes: what the executor makes of their order, on real CPU streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/execution/executor.h"
#include "kernels/base/error.h"
#include "kernels/core/communicator.h"
#include "kernels/machine/machine.h"

namespace parbench {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Buffer zeroed(Buffer buffer) {
  std::memset(buffer.data(), 0, buffer.bytes());
  return buffer;
}

/// Copies a number to each rank's data on its own stream, independently of the other: all order
/// comes from the executor. One rank is slow.
class EachByItself final : public Communicator {
 public:
  EachByItself(Device& device, std::size_t slow_rank, BufferView number)
      : slow_rank_(slow_rank),
        number_(number),
        counter_(zeroed(device.allocate(sizeof(std::uint64_t), MemoryKind::device))),
        spin_(device.prepare(Spin{.duration = milliseconds(5)}, 1)) {}

  const std::string& name() const override { return name_; }
  int size() const override { return 2; }
  void check() const override {
    if (fails) throw Error("a rank has gone");
  }

  bool fails = false;

 private:
  void enqueue_checked(Collective, std::span<Stream* const> streams,
                       std::span<const BufferView> data,
                       std::span<const BufferView> /*inputs*/) override {
    spin_->enqueue(*streams[slow_rank_], std::vector<BufferView>{counter_});
    for (std::size_t rank = 0; rank < data.size(); ++rank) {
      streams[rank]->copy(data[rank], number_);
    }
  }

  std::string name_ = "each by itself";
  std::size_t slow_rank_;
  BufferView number_;
  Buffer counter_;
  std::unique_ptr<Op> spin_;
};

/// A number is made on a third lane, brought to two ranks, and fetched from both by the third.
class SpanningTask : public testing::TestWithParam<std::size_t> {
 protected:
  SpanningTask() {
    for (Buffer* memory : {&source_, &number_, &data_, &fetched_}) {
      *memory = zeroed(device_->allocate(2 * sizeof(float), MemoryKind::device));
    }
    const float number = 7;
    std::memcpy(source_.data(), &number, sizeof number);
    for (auto& stream : streams_) lanes_.push_back(plan_.add_lane("lane", *stream));
    spin_ = device_->prepare(Spin{.duration = milliseconds(5)}, 1);
    const TaskId made =
        plan_.add({.name = "make", .lanes = {lanes_[2]}},
                  {OpCall{spin_.get(), {counter_}}, CopyCall{one(number_, 0), one(source_, 0)}});
    const TaskId brought = plan_.add(
        {.name = "bring", .lanes = {lanes_[0], lanes_[1]}, .after = {made}},
        {CollectiveCall{&communicator_, Collective::all_reduce, {one(data_, 0), one(data_, 1)}}});
    plan_.add({.name = "fetch", .lanes = {lanes_[2]}, .after = {brought}},
              {CopyCall{fetched_, data_}});
  }

  static BufferView one(const Buffer& numbers, std::size_t index) {
    return BufferView(numbers).part(index * sizeof(float), sizeof(float));
  }

  [[nodiscard]] std::array<float, 2> fetched() const {
    std::array<float, 2> values{};
    std::memcpy(values.data(), fetched_.data(), sizeof values);
    return values;
  }

  void forget() const {
    for (const Buffer* memory : {&number_, &data_, &fetched_}) {
      std::memset(memory->data(), 0, memory->bytes());
    }
  }

  Machine machine_;
  std::unique_ptr<Device> device_ = std::move(machine_.open("cpu:0").front());
  Buffer counter_ = zeroed(device_->allocate(sizeof(std::uint64_t), MemoryKind::device));
  Buffer source_;
  Buffer number_;
  Buffer data_;
  Buffer fetched_;
  std::unique_ptr<Op> spin_;
  EachByItself communicator_{*device_, GetParam(), BufferView(number_, 0, sizeof(float))};
  // Of copies, which have one thread on every machine.
  std::array<std::unique_ptr<Stream>, 3> streams_{device_->make_stream(StreamKind::copy),
                                                  device_->make_stream(StreamKind::copy),
                                                  device_->make_stream(StreamKind::copy)};
  std::vector<LaneId> lanes_;
  Plan plan_;
};

INSTANTIATE_TEST_SUITE_P(SlowRank, SpanningTask, testing::Values(0, 1));

TEST_P(SpanningTask, WaitsAndIsWaitedForOnAllItsLanes) {
  Executor executor(plan_);
  for (int run = 0; run < 3; ++run) {
    forget();
    (void)executor.run();
    EXPECT_THAT(fetched(), ElementsAre(7, 7)) << "run " << run;
  }
}

TEST_P(SpanningTask, KeepsItsOrderInAGraph) {
  Executor executor(plan_, SubmitMode::graph);
  executor.prepare_graph();
  for (int run = 0; run < 3; ++run) {
    forget();
    (void)executor.run();
    EXPECT_THAT(fetched(), ElementsAre(7, 7)) << "run " << run;
  }
}

TEST_P(SpanningTask, TakesAsLongAloneAsTheSlowestOfItsLanes) {
  Executor executor(plan_);
  (void)executor.run();
  EXPECT_GE(executor.measure_tasks([] { return false; }).at(1), 0.005);
}

TEST_P(SpanningTask, CannotBeLaunchedByAThreadALane) {
  try {
    const Executor executor(plan_, SubmitMode::thread_per_lane);
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("task bring has several lanes"));
  }
}

TEST_P(SpanningTask, WhatWentWrongBesideTheCallsEndsTheRun) {
  Executor executor(plan_);
  (void)executor.run();
  communicator_.fails = true;
  EXPECT_THROW((void)executor.run(), Error);
}

}  // namespace
}  // namespace parbench
