// Scenario collectives: its plans on devices that share memory, that do not, and that a library
// joins; what it refuses, its metrics and its answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "reports/text/text.h"
#include "scenarios/collectives/answer.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/collectives/algorithms.h"
#include "scenarios/framework/collectives/member_collectives.h"
#include "scenarios/framework/requests.h"
#include "tests/scenarios/answers/rivals.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/support/joined_device.h"

namespace parbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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

CaseSpec case_of(const Scenario& scenario, const std::string& collective,
                 const std::string& strategy, std::int64_t bytes, int devices) {
  Scenario::Request request;
  request.spec.scenario = scenario.name();
  request.spec.strategy = strategy;
  request.spec.parameters.set("collective", collective);
  request.spec.parameters.set("size", std::to_string(bytes));
  request.device_count = devices;
  request.given = {"strategy", "collective", "size"};
  const auto resolved = requested_case(scenario, request);
  if (!resolved) ADD_FAILURE() << collective << " by " << strategy << " makes no case";
  return resolved.value_or(request.spec);
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

/// A case with so many collectives in a row.
CaseSpec with_calls(CaseSpec spec, std::int64_t calls) {
  spec.parameters.set("calls", calls);
  return spec;
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

/// A case that takes `latency` and a time for each byte, by its collective and algorithm.
CaseOutcome outcome(const Scenario& scenario, const std::string& collective,
                    const std::string& strategy, std::int64_t bytes, double latency,
                    double bytes_per_second, double direct_seconds) {
  CaseOutcome one;
  one.spec = case_of(scenario, collective, strategy, bytes, 2);
  one.median_seconds = latency + static_cast<double>(bytes) / bytes_per_second;
  const double rate = static_cast<double>(bytes) / one.median_seconds;
  one.metrics[std::string(bus_bandwidth)] = {.value = rate,
                                             .interval = Interval{0.98 * rate, 1.02 * rate, 0.96}};
  if (strategy != "direct") {
    const double gain = direct_seconds / one.median_seconds;
    one.speedup = {.value = gain, .interval = Interval{0.99 * gain, 1.01 * gain, 0.96}};
  }
  return one;
}

std::vector<CaseOutcome> two_algorithms(const Scenario& scenario,
                                        const std::string& collective = "all-reduce") {
  std::vector<CaseOutcome> outcomes;
  for (const std::int64_t bytes : {4096, 262144, 16777216}) {
    const double direct = 20e-6 + static_cast<double>(bytes) / 8e9;
    outcomes.push_back(outcome(scenario, collective, "direct", bytes, 20e-6, 8e9, direct));
    outcomes.push_back(outcome(scenario, collective, "tree", bytes, 10e-6, 4e9, direct));
  }
  return outcomes;
}

TEST(CollectivesAnswer, NamesTheAlgorithmBySizeWithItsFit) {
  const auto scenario = make_collectives();
  const auto conclusion = scenario->answer(two_algorithms(*scenario), within(0.01));
  EXPECT_TRUE(conclusion.is_answered);
  EXPECT_THAT(conclusion.text,
              AllOf(StartsWith("For all-reduce use tree at 4.00 KiB, direct at 256 KiB and 16.0 "
                               "MiB. Bus bandwidth at 16.0 MiB in GB/s: all-reduce 7.92 (direct). "
                               "3 settings compared. All-reduce by direct: latency 20 ± "),
                    HasSubstr("µs, then 8 ± "), HasSubstr("GB/s; times within 0% of this")));
  std::vector<CaseOutcome> single_samples = two_algorithms(*scenario);
  for (CaseOutcome& one : single_samples) one.metrics.begin()->second.interval.reset();
  EXPECT_THAT(scenario->answer(single_samples, within(0.01)).text,
              AllOf(HasSubstr("3 settings compared."), Not(HasSubstr("latency"))));
  ASSERT_EQ(conclusion.recommendations.size(), 3U);
  std::vector<CaseOutcome> with_link = two_algorithms(*scenario);
  for (const std::int64_t bytes : {4096, 262144, 16777216}) {
    with_link.push_back(outcome(*scenario, "send-recv", "direct", bytes, 5e-6, 10e9, 0));
  }
  const std::string text = scenario->answer(with_link, within(0.01)).text;
  EXPECT_THAT(text, HasSubstr("Bus bandwidth at 16.0 MiB in GB/s: all-reduce 7.92, send-recv 9.97 "
                              "(direct)."));
  EXPECT_LE(report::wrapped(text, 98).size(), 3U) << text;
  EXPECT_EQ(conclusion.recommendations[0].setting, "all-reduce, 4.00 KiB");
  EXPECT_TRUE(conclusion.recommendations[0].pays);
  EXPECT_EQ(conclusion.recommendations[2].candidates.front().label, "direct");
}

TEST(CollectivesAnswer, FitsTheTimeOfOneOfTheCalls) {
  const auto scenario = make_collectives();
  std::vector<CaseOutcome> outcomes = two_algorithms(*scenario);
  for (CaseOutcome& one : outcomes) {
    one.spec = with_calls(one.spec, 10);
    one.median_seconds *= 10;
  }
  const Conclusion conclusion = scenario->answer(outcomes, within(0.01));
  EXPECT_THAT(conclusion.text, AllOf(HasSubstr("tree at 4.00 KiB in 10 calls, direct"),
                                     HasSubstr("All-reduce by direct: latency 20 ± ")));
  EXPECT_EQ(conclusion.recommendations[0].setting, "all-reduce, 4.00 KiB in 10 calls");
}

TEST(CollectivesAnswer, FitsNoLatencyBelowZero) {
  const auto scenario = make_collectives();
  std::vector<CaseOutcome> outcomes = two_algorithms(*scenario);
  outcomes.front().median_seconds = 1e-9;
  EXPECT_THAT(scenario->answer(outcomes, within(0.01)).text,
              AllOf(HasSubstr("3 settings compared. All-reduce by tree: latency 10 ± "),
                    Not(HasSubstr("by direct: latency"))));
}

TEST(CollectivesAnswer, FitsNoTimesThatLieOnNoLine) {
  const auto scenario = make_collectives();
  std::vector<CaseOutcome> outcomes = two_algorithms(*scenario);
  outcomes[4].median_seconds *= 2;  // direct at 16 MiB: its other times say 8 GB/s
  const Conclusion conclusion = scenario->answer(outcomes, within(0.01));
  EXPECT_THAT(conclusion.text, Not(HasSubstr("by direct: latency")));
  EXPECT_THAT(conclusion.text, HasSubstr("All-reduce by tree: latency 10 ± "));
}

TEST(CollectivesAnswer, FitsTheLinkByTheAlgorithmToUse) {
  const auto scenario = make_collectives();
  std::vector<CaseOutcome> outcomes;
  for (const std::int64_t bytes : {4096, 262144, 16777216}) {
    const double direct = 5e-6 + static_cast<double>(bytes) / 10e9;
    outcomes.push_back(outcome(*scenario, "send-recv", "direct", bytes, 5e-6, 10e9, direct));
    outcomes.push_back(outcome(*scenario, "send-recv", "nccl", bytes, 2e-6, 20e9, direct));
  }
  EXPECT_THAT(scenario->answer(outcomes, within(0.01)).text,
              AllOf(HasSubstr("Send-recv by nccl: latency 2 ± "), Not(HasSubstr("by direct: "))));
}

TEST(CollectivesAnswer, CountsTheSettingsOfSeveralCollectives) {
  const auto scenario = make_collectives();
  std::vector<CaseOutcome> outcomes = two_algorithms(*scenario, "broadcast");
  const std::vector<CaseOutcome> others = two_algorithms(*scenario);
  outcomes.insert(outcomes.end(), others.begin(), others.end());
  EXPECT_EQ(
      scenario->answer(outcomes, within(0.01)).text,
      "Another algorithm than direct pays at 2 settings and does not pay at 4 settings (see the "
      "table). Bus bandwidth at 16.0 MiB in GB/s: all-reduce 7.92, broadcast 7.92 (direct). "
      "Latency 10 to 20 µs.");
  outcomes.push_back(outcome(*scenario, "reduce", "direct", 4096, 20e-6, 8e9, 0));
  EXPECT_THAT(
      scenario->answer(outcomes, within(0.01)).text,
      HasSubstr("broadcast 7.92 at 16.0 MiB, reduce 0.200 at 4.00 KiB (direct). 6 of 7 settings "
                "compared."));
  for (CaseOutcome& one : outcomes) {
    if (one.speedup) one.speedup = {.value = 2, .interval = Interval{1.9, 2.1, 0.96}};
  }
  EXPECT_THAT(scenario->answer(outcomes, within(0.01)).text,
              StartsWith("Another algorithm than direct pays at every setting that was compared "
                         "(see the table). "));
  for (CaseOutcome& one : outcomes) {
    if (one.speedup) one.speedup = {.value = 0.5, .interval = Interval{0.4, 0.6, 0.96}};
  }
  EXPECT_THAT(
      scenario->answer(outcomes, within(0.01)).text,
      StartsWith("Another algorithm than direct does not pay at any setting that was compared; use "
                 "direct."));
}

TEST(CollectivesAnswer, NamesTheOneSizeOfAllBandwidths) {
  const auto scenario = make_collectives();
  std::vector<CaseOutcome> outcomes = two_algorithms(*scenario);
  outcomes.push_back(outcome(*scenario, "reduce", "direct", 4096, 20e-6, 8e9, 0));
  EXPECT_THAT(scenario->answer(outcomes, within(0.01)).text,
              HasSubstr("GB/s: all-reduce 7.92 at 16.0 MiB, reduce 0.200 at 4.00 KiB (direct)."));
  outcomes.back().metrics.clear();
  EXPECT_THAT(scenario->answer(outcomes, within(0.01)).text,
              HasSubstr("Bus bandwidth at 16.0 MiB in GB/s: all-reduce 7.92 (direct)."));
}

TEST(CollectivesAnswer, NamesNoBandwidthWithoutAVerdict) {
  const auto scenario = make_collectives();
  std::vector<CaseOutcome> outcomes = two_algorithms(*scenario);
  const auto disturb = [](CaseOutcome& one) {
    if (!one.speedup) return;
    one.load = 0.5;
    one.min_speedup = Ratio{0.4, Interval{0.39, 0.41, 0.97}, ""};
    one.max_speedup = Ratio{2.4, Interval{2.3, 2.5, 0.97}, ""};
  };
  disturb(outcomes.back());
  EXPECT_THAT(scenario->answer(outcomes, within(0.01)).text,
              AllOf(HasSubstr("No verdict at 1 setting, because other programs had up to 50% of"),
                    Not(HasSubstr("Bus bandwidth"))));
  for (CaseOutcome& one : outcomes) disturb(one);
  EXPECT_THAT(
      scenario->answer(outcomes, within(0.01)).text,
      AllOf(StartsWith("Another algorithm than direct: no verdict at any of 3 settings "
                       "(other programs had up to 50% of the core time); highest measured: "),
            HasSubstr("repeat on a quiet machine."), Not(HasSubstr("compared"))));
}

/// 64 KiB lies between two sizes that were compared, and was measured by one algorithm alone.
TEST(CollectivesAnswer, ClaimsNoSizeThatWasNotCompared) {
  const auto scenario = make_collectives();
  std::vector<CaseOutcome> outcomes;
  for (const std::int64_t bytes : {4096, 65536, 262144, 1048576}) {
    const double direct = 20e-6;
    outcomes.push_back(outcome(*scenario, "all-reduce", "direct", bytes, 20e-6, 8e15, direct));
    if (bytes == 65536) continue;
    outcomes.push_back(outcome(*scenario, "all-reduce", "ring", bytes, 10e-6, 8e15, direct));
  }
  EXPECT_THAT(scenario->answer(outcomes, within(0.01)).text,
              AllOf(StartsWith("For all-reduce use ring at 3 sizes from 4.00 KiB to 1.00 MiB."),
                    HasSubstr("3 of 4 settings compared.")));
}

TEST(CollectivesAnswer, CountsSizesWhereAlgorithmsTakeTurns) {
  const auto scenario = make_collectives();
  std::vector<CaseOutcome> outcomes;
  for (const std::int64_t bytes : {1024, 2048, 4096, 8192, 16384, 32768}) {
    const double ring = bytes % 3 == 1 ? 10e-6 : 30e-6;
    outcomes.push_back(outcome(*scenario, "all-reduce", "direct", bytes, 20e-6, 8e15, 20e-6));
    outcomes.push_back(outcome(*scenario, "all-reduce", "ring", bytes, ring, 8e15, 20e-6));
  }
  EXPECT_THAT(scenario->answer(outcomes, within(0.01)).text,
              StartsWith("For all-reduce use direct at 3 sizes, ring at 3 sizes. "));
}

TEST(CollectivesAnswer, PrefersTheSimplerOfTwoWithinThreePercent) {
  const auto scenario = make_collectives();
  std::vector<CaseOutcome> outcomes;
  for (const std::int64_t bytes : {4096, 262144}) {
    outcomes.push_back(outcome(*scenario, "all-reduce", "direct", bytes, 10.29e-6, 8e15, 0));
    outcomes.push_back(outcome(*scenario, "all-reduce", "tree", bytes, 10e-6, 8e15, 10.29e-6));
  }
  EXPECT_THAT(scenario->answer(outcomes, within(0.01)).text,
              StartsWith("For all-reduce use direct at 4.00 KiB and 256 KiB."));
}

TEST(CollectivesAnswer, NamesTheSizesThatWereCompared) {
  const auto scenario = make_collectives();
  std::vector<CaseOutcome> outcomes = two_algorithms(*scenario);
  for (CaseOutcome& one : outcomes) {
    if (one.speedup) one.speedup = {.value = 0.5, .interval = Interval{0.4, 0.6, 0.96}};
  }
  EXPECT_THAT(scenario->answer(outcomes, within(0.01)).text,
              StartsWith("For all-reduce use direct at 3 sizes from 4.00 KiB to 16.0 MiB. "));
  outcomes.resize(2);
  EXPECT_EQ(scenario->answer(outcomes, within(0.01)).text,
            "For all-reduce use direct at 4.00 KiB. Bus bandwidth at 4.00 KiB in GB/s: all-reduce "
            "0.200 (direct). 1 setting compared.");
}

TEST(CollectivesAnswer, FitsTheLinkAndCountsNoOneAlgorithm) {
  const auto scenario = make_collectives();
  std::vector<CaseOutcome> outcomes;
  for (const std::int64_t bytes : {4096, 262144, 16777216}) {
    outcomes.push_back(outcome(*scenario, "send-recv", "direct", bytes, 5e-6, 10e9, 0));
  }
  const auto conclusion = scenario->answer(outcomes, within(0.01));
  EXPECT_TRUE(conclusion.is_answered);
  EXPECT_THAT(
      conclusion.text,
      AllOf(HasSubstr("Send-recv by direct: latency 5 ± "), HasSubstr("then 10 ± "),
            StartsWith(
                "Bus bandwidth at 16.0 MiB in GB/s: send-recv 9.97 (direct). Not "
                "decided which algorithm to use: direct and another one were not both measured.")));
  EXPECT_TRUE(conclusion.recommendations.empty());
  std::vector<CaseOutcome> both = outcomes;
  for (const std::int64_t bytes : {4096, 262144, 16777216}) {
    const double direct = 5e-6 + static_cast<double>(bytes) / 10e9;
    both.push_back(outcome(*scenario, "send-recv", "nccl", bytes, 7e-6, 20e9, direct));
  }
  const Conclusion compared = scenario->answer(both, within(0.01));
  EXPECT_THAT(
      compared.text,
      AllOf(StartsWith("For send-recv use direct at 4.00 KiB, nccl at 256 KiB and 16.0 MiB. "
                       "Bus bandwidth at 16.0 MiB in GB/s: send-recv 19.8 (nccl). 3 settings "
                       "compared. Send-recv by direct: latency 5 ± ")));
  EXPECT_EQ(compared.recommendations.size(), 3U);
  outcomes.pop_back();
  EXPECT_FALSE(scenario->answer(outcomes, within(0.01)).is_answered) << "two sizes are no fit";
}

}  // namespace
}  // namespace parbench::test
