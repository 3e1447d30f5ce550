// The answer of scenario collectives: algorithms by size, bandwidths and fits of latency.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/text/text.h"
#include "scenarios/collectives/answer.h"
#include "scenarios/framework/built_in.h"
#include "tests/scenarios/answers/rivals.h"
#include "tests/scenarios/collectives/collective_cases.h"

namespace parbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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

TEST(CollectivesAnswer, WritesLatenciesWithoutExponents) {
  const auto scenario = make_collectives();
  for (const auto& [latency, text] :
       {std::pair(999.7e-6, "latency 1000 ± "), std::pair(3242.4e-6, "latency 3242 ± ")}) {
    std::vector<CaseOutcome> outcomes;
    for (const std::int64_t bytes : {4096, 262144, 16777216}) {
      outcomes.push_back(outcome(*scenario, "send-recv", "direct", bytes, latency, 10e9, 0));
    }
    EXPECT_THAT(scenario->answer(outcomes, within(0.01)).text, HasSubstr(text));
  }
}

}  // namespace
}  // namespace parbench::test
