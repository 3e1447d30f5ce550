// The answer by strategies: its settings, its labels and its sentences.
#include "scenarios/answers/best_strategy.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/bench/cli/described_scenarios.h"
#include "tests/scenarios/answers/rivals.h"

namespace parbench::test {
namespace {

using ::testing::EndsWith;
using ::testing::IsEmpty;

const DescribedScenario& scenario() {
  static const DescribedScenario made("made", {{"plain", "one"}, {"odd", "two"}, {"apt", "three"}},
                                      {make_axis("n", AxisKind::integer, {std::int64_t{8}}),
                                       make_axis("lanes", AxisKind::integer, {}, {"apt"})});
  return made;
}

/// A case whose speedup has an interval of 0.1 around it; 0: it has none.
CaseOutcome measured(const std::string& strategy, double seconds, double speedup,
                     std::int64_t n = 8) {
  CaseOutcome one;
  one.spec.scenario = "made";
  one.spec.strategy = strategy;
  one.spec.parameters.set("n", n);
  if (strategy == "apt") one.spec.parameters.set("lanes", std::int64_t{2});
  one.median_seconds = seconds;
  if (speedup > 0) {
    one.speedup = {speedup, Interval{speedup - 0.05, speedup + 0.05, 0.97}};
  }
  return one;
}

Conclusion answer(const std::vector<CaseOutcome>& outcomes) {
  return best_strategy(scenario(), outcomes, within(0.01));
}

TEST(BestStrategy, IsTheFastestWithItsTies) {
  const Conclusion made =
      answer({measured("apt", 1.0, 2.0), measured("odd", 1.005, 1.96), measured("plain", 2.0, 0)});
  EXPECT_EQ(
      made.text,
      "Use odd: 1.96× as fast as plain (1.91–2.01). The fastest is apt with lanes 2 (2.00×), tied "
      "within 3% with odd; odd is simpler.");
  ASSERT_EQ(made.recommendations.size(), 1);
  EXPECT_EQ(made.recommendations.front().candidates.front().name, "made/odd/n:8");
}

TEST(BestStrategy, NamesParametersThatNamesShowOrInWhichCasesDiffer) {
  CaseOutcome usual = measured("apt", 0.5, 4.0);
  usual.spec.parameters.imply("lanes", std::int64_t{1});
  const CaseOutcome plain = measured("plain", 2.0, 0);
  EXPECT_EQ(answer({plain, usual}).text, "Use apt: 4.00× as fast as plain (3.95–4.05).");
  EXPECT_EQ(answer({plain, measured("apt", 1.0, 2.0), usual}).text,
            "Use apt with lanes 1: 4.00× as fast as plain (3.95–4.05).");
  CaseOutcome of_other_work = measured("apt", 1.0, 0, 16);
  EXPECT_EQ(answer({plain, usual, of_other_work}).text,
            "At n 8, use apt: 4.00× as fast as plain (3.95–4.05). At n 16 there was nothing to "
            "compare with.");
}

TEST(BestStrategy, HasWordsOfAScenario) {
  const std::vector<CaseOutcome> outcomes{measured("plain", 2.0, 0), measured("apt", 1.0, 2.5)};
  const StrategyWords words{
      .named_by = "lanes",
      .name_words = "lanes ",
      .details = [](const Recommendation&, const Outcomes&) { return ", as planned"; },
      .remark = [](const Outcomes& all) { return " Cases: " + std::to_string(all.size()) + "."; }};
  EXPECT_EQ(best_strategy(scenario(), all_outcomes(outcomes), within(0.01), words).text,
            "Use lanes 2: 2.50× as fast as plain (2.45–2.55), as planned. Cases: 2.");
}

TEST(BestStrategy, PrefersTheSimplerCaseOfAStrategy) {
  CaseOutcome wide = measured("apt", 1.0, 2.0);
  wide.spec.parameters.set("lanes", std::int64_t{4});
  const std::vector<CaseOutcome> outcomes{measured("plain", 2.0, 0), measured("apt", 1.0, 2.0),
                                          wide};
  const StrategyWords words{.complexity = [](const CaseSpec& spec) {
    return std::vector{-spec.parameters.integer_or("lanes", 0)};
  }};
  const auto used = [&](const StrategyWords& with) {
    return best_strategy(scenario(), all_outcomes(outcomes), within(0.01), with)
        .recommendations.front()
        .candidates.front()
        .label;
  };
  EXPECT_EQ(used({}), "apt with lanes 2");
  EXPECT_EQ(used(words), "apt with lanes 4");
}

TEST(BestStrategy, IsTheBaselineWhereNoOtherGains) {
  const Conclusion made = answer({measured("plain", 1.0, 0), measured("odd", 1.002, 1.0)});
  EXPECT_EQ(
      made.text,
      "Use plain: no other strategy shows a gain; odd, tied with it: 1.00× as fast (0.95–1.05).");
  EXPECT_EQ(made.recommendations.front().candidates.front().label, "plain");
}

TEST(BestStrategy, SummarisesSettings) {
  const std::vector<CaseOutcome> outcomes{measured("plain", 2.0, 0), measured("odd", 1.0, 2.0),
                                          measured("plain", 2.0, 0, 16),
                                          measured("odd", 2.0, 1.0, 16)};
  const Conclusion made = answer(outcomes);
  EXPECT_EQ(
      made.text,
      "At n 8, use odd: 2.00× as fast as plain (1.95–2.05). Another strategy shows no gain at "
      "n 16: use plain.");
  EXPECT_EQ(made.recommendations.size(), 2);
  std::vector<CaseOutcome> more = outcomes;
  more.push_back(measured("plain", 3.0, 0, 32));
  more.push_back(measured("apt", 1.0, 3.0, 32));
  EXPECT_EQ(
      answer(more).text,
      "Another strategy pays at 2 settings and shows no gain at n 16; largest recommended gain "
      "that is shown: apt with lanes 2 at n 32, 3.00× as fast as plain (2.95–3.05).");
}

TEST(BestStrategy, IsTheBaselineWhereNothingPays) {
  EXPECT_EQ(answer({measured("plain", 1.0, 0), measured("odd", 1.2, 0.8),
                    measured("plain", 1.0, 0, 16), measured("odd", 1.1, 0.9, 16)})
                .text,
            "Another strategy does not pay at any setting that was compared; use plain.");
}

TEST(BestStrategy, IsUnknownWithoutASpeedup) {
  const Conclusion made = answer({measured("plain", 1.0, 0)});
  EXPECT_EQ(made.text, "Not decided: no strategy was measured beside plain.");
  EXPECT_THAT(made.recommendations, IsEmpty());
  EXPECT_FALSE(made.is_answered);
  EXPECT_EQ(answer({measured("odd", 1.0, 0), measured("apt", 1.0, 0)}).text,
            "Not decided: plain, the baseline, was not measured.");
}

TEST(BestStrategy, RemarksOnMoreThanTheDevicesCanGive) {
  CaseOutcome two = measured("apt", 1.0, 2.5);
  EXPECT_EQ(answer({measured("plain", 2.5, 0), two}).text,
            "Use apt with lanes 2: 2.50× as fast as plain (2.45–2.55).")
      << "streams of one device have no such limit";
  two.spec.parameters.set("devices", std::int64_t{2});
  EXPECT_THAT(
      answer({measured("plain", 2.5, 0), two}).text,
      EndsWith("This is more than 2 devices can give; likely cause: each device's part fits "
               "its caches better, or the baseline was disturbed."));
  const std::vector<CaseOutcome> outcomes{measured("plain", 2.5, 0), two};
  EXPECT_THAT(best_strategy(scenario(), all_outcomes(outcomes), within(0.01),
                            {.works_in_turn = [](const CaseSpec&) { return true; }})
                  .text,
              testing::HasSubstr("more than devices that work in turn can give"));
}

TEST(BestStrategy, NamesDevicesByTheirCores) {
  const DescribedScenario divided("made", {{"single", "one"}, {"all-cores", "all"}, {"odd", "two"}},
                                  {make_axis("n", AxisKind::integer, {std::int64_t{8}})});
  const auto case_on = [](const std::string& strategy, double speedup, std::size_t cores) {
    CaseOutcome one = measured(strategy, 1.0, speedup);
    if (speedup > 0) one.spec.parameters.set("devices", std::int64_t{2});
    one.cores = cores;
    return one;
  };
  const auto text = [&](std::size_t cores, double all, double odd) {
    return best_strategy(divided,
                         {case_on("single", 0, cores), case_on("all-cores", all, 2 * cores),
                          case_on("odd", odd, 2 * cores)},
                         within(0.01))
        .text;
  };
  EXPECT_EQ(text(1, 1.9, 1.5),
            "Use one device with both cores: 1.90× as fast as one core (1.85–1.95). The fastest "
            "that divides the work: odd, 1.50× (1.45–1.55).");
  EXPECT_EQ(text(4, 1.2, 1.5),
            "Use odd: 1.50× as fast as one device (1.45–1.55). One device with all 8 cores: "
            "1.20× (1.15–1.25).");
  EXPECT_EQ(text(0, 1.9, 1.5),
            "Use the whole GPU: 1.90× as fast as one device (1.85–1.95). The fastest that divides "
            "the work: odd, 1.50× (1.45–1.55).");
}

TEST(BestStrategy, NamesTheSettingsWithoutAComparison) {
  EXPECT_EQ(
      answer({measured("plain", 2.0, 0), measured("odd", 1.0, 2.0), measured("odd", 1.0, 0, 16)})
          .text,
      "At n 8, use odd: 2.00× as fast as plain (1.95–2.05). At n 16 there was nothing to compare "
      "with.");
}

}  // namespace
}  // namespace parbench::test
