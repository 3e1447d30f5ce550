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
#include "scenarios/framework/collectives.h"
#include "scenarios/framework/prepared_case.h"
#include "scenarios/matmul/matmul.h"
#include "tests/bench/ranks/imagined_ranks.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/framework/ranks.h"
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

/// On `size` joined devices. The floats of rank r are r + 1.
struct JoinedRanks : Ranks {
  JoinedRanks(int size, std::int64_t count) : Ranks(joined_fakes(size), count) {}

  void run() {
    context.commit();
    for (std::size_t r = 0; r < tensors.size(); ++r) {
      for (float& value : values(r)) value = static_cast<float>(r + 1);
    }
    run_in_order(parts.plan);
  }
};

TEST(JoinedCollectives, AllReduceIsOneTaskOverTheCopyLanes) {
  JoinedRanks ranks(3, 4);
  const AllReduce all_reduce = ranks.all_reduce(ranks.context.communicator(), 4);
  EXPECT_EQ(all_reduce.method(), "copies of a test");
  const Completion done = all_reduce.add(ranks.parts.plan, "sum", ranks.list);
  EXPECT_THAT(done, testing::ElementsAre(std::vector{0}, std::vector{0}, std::vector{0}));
  ASSERT_EQ(ranks.parts.plan.graph().tasks.size(), 1U);
  const Task& task = ranks.parts.plan.graph().tasks.front();
  EXPECT_EQ(task.kind, TaskKind::communication);
  EXPECT_EQ(task.lanes,
            (std::vector{ranks.list[0].copies, ranks.list[1].copies, ranks.list[2].copies}));
  ranks.run();
  for (std::size_t r = 0; r < 3; ++r) EXPECT_THAT(ranks.values(r), testing::Each(6.0F)) << r;
}

TEST(JoinedCollectives, AllGatherOfEqualBlocks) {
  JoinedRanks ranks(2, 4);
  const AllGather all_gather(ranks.context.communicator(), {8, 8});
  EXPECT_EQ(all_gather.method(), "copies of a test");
  (void)all_gather.add(ranks.parts.plan, "gather", ranks.list);
  EXPECT_EQ(ranks.parts.plan.graph().tasks.size(), 1U);
  ranks.run();
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_THAT(ranks.values(r), testing::ElementsAre(1, 1, 2, 2)) << "rank " << r;
  }
}

TEST(JoinedCollectives, BlocksOfUnequalSizesGoRoundTheRing) {
  JoinedRanks ranks(2, 4);
  const AllGather all_gather(ranks.context.communicator(), {12, 4});
  EXPECT_EQ(all_gather.method(), "ring of copies");
  (void)all_gather.add(ranks.parts.plan, "gather", ranks.list);
  ranks.run();
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_THAT(ranks.values(r), testing::ElementsAre(1, 1, 1, 2)) << "rank " << r;
  }
}

// Beside its copies the ring reads and writes memory in its additions. That is no part of the least
// traffic of a collective (work_of): a library can add what arrives while it passes it on.
TEST(JoinedCollectives, AreAsMuchWorkAsTheRingWithoutTheMemoryOfItsAdditions) {
  const auto work_by = [](bool with_communicator, bool gathers) {
    JoinedRanks ranks(3, 12);
    Communicator* by = with_communicator ? ranks.context.communicator() : nullptr;
    if (gathers) {
      (void)AllGather(by, {16, 16, 16}).add(ranks.parts.plan, "gather", ranks.list);
    } else {
      (void)ranks.all_reduce(by, 12).add(ranks.parts.plan, "sum", ranks.list);
    }
    return ranks.parts.plan.graph().work();
  };
  constexpr double bytes_of_addition = 12;  // two f32 read and one written, behind each copy
  for (const bool gathers : {false, true}) {
    const Work joined = work_by(true, gathers);
    const Work ring = work_by(false, gathers);
    EXPECT_DOUBLE_EQ(joined.flops, ring.flops);
    EXPECT_DOUBLE_EQ(joined.bytes, ring.bytes - bytes_of_addition * ring.flops);
  }
}

