// Capture and replay on CPU streams: order, failures, lifetimes, and what a capture refuses.
#include "kernels/core/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/machine/machine.h"
#include "tests/kernels/function_op.h"
#include "tests/support/cpu_devices.h"

namespace parbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

class GraphTest : public ::testing::Test {
 protected:
  /// Enqueues a function.
  void run(Stream& stream, std::function<void()> function) {
    ops_.emplace_back(std::move(function));
    ops_.back().enqueue(stream, {});
  }

  void order(Stream& before, Stream& after) {
    events_.push_back(device_.make_event(EventKind::ordering));
    before.record(*events_.back());
    after.wait(*events_.back());
  }

  /// 1 on the first stream, 2 and 3 beside each other, 4 after both: appended to `values_` as sums
  /// that no other order gives.
  void enqueue_diamond() {
    run(*first_, [this] { a_ = total_ + 1; });
    order(*first_, *second_);
    run(*first_, [this] { b_ = a_ * 3; });
    run(*second_, [this] { c_ = a_ * 5; });
    order(*second_, *first_);
    run(*first_, [this] { total_ = (b_ + c_) % 1'000'003; });
  }

  void synchronize() {
    first_->synchronize();
    second_->synchronize();
  }

  std::deque<test::FunctionOp> ops_;  // first: the streams may still refer to them
  std::vector<std::unique_ptr<Event>> events_;
  std::vector<std::unique_ptr<Device>> devices_ = test::cpu_devices(1);
  Device& device_ = *devices_.front();
  std::unique_ptr<Stream> first_ = device_.make_stream(StreamKind::compute, 0, 64);
  std::unique_ptr<Stream> second_ = device_.make_stream(StreamKind::compute, 1, 64);
  long total_ = 0;
  long a_ = 0;
  long b_ = 0;
  long c_ = 0;
};

TEST_F(GraphTest, CapturingExecutesNothing) {
  const std::unique_ptr<Graph> graph = first_->capture([this] { enqueue_diamond(); });
  synchronize();
  EXPECT_EQ(total_, 0);
}

TEST_F(GraphTest, EveryLaunchDoesWhatEnqueueingDoes) {
  constexpr int launches = 300;
  for (int i = 0; i < launches; ++i) enqueue_diamond();
  synchronize();
  const long direct = std::exchange(total_, 0);
  const std::unique_ptr<Graph> graph = first_->capture([this] { enqueue_diamond(); });
  for (int i = 0; i < launches; ++i) graph->launch();  // without waiting in between
  synchronize();
  EXPECT_EQ(total_, direct);
  EXPECT_NE(direct, 0);
}

TEST_F(GraphTest, AStreamThatOnlyWaitsMayStayUnjoined) {
  bool ran = false;
  const auto graph = first_->capture([&] {
    run(*first_, [&] { ran = true; });
    order(*first_, *second_);
  });
  graph->launch();
  synchronize();
  EXPECT_TRUE(ran);
}

