// Plans: what their graphs hold of streams and calls.
#include "scenarios/framework/plan.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
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
  EXPECT_EQ(copying_lane(plan, a, b), a) << "devices of one backend";
  EXPECT_EQ(copying_lane(plan, b, a), b);
  EXPECT_EQ(copying_lane(plan, a, on_host), a);
  EXPECT_EQ(copying_lane(plan, on_host, a), a) << "the host reaches only its own memory";
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

}  // namespace
}  // namespace parbench
