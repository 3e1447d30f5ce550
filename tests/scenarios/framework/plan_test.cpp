// Plans: what their graphs hold of streams and calls.
#include "scenarios/framework/plan.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

TEST(Plan, CopiesRunOnTheSendersLaneUnlessOnlyTheReceiverReachesBothEnds) {
  test::FakeDevice device(0);
  test::FakeDevice other(1);
  test::FakeDevice host(2, 2, {}, "host");
  host.set_host_memory();
  std::vector<std::unique_ptr<Stream>> streams;
  Plan plan;
  std::vector<LaneId> lanes;
  for (test::FakeDevice* owner : {&device, &other, &host}) {
    streams.push_back(owner->make_stream(StreamKind::copy, 0, 1));
    lanes.push_back(plan.add_lane("lane", *streams.back()));
  }
  const auto [a, b, on_host] = std::tuple(lanes[0], lanes[1], lanes[2]);
  EXPECT_EQ(copying_lanes(plan, a, b), std::vector{a}) << "devices of one backend";
  EXPECT_EQ(copying_lanes(plan, b, a), std::vector{b});
  EXPECT_EQ(copying_lanes(plan, a, on_host), std::vector{a});
  EXPECT_EQ(copying_lanes(plan, on_host, a), std::vector{a})
      << "the host reaches only its own memory";
}

TEST(Plan, CopyLanesCountForTheCoresThatTheyRunOn) {
  const auto device_cores = [](std::vector<int> copy_cores) {
    test::FakeDevice device(0, 1, std::move(copy_cores));
    const auto copy = device.make_stream(StreamKind::copy, 0, 1);
    Plan plan;
    return plan.graph().lane(plan.add_lane("copy", *copy, StreamKind::copy)).device_cores;
  };
  EXPECT_EQ(device_cores({}), 1);
  EXPECT_EQ(device_cores({1}), 0) << "a spare core copies";
}

/// The bound of two tasks of 2 and 3 seconds on two devices with one core each.
Bound bound_on(const std::vector<int>& cores) {
  test::FakeDevice first(0, 1);
  test::FakeDevice second(1, 1);
  first.set_cores({cores[0]});
  second.set_cores({cores[1]});
  const auto a = first.make_stream(StreamKind::compute, 0, 1);
  const auto b = second.make_stream(StreamKind::compute, 0, 1);
  Plan plan;
  plan.add({.name = "a", .lanes = {plan.add_lane("a", *a)}}, {CopyCall{}});
  plan.add({.name = "b", .lanes = {plan.add_lane("b", *b)}}, {CopyCall{}});
  return bound_of(plan, {2.0, 3.0});
}

TEST(Plan, OfDevicesThatShareACoreIsBoundByTheWorkOfThatCore) {
  EXPECT_DOUBLE_EQ(bound_on({0, 1}).seconds, 3);
  EXPECT_DOUBLE_EQ(bound_on({4, 4}).seconds, 5);
  EXPECT_DOUBLE_EQ(bound_on({4, 4}).busiest_device, 5);
  EXPECT_DOUBLE_EQ(bound_on({4, 4}).busiest_lane, 3);
}

TEST(Plan, RefusesCallsOnSeveralLanes) {
  test::FakeDevice device(0);
  const auto stream = device.make_stream(StreamKind::compute, 0, 1);
  Plan plan;
  const LaneId first = plan.add_lane("a", *stream);
  const LaneId second = plan.add_lane("b", *stream);
  EXPECT_THROW(plan.add({.name = "task", .lanes = {first, second}}, {CopyCall{}}),
               std::invalid_argument);
  EXPECT_NO_THROW(plan.add({.name = "task", .lanes = {first}}, {CopyCall{}}));
}

/// Two copies of `bytes` bytes on two streams, the second after the first if asked for.
Plan two_copies(Stream& first, Stream& second, std::size_t bytes, bool in_turn,
                const std::string& name = "copy") {
  Plan plan;
  plan.add_lane("unused", second);
  const LaneId a = plan.add_lane(name, first);
  const LaneId b = plan.add_lane(name, second);
  const CopyCall call{.destination = {}, .source = {}};
  CopyCall sized = call;
  sized.source.bytes = bytes;
  const TaskId before = plan.add({.name = name, .lanes = {a}}, {sized});
  plan.add({.name = name,
            .lanes = {b},
            .after = in_turn ? std::vector<TaskId>{before} : std::vector<TaskId>{}},
           {call});
  return plan;
}

TEST(Plan, EqualPlansDoTheSameOnTheSameStreams) {
  test::FakeDevice device(0);
  const auto one = device.make_stream(StreamKind::compute, 0, 2);
  const auto two = device.make_stream(StreamKind::compute, 1, 2);
  const Plan plan = two_copies(*one, *two, 8, true);
  EXPECT_TRUE(are_equal(plan, two_copies(*one, *two, 8, true, "of another name")));
  EXPECT_FALSE(are_equal(plan, two_copies(*one, *two, 8, false))) << "without the dependency";
  EXPECT_FALSE(are_equal(plan, two_copies(*one, *two, 16, true))) << "of another size";
  EXPECT_FALSE(are_equal(plan, two_copies(*two, *one, 8, true))) << "on other streams";
  Plan submitted = two_copies(*one, *two, 8, true);
  submitted.submit_as(SubmitMode::thread_per_lane);
  EXPECT_FALSE(are_equal(plan, submitted)) << "submitted in another way";
  Plan longer = two_copies(*one, *two, 8, true);
  longer.add({.name = "more", .lanes = {0}}, {});
  EXPECT_FALSE(are_equal(plan, longer));
}

}  // namespace
}  // namespace parbench