TEST_F(GraphTest, ALaunchKeepsItsPlaceInItsStream) {
  std::vector<int> seen;
  const auto graph = first_->capture([&] {
    order(*first_, *second_);
    run(*second_, [&] { seen.push_back(2); });
    order(*second_, *first_);
  });
  std::promise<void> gate;
  run(*first_, [&, open = gate.get_future().share()] {
    open.wait();
    seen.push_back(1);
  });
  graph->launch();
  run(*first_, [&] { seen.push_back(3); });
  gate.set_value();
  first_->synchronize();
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST_F(GraphTest, TimingEventsStandAroundALaunch) {
  std::atomic<int> runs = 0;
  const auto graph = first_->capture([&] { run(*first_, [&] { ++runs; }); });
  const auto begin = device_.make_event();
  const auto end = device_.make_event();
  first_->record(*begin);
  graph->launch();
  first_->record(*end);
  first_->synchronize();
  EXPECT_GE(end->seconds_since(*begin), 0.0);
  EXPECT_EQ(runs, 1);
}

TEST_F(GraphTest, AFailureComesOutOfItsStreamOnceAndTheNextLaunchStartsClean) {
  int launches = 0;
  int after = 0;
  int joined = 0;
  const auto graph = first_->capture([&] {
    order(*first_, *second_);
    run(*second_, [&] {
      if (++launches == 2) throw Error("the second launch fails");
    });
    run(*second_, [&] { ++after; });
    order(*second_, *first_);
    run(*first_, [&] { ++joined; });
  });
  graph->launch();
  synchronize();
  graph->launch();
  EXPECT_THROW(second_->synchronize(), Error);
  first_->synchronize();
  EXPECT_EQ(after, 1) << "what follows a failure on its stream is skipped";
  EXPECT_EQ(joined, 2) << "the other stream is not held up";
  graph->launch();
  synchronize();
  EXPECT_EQ(after, 2);
}

TEST_F(GraphTest, AFailedCaptureLeavesItsStreamsUsable) {
  bool captured_ran = false;
  const auto failing = [&] {
    run(*first_, [&] { captured_ran = true; });
    order(*first_, *second_);
    run(*second_, [&] { captured_ran = true; });
    throw Error("this cannot be captured");
  };
  EXPECT_THROW((void)first_->capture(failing), Error);
  enqueue_diamond();
  synchronize();
  EXPECT_EQ(total_, 8);
  EXPECT_FALSE(captured_ran);
  const auto graph = first_->capture([this] { enqueue_diamond(); });
  graph->launch();
  synchronize();
  EXPECT_EQ(total_, 72);
}

TEST_F(GraphTest, RefusesWorkThatIsNotJoined) {
  const auto unjoined = [this] {
    order(*first_, *second_);
    run(*second_, [] {});
    order(*second_, *first_);
    run(*second_, [] {});
  };
  EXPECT_THAT([&] { (void)first_->capture(unjoined); },
              ThrowsMessage<std::logic_error>(HasSubstr("unjoined work on cpu:0/1")));
  synchronize();
}

TEST_F(GraphTest, JoinsThroughAnotherStream) {
  const auto third = device_.make_stream(StreamKind::copy);
  int ran = 0;
  const auto graph = first_->capture([&] {
    order(*first_, *second_);
    order(*second_, *third);
    run(*third, [&] { ++ran; });
    order(*third, *second_);
    run(*second_, [&] { ++ran; });
    order(*second_, *first_);
  });
  graph->launch();
  first_->synchronize();
  EXPECT_EQ(ran, 2);
}

TEST_F(GraphTest, RefusesWhatCannotBePartOfIt) {
  const auto outside = device_.make_event();
  second_->record(*outside);
  EXPECT_THROW((void)first_->capture([&] { first_->wait(*outside); }), std::logic_error);
  EXPECT_THROW((void)first_->capture([&] { first_->synchronize(); }), std::logic_error);
  EXPECT_THROW((void)first_->capture([&] { first_->reserve_scratch(1 << 20); }), std::logic_error);
  EXPECT_THROW((void)first_->capture([&] { (void)first_->capture([] {}); }), std::logic_error);
  const auto graph = first_->capture([] {});
  EXPECT_THROW((void)first_->capture([&] { graph->launch(); }), std::logic_error);
  synchronize();
}

TEST_F(GraphTest, AnEventOfACaptureMeansNothingOutsideUntilItIsRecordedAgain) {
  const auto event = device_.make_event();
  first_->record(*event);
  first_->synchronize();
  const auto graph = first_->capture([&] { first_->record(*event); });
  EXPECT_THROW(second_->wait(*event), std::logic_error);
  EXPECT_THROW((void)event->seconds_since(*event), std::logic_error);
  first_->record(*event);
  second_->wait(*event);
  synchronize();
  EXPECT_EQ(event->seconds_since(*event), 0.0);
}

TEST_F(GraphTest, ALaunchThatRunsOutlivesItsGraph) {
  std::promise<void> gate;
  std::vector<int> seen;
  auto graph = first_->capture([&, open = gate.get_future().share()] {
    run(*first_, [open] { open.wait(); });
    order(*first_, *second_);
    run(*second_, [&] { seen.push_back(1); });
    order(*second_, *first_);
    run(*first_, [&] { seen.push_back(2); });
  });
  graph->launch();
  graph.reset();
  EXPECT_THAT(seen, IsEmpty());
  gate.set_value();
  synchronize();
  EXPECT_THAT(seen, ElementsAre(1, 2));
}

TEST_F(GraphTest, AStreamThatGoesHoldsUpNoOther) {
  std::promise<void> started;
  bool joined = false;
  const auto graph = first_->capture([&] {
    order(*first_, *second_);
    run(*second_, [&] { started.set_value(); });
    for (int i = 0; i < 1000; ++i) run(*second_, [] {});
    order(*second_, *first_);
    run(*first_, [&] { joined = true; });
  });
  graph->launch();
  started.get_future().wait();
  second_.reset();  // in the middle of its list
  first_->synchronize();
  EXPECT_TRUE(joined);
}

}  // namespace
}  // namespace parbench
