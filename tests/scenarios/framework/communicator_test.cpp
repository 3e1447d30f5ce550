// Collectives of a communicator in plans: their lanes, work and bounds, and the sharded strategies
// of matmul by them.
#include "kernels/core/communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/execution/executor.h"
#include "bench/sampling/results.h"
#include "kernels/base/error.h"
#include "kernels/machine/machine.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/collectives/member_collectives.h"
#include "scenarios/framework/prepared_case.h"
#include "tests/bench/ranks/imagined_ranks.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/framework/members.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/support/cpu_devices.h"
#include "tests/support/joined_device.h"

namespace parbench::test {
namespace {

using ::testing::Contains;
using ::testing::Pair;

Context joined_fakes(int count) {
  std::vector<std::unique_ptr<Device>> devices;
  for (int i = 0; i < count; ++i) devices.push_back(std::make_unique<FakeDevice>(i));
  return {joined(std::move(devices)), {}};
}

/// On `size` joined devices. The floats of member r are r + 1.
struct JoinedMembers : Members {
  JoinedMembers(int size, std::int64_t count) : Members(joined_fakes(size), count) {}

  void run() {
    context.commit();
    for (std::size_t r = 0; r < tensors.size(); ++r) {
      for (float& value : values(r)) value = static_cast<float>(r + 1);
    }
    run_in_order(parts.plan);
  }
};

TEST(JoinedCollectives, AllReduceIsOneTaskOverTheCopyLanes) {
  JoinedMembers members(3, 4);
  const Completion done = members.add_up();
  EXPECT_THAT(members.parts.notes, Contains(Pair("all-reduce", "copies of a test")));
  EXPECT_THAT(done, testing::ElementsAre(std::vector{0}, std::vector{0}, std::vector{0}));
  ASSERT_EQ(members.parts.plan.graph().tasks.size(), 1U);
  const Task& task = members.parts.plan.graph().tasks.front();
  EXPECT_EQ(task.kind, TaskKind::communication);
  EXPECT_EQ(task.lanes,
            (std::vector{members.list[0].copies, members.list[1].copies, members.list[2].copies}));
  members.run();
  for (std::size_t r = 0; r < 3; ++r) EXPECT_THAT(members.values(r), testing::Each(6.0F)) << r;
}

TEST(JoinedCollectives, AllGatherOfEqualBlocks) {
  JoinedMembers members(2, 4);
  (void)members.gather({8, 8});
  EXPECT_THAT(members.parts.notes, Contains(Pair("all-gather", "copies of a test")));
  EXPECT_EQ(members.parts.plan.graph().tasks.size(), 1U);
  members.run();
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_THAT(members.values(r), testing::ElementsAre(1, 1, 2, 2)) << "member " << r;
  }
}

TEST(JoinedCollectives, BlocksOfUnequalSizesGoRoundTheRing) {
  JoinedMembers members(2, 4);
  (void)members.gather({12, 4});
  EXPECT_THAT(members.parts.notes, Contains(Pair("all-gather", "ring of copies")));
  members.run();
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_THAT(members.values(r), testing::ElementsAre(1, 1, 1, 2)) << "member " << r;
  }
}

// Beside its copies the ring reads and writes memory in its additions. That is no part of the least
// traffic of a collective (work_of): a library can add what arrives while it passes it on.
TEST(JoinedCollectives, AreAsMuchWorkAsTheRingWithoutTheMemoryOfItsAdditions) {
  const auto work_on = [](Context context, bool gathers) {
    Members members(std::move(context), 12);
    (void)(gathers ? members.gather({16, 16, 16}) : members.add_up());
    return members.parts.plan.graph().work();
  };
  constexpr double bytes_of_addition = 12;  // two f32 read and one written, after each copy
  for (const bool gathers : {false, true}) {
    const Work joined = work_on(joined_fakes(3), gathers);
    const Work ring = work_on(fake_context(3), gathers);
    EXPECT_DOUBLE_EQ(joined.flops, ring.flops);
    EXPECT_DOUBLE_EQ(joined.bytes, ring.bytes - bytes_of_addition * ring.flops);
  }
}