TEST(JoinedCollectives, CountForTheBoundOnEachOfTheirLanes) {
  JoinedRanks ranks(2, 4);
  (void)ranks.all_reduce(ranks.context.communicator(), 4).add(ranks.parts.plan, "sum", ranks.list);
  ranks.parts.plan.add({.name = "send", .lanes = {ranks.list[1].copies}}, {});
  ranks.parts.plan.add({.name = "multiply", .lanes = {ranks.list[1].compute}}, {});
  const Bound bound = bound_of(ranks.parts.plan.graph(), {4.0, 1.0, 2.0});
  EXPECT_DOUBLE_EQ(bound.busiest_lane, 5.0);
  EXPECT_EQ(bound.busiest_lane_name, "fake:1/copy");
  EXPECT_DOUBLE_EQ(bound.one_machine, 5.0);
  EXPECT_DOUBLE_EQ(bound.busiest_device, (4.0 + 1.0 + 2 * 2.0) / 2) << "two cores";
}

TEST(JoinedCollectives, AreNamedAmongTheKernels) {
  JoinedRanks ranks(2, 4);
  (void)AllGather(ranks.context.communicator(), {8, 8}).add(ranks.parts.plan, "g", ranks.list);
  const std::vector<report::Kernel> kernels = kernels_of(ranks.parts.plan);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].operation, "all-gather");
  EXPECT_EQ(kernels[0].implementation, "copies of a test");
}

TEST(JoinedCollectives, OrderRankByRankWhatFollowsOnTheSameLanes) {
  JoinedRanks ranks(2, 4);
  const AllReduce all_reduce = ranks.all_reduce(ranks.context.communicator(), 4);
  const Completion first = all_reduce.add(ranks.parts.plan, "first", ranks.list);
  for (std::size_t r = 0; r < 2; ++r) ranks.list[r].ready = first[r];
  const Completion second = all_reduce.add(ranks.parts.plan, "second", ranks.list);
  const TaskId reader = ranks.parts.plan.add(
      {.name = "read", .lanes = {ranks.list[0].compute}, .after = second[0]},
      {CopyCall{ranks.list[0].data.part(0, 4), ranks.list[1].data.part(0, 4)}});
  EXPECT_THAT(races(ranks.parts.plan), testing::IsEmpty());
  EXPECT_TRUE(is_ordered(ranks.parts.plan, first[1].front(), reader));
  ranks.parts.plan.add({.name = "early", .lanes = {ranks.list[0].copies}},
                       {CopyCall{ranks.list[0].data.part(0, 4), ranks.list[1].data.part(0, 4)}});
  EXPECT_THAT(races(ranks.parts.plan), Contains("second / early"))
      << "the order of a lane is that of its rank alone";
}

TEST(JoinedCollectives, OneRankJoinsNoOther) {
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

TEST(JoinedCollectives, NeedALaneForEachRank) {
  JoinedRanks ranks(2, 4);
  const CollectiveCall call{ranks.context.communicator(),
                            Collective::all_reduce,
                            {ranks.list[0].data, ranks.list[1].data}};
  const LaneId lane = ranks.list[0].copies;
  const LaneId other = ranks.list[1].copies;
  Plan& plan = ranks.parts.plan;
  const auto add = [&](const Call& one, std::vector<LaneId> further) {
    std::vector<LaneId> lanes{lane};
    lanes.insert(lanes.end(), further.begin(), further.end());
    plan.add({.name = "t", .lanes = std::move(lanes)}, {one});
  };
  EXPECT_THROW(add(call, {}), std::invalid_argument);
  EXPECT_THROW(add(call, {lane}), std::invalid_argument) << "twice";
  EXPECT_THROW(add(call, {99}), std::invalid_argument);
  EXPECT_THROW(add(CopyCall{ranks.list[0].data, ranks.list[1].data}, {other}),
               std::invalid_argument);
  EXPECT_NO_THROW(add(call, {other}));
}

TEST(JoinedCollectives, RefuseDataThatIsNotAsTheyNeedIt) {
  JoinedRanks ranks(2, 4);
  ranks.context.commit();
  Communicator& communicator = *ranks.context.communicator();
  const BufferView a = ranks.list[0].data;
  const BufferView b = ranks.list[1].data;
  const auto enqueue = [&](Collective collective, const std::vector<BufferView>& data) {
    communicator.enqueue(collective, ranks.streams, data);
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
  JoinedRanks ranks(2, 8);
  ranks.context.commit();
  Communicator& communicator = *ranks.context.communicator();
  const auto half = [&](std::size_t rank, std::size_t which) {
    return ranks.list[rank].data.part(which * 16, 16);
  };
  const std::vector<BufferView> data{half(0, 0), half(1, 0)};
  const auto enqueue = [&](Collective collective, const std::vector<BufferView>& inputs) {
    communicator.enqueue(collective, ranks.streams, data, inputs);
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
