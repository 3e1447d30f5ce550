// Scenario collectives: its plans on devices that share memory, that do not, and that a library
// joins; what it refuses, and its metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/collectives/answer.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/collectives/algorithms.h"
#include "scenarios/framework/collectives/member_collectives.h"
#include "scenarios/framework/requests.h"
#include "tests/scenarios/collectives/collective_cases.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/support/joined_device.h"

namespace parbench::test {
namespace {

enum class Memory { own, shared, joined };

std::string name_of(Memory memory) {
  if (memory == Memory::own) return "own";
  return memory == Memory::shared ? "shared" : "joined";
}

Context context_of(int devices, Memory memory) {
  std::vector<std::unique_ptr<Device>> list;
  for (int i = 0; i < devices; ++i) {
    auto device = std::make_unique<FakeDevice>(i);
    if (memory == Memory::shared) device->set_host_memory();
    list.push_back(std::move(device));
  }
  return {memory == Memory::joined ? joined(std::move(list)) : std::move(list), {}};
}

using DevicesAndMemory = std::tuple<int, Memory>;

class CollectivesScenario : public testing::TestWithParam<DevicesAndMemory> {
 public:
  std::unique_ptr<Scenario> scenario = make_collectives();
};

INSTANTIATE_TEST_SUITE_P(Devices, CollectivesScenario,
                         testing::Combine(testing::Values(2, 3, 5),
                                          testing::Values(Memory::own, Memory::shared)),
                         [](const auto& one) {
                           return name_of(std::get<1>(one.param)) +
                                  std::to_string(std::get<0>(one.param));
                         });

TEST_P(CollectivesScenario, EveryAlgorithmIsRightAndFreeOfRaces) {
  const auto [devices, memory] = GetParam();
  Context context = context_of(devices, memory);
  for (const Collective collective : all_collectives) {
    for (const Algorithm algorithm : all_algorithms) {
      if (!has_algorithm(collective, algorithm)) continue;
      const std::string name(parbench::name_of(collective));
      SCOPED_TRACE(name + " by " + std::string(parbench::name_of(algorithm)));
      const CaseSpec spec =
          case_of(*scenario, name, std::string(parbench::name_of(algorithm)), 52, devices);
      const auto subject = ready_case(*scenario, spec, context);
      EXPECT_TRUE(races(subject->plan()).empty()) << races(subject->plan()).front();
      const auto before = subject->check();
      // The root of a broadcast has its result at the beginning; the others have not.
      EXPECT_TRUE(before) << "wrong before it ran, and not found";
      run_in_order(subject->plan());
      EXPECT_EQ(subject->check(), std::nullopt);
    }
  }
}

TEST_P(CollectivesScenario, EveryTaskCounts) {
  const auto [devices, memory] = GetParam();
  Context context = context_of(devices, memory);
  for (const char* collective : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
    const CaseSpec spec =
        case_of(*scenario, collective, "ring", std::int64_t{60} * devices, devices);
    const auto subject = ready_case(*scenario, spec, context);
    for (std::size_t skipped = 0; skipped < subject->plan().graph().tasks.size(); ++skipped) {
      subject->forget();
      subject->reset();
      run_in_order(without_calls_of(subject->plan(), skipped));
      EXPECT_TRUE(subject->check()) << collective << ": task " << skipped << " is not missed";
    }
  }
}

/// Messages of more than one chunk, by the inboxes where memory is not shared.
TEST_P(CollectivesScenario, ChunksAreRightAndFreeOfRaces) {
  const auto [devices, memory] = GetParam();
  Context context = context_of(devices, memory);
  const std::int64_t bytes = 4 * (3 * chunk_elements * devices + 5);
  for (const char* strategy : {"direct", "ring", "tree"}) {
    SCOPED_TRACE(strategy);
    const auto subject =
        ready_case(*scenario, case_of(*scenario, "all-reduce", strategy, bytes, devices), context);
    EXPECT_TRUE(races(subject->plan()).empty()) << races(subject->plan()).front();
    run_in_order(subject->plan());
    EXPECT_EQ(subject->check(), std::nullopt);
  }
}

TEST(CollectivesPlans, AddFromSharedMemoryWithoutCopies) {
  const auto scenario = make_collectives();
  const auto tasks_of = [&](Memory memory) {
    Context context = context_of(2, memory);
    const auto subject =
        ready_case(*scenario, case_of(*scenario, "reduce-scatter", "ring", 64, 2), context);
    return subject->plan().graph().tasks.size();
  };
  EXPECT_EQ(tasks_of(Memory::shared), 2U);
  EXPECT_EQ(tasks_of(Memory::own), 4U) << "a copy and an addition at each member";
}

TEST(CollectivesPlans, TheLibraryDoesAllCollectives) {
  const auto scenario = make_collectives();
  Context context = context_of(2, Memory::joined);
  for (const Collective collective : all_collectives) {
    const std::string name(parbench::name_of(collective));
    SCOPED_TRACE(name);
    const auto subject = ready_case(*scenario, case_of(*scenario, name, "nccl", 64, 2), context);
    EXPECT_EQ(subject->plan().graph().tasks.size(), 1U);
    EXPECT_TRUE(races(subject->plan()).empty());
    EXPECT_TRUE(subject->check());
    run_in_order(subject->plan());
    EXPECT_EQ(subject->check(), std::nullopt);
  }
  for (const std::string collective : {"all-gather", "all-to-all"}) {
    EXPECT_THROW(
        (void)ready_case(*scenario, case_of(*scenario, collective, "nccl", 60, 2), context),
        Unsupported)
        << "15 numbers are no two equal blocks";
  }
  Context apart = context_of(2, Memory::own);
  EXPECT_THROW((void)ready_case(*scenario, case_of(*scenario, "all-reduce", "nccl", 64, 2), apart),
               Unsupported);
}

TEST(CollectivesCases, AreThoseOfTheirCollective) {
  const auto scenario = make_collectives();
  Scenario::Request request;
  request.device_count = 2;
  request.spec = case_of(*scenario, "all-reduce", "direct", 64, 2);
  const auto resolved = [&](const std::string& collective, const std::string& strategy) {
    request.spec.strategy = strategy;
    request.spec.parameters.set("collective", collective);
    return requested_case(*scenario, request).has_value();
  };
  EXPECT_TRUE(resolved("broadcast", "tree"));
  EXPECT_FALSE(resolved("all-to-all", "tree"));
  EXPECT_FALSE(resolved("send-recv", "ring"));
  EXPECT_FALSE(resolved("all-reduce", "nccl")) << "quick, and not asked for";
  request.preset = Preset::published;
  EXPECT_TRUE(resolved("all-reduce", "nccl"));
  EXPECT_TRUE(resolved("all-to-all", "nccl"));
  request.devices_are_cpus = true;
  EXPECT_FALSE(resolved("all-reduce", "nccl")) << "no collective library connects CPU devices";
  request.given = {"strategy"};
  EXPECT_THROW((void)requested_case(*scenario, request), UsageError);
  request.given = {"size"};
  request.spec.parameters.set("size", "6");
  EXPECT_THROW((void)requested_case(*scenario, request), UsageError);
}

/// An all-reduce of four ranks, each with a CPU device.
Scenario::Request all_reduce_over_ranks(const Scenario& scenario, const std::string& strategy) {
  Scenario::Request request;
  request.spec = case_of(scenario, "all-reduce", "direct", 64, 4);
  request.spec.strategy = strategy;
  request.devices_are_cpus = true;
  request.devices_over_ranks = true;
  request.device_count = 4;
  return request;
}

TEST(CollectivesCases, ByDoublingNeedAPowerOfTwoOfRanks) {
  const auto scenario = make_collectives();
  Scenario::Request request = all_reduce_over_ranks(*scenario, "doubling");
  EXPECT_TRUE(requested_case(*scenario, request).has_value());
  request.device_count = 6;
  const Resolution resolution = scenario->resolve(request);
  ASSERT_TRUE(std::holds_alternative<Obstacle>(resolution));
  EXPECT_EQ(std::get<Obstacle>(resolution).message,
            "--strategy doubling needs a power of two of ranks, not 6; use rank-ring");
}

TEST(CollectivesCases, ByMachineNeedRanksThatAllowIt) {
  const auto scenario = make_collectives();
  Scenario::Request request = all_reduce_over_ranks(*scenario, "hierarchical");
  const Resolution resolution = scenario->resolve(request);
  ASSERT_TRUE(std::holds_alternative<Obstacle>(resolution));
  EXPECT_EQ(std::get<Obstacle>(resolution).message,
            "--strategy hierarchical needs several machines with the same number of ranks, at "
            "least two on each; use rank-ring");
  request.rank_all_reduces = {RankAllReduce::hierarchical};
  EXPECT_TRUE(requested_case(*scenario, request).has_value());
}

TEST(CollectivesMetrics, AreBandwidthsOfTheBusAndSharesOfALink) {
  const auto scenario = make_collectives();
  const CaseSpec spec = case_of(*scenario, "all-reduce", "ring", 1000, 4);
  const auto metrics = scenario->metrics(spec);
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].name, bus_bandwidth);
  EXPECT_EQ(metrics[0].unit, "B");
  const std::vector<double> seconds{0.5, 0.25};
  EXPECT_DOUBLE_EQ(metrics[0].value(seconds, {}), 1000 / 0.5 * 1.5);
  ASSERT_EQ(metrics[1].others.size(), 1U);
  EXPECT_EQ(metrics[1].others[0], case_of(*scenario, "send-recv", "direct", 1000, 4));
  EXPECT_DOUBLE_EQ(metrics[1].value(seconds, {}), (1000 / 0.5 * 1.5) / (1000 / 0.25));
  EXPECT_EQ(scenario->metrics(metrics[1].others[0]).size(), 1U);
}

TEST(CollectivesInARow, HaveArraysOfTheirOwnAndCountTogether) {
  const auto scenario = make_collectives();
  Context context = context_of(2, Memory::own);
  context.begin_case();
  const CaseSpec one = case_of(*scenario, "all-reduce", "ring", 1000, 2);
  const std::size_t tasks = scenario->prepare(one, context)->plan().graph().tasks.size();
  const std::size_t bytes = context.case_bytes(0);
  context.begin_case();
  const auto planned = scenario->prepare(with_calls(one, 3), context);
  EXPECT_EQ(planned->plan().graph().tasks.size(), 3 * tasks);
  EXPECT_EQ(planned->plan().graph().lanes.size(), 4U) << "the lanes are shared";
  EXPECT_GT(context.case_bytes(0), bytes);
  EXPECT_EQ(planned->amount().value, 3000);
  EXPECT_DOUBLE_EQ(scenario->metrics(with_calls(one, 3))[0].value(std::vector{0.5, 0.25}, {}),
                   3 * 1000 / 0.5);
}

}  // namespace
}  // namespace parbench::test