TEST(JoinedCollectives, CountForTheBoundOnEachOfTheirLanes) {
  JoinedMembers members(2, 4);
  (void)members.add_up();
  members.parts.plan.add({.name = "send", .lanes = {members.list[1].copies}}, {});
  members.parts.plan.add({.name = "multiply", .lanes = {members.list[1].compute}}, {});
  const Bound bound = bound_of(members.parts.plan.graph(), {4.0, 1.0, 2.0});
  EXPECT_DOUBLE_EQ(bound.busiest_lane, 5.0);
  EXPECT_EQ(bound.busiest_lane_name, "fake:1/copy");
  EXPECT_DOUBLE_EQ(bound.one_machine, 5.0);
  EXPECT_DOUBLE_EQ(bound.busiest_device, (4.0 + 1.0 + 2 * 2.0) / 2) << "two cores";
}

TEST(JoinedCollectives, AreNamedAmongTheKernels) {
  JoinedMembers members(2, 4);
  (void)members.gather({8, 8});
  const std::vector<report::Kernel> kernels = kernels_of(members.parts.plan);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].operation, "all-gather");
  EXPECT_EQ(kernels[0].implementation, "copies of a test");
}

TEST(JoinedCollectives, OrderMemberByMemberWhatFollowsOnTheSameLanes) {
  JoinedMembers members(2, 4);
  MemberCollectives collectives(members.parts, members.list);
  const Completion first =
      collectives.add("first", Collective::all_reduce, members.views, members.at_once());
  const Completion second = collectives.add("second", Collective::all_reduce, members.views, first);
  const TaskId reader = members.parts.plan.add(
      {.name = "read", .lanes = {members.list[0].compute}, .after = second[0]},
      {CopyCall{members.views[0].part(0, 4), members.views[1].part(0, 4)}});
  EXPECT_THAT(races(members.parts.plan), testing::IsEmpty());
  EXPECT_TRUE(is_ordered(members.parts.plan, first[1].front(), reader));
  members.parts.plan.add({.name = "early", .lanes = {members.list[0].copies}},
                         {CopyCall{members.views[0].part(0, 4), members.views[1].part(0, 4)}});
  EXPECT_THAT(races(members.parts.plan), Contains("second / early"))
      << "the order of a lane is that of its member alone";
}

TEST(JoinedCollectives, OneDeviceJoinsNoOther) {
  Context alone = joined_fakes(1);
  EXPECT_EQ(alone.communicator(), nullptr);
  Context strangers = fake_context(2);
  EXPECT_EQ(strangers.communicator(), nullptr) << "a device joins nothing by default";
}

TEST(JoinedCollectives, SomeOfTheDevicesHaveACommunicatorOfTheirOwn) {
  Context context = joined_fakes(4);
  Communicator* pair = context.communicator({2, 0});
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair->size(), 2);
  EXPECT_EQ(context.communicator({2, 0}), pair) << "made once";
  EXPECT_NE(context.communicator({0, 2}), pair) << "in another order";
  EXPECT_NE(context.communicator({1, 3}), nullptr);
  EXPECT_EQ(context.communicator({3}), nullptr) << "one device joins no other";
  EXPECT_EQ(context.communicator({0, 1, 2, 3}), context.communicator());
  Context strangers = fake_context(4);
  EXPECT_EQ(strangers.communicator({0, 2}), nullptr);
}

/// What a library that joins several processes has done, and does.
struct JoiningLibrary {
  int joined = 0;
  std::vector<std::vector<int>> splits;
  bool fails = false;  // the next split
};

class SplittableCommunicator final : public Communicator {
 public:
  SplittableCommunicator(int size, JoiningLibrary& library) : size_(size), library_(library) {}

  const std::string& name() const override { return name_; }
  int size() const override { return size_; }
  std::unique_ptr<Communicator> split(std::span<const int> ranks) override {
    if (std::exchange(library_.fails, false)) throw Error("no communicator is left");
    library_.splits.emplace_back(ranks.begin(), ranks.end());
    return std::make_unique<SplittableCommunicator>(static_cast<int>(ranks.size()), library_);
  }

 private:
  void enqueue_checked(Collective /*collective*/, std::span<Stream* const> /*streams*/,
                       std::span<const BufferView> /*data*/,
                       std::span<const BufferView> /*inputs*/) override {}

  std::string name_ = "library 1";
  int size_;
  JoiningLibrary& library_;
};

/// One device of each rank, joined by the library.
Context joined_ranks(ImaginedRanks& ranks, JoiningLibrary& library) {
  std::vector<std::unique_ptr<Device>> devices;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    auto device = std::make_unique<FakeDevice>(rank);
    device->set_joined(rank, "library 1");
    device->on_join = [&library](const Joining& joining) {
      ++library.joined;
      return std::make_unique<SplittableCommunicator>(joining.size, library);
    };
    devices.push_back(std::move(device));
  }
  return {std::move(devices), {.ranks = &ranks}};
}

TEST(JoinedRanks, SomeOfThemAreSplitOffAllInTheSameOrderEverywhere) {
  ImaginedRanks ranks(4);
  JoiningLibrary library;
  Context context = joined_ranks(ranks, library);
  Communicator* pair = context.communicator({0, 2});
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair->size(), 2);
  EXPECT_EQ(context.communicator({0, 2}), pair);
  EXPECT_NE(context.communicator({1, 3}), nullptr) << "all ranks take part, this one too";
  EXPECT_EQ(context.communicator({1}), nullptr);
  EXPECT_EQ(context.communicator()->size(), 4);
  EXPECT_EQ(library.joined, 1);
  EXPECT_EQ(library.splits, (std::vector<std::vector<int>>{{0, 2}, {1, 3}}));
}

TEST(JoinedRanks, SomeOfThemAreSplitOffAfterAFailure) {
  ImaginedRanks ranks(4);
  JoiningLibrary library;
  library.fails = true;
  Context context = joined_ranks(ranks, library);
  EXPECT_THROW((void)context.communicator({0, 2}), Error);
  EXPECT_NE(context.communicator({0, 2}), nullptr);
}

TEST(JoinedCollectives, NeedALaneForEachMember) {
  JoinedMembers members(2, 4);
  const CollectiveCall call{
      members.context.communicator(), Collective::all_reduce, {members.views[0], members.views[1]}};
  const LaneId lane = members.list[0].copies;
  const LaneId other = members.list[1].copies;
  Plan& plan = members.parts.plan;
  const auto add = [&](const Call& one, std::vector<LaneId> further) {
    std::vector<LaneId> lanes{lane};
    lanes.insert(lanes.end(), further.begin(), further.end());
    plan.add({.name = "t", .lanes = std::move(lanes)}, {one});
  };
  EXPECT_THROW(add(call, {}), std::invalid_argument);
  EXPECT_THROW(add(call, {lane}), std::invalid_argument) << "twice";
  EXPECT_THROW(add(call, {99}), std::invalid_argument);
  EXPECT_THROW(add(CopyCall{members.views[0], members.views[1]}, {other}), std::invalid_argument);
  EXPECT_NO_THROW(add(call, {other}));
}

TEST(JoinedCollectives, RefuseDataThatIsNotAsTheyNeedIt) {
  JoinedMembers members(2, 4);
  members.context.commit();
  Communicator& communicator = *members.context.communicator();
  const BufferView a = members.views[0];
  const BufferView b = members.views[1];
  const auto enqueue = [&](Collective collective, const std::vector<BufferView>& data) {
    communicator.enqueue(collective, members.streams, data);
  };
  EXPECT_THROW(enqueue(Collective::all_reduce, {a}), std::invalid_argument);
  EXPECT_THROW(enqueue(Collective::all_reduce, {a, b.part(0, 8)}), std::invalid_argument);
  EXPECT_THROW(enqueue(Collective::all_reduce, {a.part(0, 6), b.part(0, 6)}),
               std::invalid_argument);
  EXPECT_THROW(enqueue(Collective::all_gather, {a.part(0, 7), b.part(0, 7)}),
               std::invalid_argument);
  EXPECT_THROW(enqueue(Collective::send_recv, {a, b}), std::invalid_argument) << "no inputs";
}

TEST(JoinedCollectives, RefuseInputsThatAreNotAsTheyNeedThem) {
  JoinedMembers members(2, 8);
  members.context.commit();
  Communicator& communicator = *members.context.communicator();
  const auto half = [&](std::size_t rank, std::size_t which) {
    return members.views[rank].part(which * 16, 16);
  };
  const std::vector<BufferView> data{half(0, 0), half(1, 0)};
  const auto enqueue = [&](Collective collective, const std::vector<BufferView>& inputs) {
    communicator.enqueue(collective, members.streams, data, inputs);
  };
  EXPECT_NO_THROW(enqueue(Collective::all_to_all, {half(0, 1), half(1, 1)}));
  EXPECT_THROW(enqueue(Collective::all_to_all, {half(0, 1)}), std::invalid_argument);
  EXPECT_THROW(enqueue(Collective::send_recv, {half(0, 1), half(1, 1).part(0, 8)}),
               std::invalid_argument);
  EXPECT_THROW(enqueue(Collective::broadcast, {half(0, 1), half(1, 1)}), std::invalid_argument)
      << "it works in place";
}

/// Matmul on joined devices: n, and how the columns are gathered then.
struct Sharded {
  std::string strategy;
  std::int64_t n = 8;
  std::string note;
  std::string method;
};
void PrintTo(const Sharded& sharded, std::ostream* out) {
  *out << sharded.strategy << " of " << sharded.n;
}

class JoinedMatmul : public testing::TestWithParam<Sharded> {
 protected:
  [[nodiscard]] std::unique_ptr<Case> prepared(Context& context, int devices) const {
    const CaseSpec spec =
        spec_of(*scenario_, GetParam().strategy, {{"n", GetParam().n}, {"count", 3}}, devices);
    return ready_case(*scenario_, spec, context);
  }

  std::unique_ptr<Scenario> scenario_ = make_matmul();
};

INSTANTIATE_TEST_SUITE_P(
    Strategies, JoinedMatmul,
    testing::Values(Sharded{"column-sharded", 8, "all-gather", "copies of a test"},
                    Sharded{"column-sharded", 9, "all-gather", "ring of copies"},
                    Sharded{"row-sharded", 8, "all-reduce", "copies of a test"},
                    Sharded{"row-sharded", 9, "all-reduce", "copies of a test"}));

TEST_P(JoinedMatmul, IsRightAndFreeOfRaces) {
  Context context = joined_fakes(2);
  const auto subject = prepared(context, 2);
  EXPECT_THAT(races(subject->plan()), testing::IsEmpty());
  EXPECT_TRUE(subject->check()) << "wrong before it ran, and not found";
  run_in_order(subject->plan());
  EXPECT_EQ(subject->check(), std::nullopt);
  EXPECT_THAT(subject->notes(), Contains(Pair(GetParam().note, GetParam().method)));
}

TEST_P(JoinedMatmul, RunsOnRealStreams) {
  const Machine machine;
  if (machine.find("cpu")->device_limit() < 2) GTEST_SKIP() << "needs two CPU devices";
  Context context(joined(cpu_devices(2, machine)), {});
  const auto subject = prepared(context, 2);
  for (const SubmitMode mode : {SubmitMode::one_thread, SubmitMode::graph}) {
    Executor executor(subject->plan(), mode);
    if (mode == SubmitMode::graph) executor.prepare_graph();
    subject->reset();
    (void)executor.run();
    EXPECT_EQ(subject->check(), std::nullopt) << name_of(mode);
    const std::vector<double> costs = executor.measure_tasks([] { return false; });
    EXPECT_GT(bound_of(subject->plan().graph(), costs).seconds, 0);
    subject->reset();
  }
}

}  // namespace
}  // namespace parbench::test
