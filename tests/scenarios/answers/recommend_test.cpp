// What is recommended of cases that do the same work, and how that is worded.
#include "scenarios/answers/recommend.h"

#include <gmock/gmock.h>

#include "scenarios/answers/wording.h"
#include "tests/scenarios/answers/rivals.h"

namespace parbench::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CaseOutcome made(const std::string& strategy, double seconds, double low = 0, double high = 0) {
  CaseOutcome one;
  one.spec.scenario = "made";
  one.spec.strategy = strategy;
  one.spec.parameters.set("n", std::int64_t{8});
  one.median_seconds = seconds;
  if (high > 0) one.speedup = {(low + high) / 2, Interval{low, high, 0.97}};
  return one;
}

/// By name; "base" is the baseline.
const Wording wording{
    .label = [](const CaseSpec& spec) { return spec.strategy; },
    .complexity = [](const CaseSpec& spec) { return std::vector<std::int64_t>{spec.strategy[0]}; },
    .baseline = "base"};

Recommendation recommended(const std::vector<CaseOutcome>& outcomes, double share = 0.01) {
  const auto groups = same_work(all_outcomes(outcomes), {"n"});
  EXPECT_EQ(groups.size(), 1);
  return recommend(groups.front(), wording, within(share));
}

std::vector<std::string> labels(const Recommendation& found) {
  std::vector<std::string> list;
  for (const LabelledCase& one : found.candidates) list.push_back(one.label);
  return list;
}

TEST(Recommend, TheCaseWithTheBestMedianOfPairedRatios) {
  const auto found = recommended({made("base", 2.0), made("a", 1.6, 1.2, 1.22),
                                  made("b", 1.5, 1.24, 1.26), made("c", 1.5, 1.3, 1.32)},
                                 0.2);
  EXPECT_TRUE(found.pays);
  EXPECT_THAT(labels(found), ElementsAre("c")) << "others cannot be the fastest by their intervals";
  EXPECT_THAT(found.tied, IsEmpty());
  EXPECT_DOUBLE_EQ(found.gain->value, 1.31);
}

TEST(Recommend, NamesSlowerCasesThatAreNotRuledOutAfterTheOthers) {
  const auto found = recommended({made("base", 2.0), made("a", 1.7, 1.0, 1.42),
                                  made("b", 1.5, 1.1, 1.5), made("c", 3, 0.5, 1.6)},
                                 0.2);
  EXPECT_THAT(labels(found), ElementsAre("b", "a")) << "c is ruled out by its samples";
  EXPECT_EQ(open_text(found), " More samples may show a to be faster.");
  EXPECT_EQ(tie_text(found), "");
}

TEST(Recommend, TheSimplestOfThoseWithinThreePercent) {
  const auto found = recommended({made("z", 1.0, 1.95, 2.05), made("base", 2.0),
                                  made("x", 1.005, 1.9, 2.0), made("y", 1.5, 1.98, 1.98)});
  EXPECT_TRUE(found.pays);
  EXPECT_THAT(labels(found), ElementsAre("x", "z", "y"));
  EXPECT_EQ(found.gaining->name, "made/x/n:8");
  EXPECT_DOUBLE_EQ(found.gain->value, 1.95);
  EXPECT_DOUBLE_EQ(found.fastest_gain->value, 2.0);
  EXPECT_EQ(tie_text(found),
            " The fastest is z (2.00×), tied within 3% with x and y; x is simpler.");
}

TEST(Recommend, TheFastestWhereASimplerOneIsSlowerByMore) {
  const auto found = recommended({made("base", 2.0), made("x", 1.0, 1.85, 2.03),
                                  made("y", 1.0, 1.95, 2.05), made("z", 1.0, 1.94, 2.0)});
  EXPECT_THAT(labels(found), ElementsAre("y", "z", "x"));
  EXPECT_FALSE(found.fastest_gain.has_value());
  EXPECT_EQ(tie_text(found), " It is tied with z (within 3%).");
}

TEST(Recommend, TheBaselineWhereItIsTiedWithTheFastest) {
  const auto found =
      recommended({made("base", 1.0), made("x", 0.995, 1.001, 1.02), made("y", 3.0, 0.3, 0.4)});
  EXPECT_FALSE(found.pays);
  EXPECT_THAT(labels(found), ElementsAre("base", "x"));
  EXPECT_EQ(found.gaining->label, "x");
  EXPECT_EQ(payoff_of(found), Payoff::gains_little);
  EXPECT_EQ(keep_text(found, payoff_clause(found, {"Splitting"})),
            "Use base: splitting gains less than 3%; x, tied with it: 1.010× as fast "
            "(1.001–1.020).");
  EXPECT_EQ(tie_text(found), "");
}

TEST(Recommend, TheBaselineIsTheSimplestOfAll) {
  EXPECT_THAT(labels(recommended({made("base", 1.001), made("a", 1.0, 0.9, 1.1)})),
              ElementsAre("base", "a"));
}

TEST(Recommend, WhatIsExpectedToBeTheFastestAlsoWhereItsGainIsNotShown) {
  const auto found = recommended({made("base", 1.15), made("x", 1.0, 0.9, 1.4)}, 0.2);
  EXPECT_THAT(labels(found), ElementsAre("x", "base"));
  EXPECT_FALSE(found.pays);
  EXPECT_EQ(payoff_of(found), Payoff::may_pay);
  EXPECT_EQ(use_text(found, "one device"),
            "Use x: 1.15× as fast as one device (0.90–1.40); the interval includes 1: more samples "
            "are needed to show a gain.");
  const auto close = recommended({made("base", 1.02), made("x", 1.0, 0.9, 1.14)}, 0.2);
  EXPECT_THAT(labels(close), ElementsAre("base", "x"));
  EXPECT_EQ(payoff_of(close), Payoff::shows_no_gain);
}

TEST(Recommend, FewSamplesDoNotShowAGain) {
  std::vector<CaseOutcome> cases{made("base", 1.4), made("x", 1.0, 1.36, 1.48)};
  EXPECT_TRUE(recommended(cases).pays);
  cases[1].speedup->interval->confidence = 0.875;
  const auto found = recommended(cases);
  EXPECT_FALSE(found.pays);
  EXPECT_EQ(payoff_of(found), Payoff::may_pay);
  EXPECT_EQ(use_text(found, "one device", ", 90% of its bound"),
            "Use x: 1.42× as fast as one device (1.36–1.48 at 87.5% confidence), 90% of its bound; "
            "more samples are needed to show it with 95% confidence.");
  cases[1].speedup->interval.reset();
  EXPECT_EQ(use_text(recommended(cases), "one device"),
            "Use x: 1.42× as fast as one device; it was measured in a single round: more samples "
            "are needed.");
}

TEST(Recommend, ProcessesAreValuesWhereThereAreSeveral) {
  std::vector<CaseOutcome> cases{made("base", 1.4), made("x", 1.0, 1.36, 1.48)};
  cases[1].processes = 3;
  cases[1].speedup->interval->confidence = 0.75;
  EXPECT_THAT(use_text(recommended(cases), "one device"),
              HasSubstr("; 6 processes are needed (--processes 6) to show it with 95% confidence."))
      << "no number of samples is enough";
  cases[1] = made("x", 1.0, 0.9, 1.9);
  cases[1].processes = 6;
  EXPECT_THAT(use_text(recommended(cases), "one device"),
              HasSubstr("; the interval includes 1: more processes are needed to show a gain."));
}

/// The gain of a case beside other programs, which cost the baseline up to `cost` of its time.
CaseOutcome loaded(const std::string& strategy, double low, double high, double cost) {
  CaseOutcome one = made(strategy, 1.0, low, high);
  one.load = 0.4;
  one.min_speedup = one.speedup;
  one.min_speedup->value *= 1 - cost;
  one.min_speedup->interval = Interval{low * (1 - cost), high * (1 - cost), 0.97};
  return one;
}

TEST(Recommend, GivesNoVerdictOnAGainThatLoadCanExplain) {
  const auto found = recommended({made("base", 4.0), loaded("x", 3.9, 4.3, 0.8)});
  EXPECT_FALSE(found.pays);
  EXPECT_DOUBLE_EQ(found.load, 0.4);
  EXPECT_EQ(payoff_of(found), Payoff::undecided);
  EXPECT_EQ(
      use_text(found, "one stream"),
      "No verdict: x measured 4.10× as fast as one stream (3.90–4.30); other programs had 40% "
      "of the core time (more in some rounds), which can change which case is the fastest: repeat "
      "on a quiet machine.");
  EXPECT_EQ(tie_text(found), "");
  const auto shown = recommended({made("base", 4.0), loaded("x", 3.9, 4.3, 0.7)});
  EXPECT_TRUE(shown.pays) << "3.9 × 0.3 is above 1";
  EXPECT_DOUBLE_EQ(shown.load, 0);
}

TEST(Recommend, GivesNoVerdictWhereLoadCanHideAFasterStrategy) {
  std::vector<CaseOutcome> cases{made("base", 1.0), made("x", 1.0, 0.95, 1.05)};
  cases[1].load = 0.3;
  cases[1].max_speedup = Ratio{1.09};
  EXPECT_EQ(payoff_of(recommended(cases)), Payoff::shows_no_gain);
  cases[1].max_speedup = Ratio{1.11};
  const auto found = recommended(cases);
  EXPECT_EQ(payoff_of(found), Payoff::undecided);
  EXPECT_THAT(use_text(found, "base"), HasSubstr("No verdict: x measured 1.00× as fast as base"));
  CaseOutcome fastest = made("x", 0.5, 1.9, 2.1);
  fastest.spec.parameters.set("split", std::int64_t{2});
  cases.push_back(fastest);
  cases[1].max_speedup = Ratio{3};
  EXPECT_TRUE(recommended(cases).pays) << "cases of one strategy suffer alike";
}

TEST(Recommend, KeepsAVerdictOnAGainThatStandsWhereLoadCanHideAFasterCase) {
  std::vector<CaseOutcome> cases{made("base", 4.0), made("x", 1.0, 3.9, 4.1),
                                 made("y", 1.1, 3.5, 3.7)};
  cases[2].load = 0.3;
  cases[2].max_speedup = Ratio{4.5};
  const auto found = recommended(cases);
  EXPECT_TRUE(found.pays);
  EXPECT_DOUBLE_EQ(found.load, 0);
  EXPECT_DOUBLE_EQ(found.hiding_load, 0.3);
  EXPECT_EQ(use_text(found, "base"),
            "Use x: 4.00× as fast as base (3.90–4.10); other programs had 30% of the core time "
            "(more in some rounds), which can change which case is the fastest: repeat on a quiet "
            "machine.");
  cases[2].max_speedup = Ratio{4.3};
  EXPECT_DOUBLE_EQ(recommended(cases).hiding_load, 0) << "by less than a tenth";
}

TEST(Recommend, AsksForAQuietMachineWhereLoadLeavesOthersOpen) {
  std::vector<CaseOutcome> cases{made("base", 2.0), made("a", 1.7, 1.02, 1.42),
                                 made("b", 1.5, 1.1, 1.5)};
  EXPECT_EQ(open_text(recommended(cases, 0.2)), " More samples may show a to be faster.");
  cases[2].load = 0.09;
  EXPECT_DOUBLE_EQ(recommended(cases, 0.2).hiding_load, 0);
  cases[2].load = 0.13;
  EXPECT_DOUBLE_EQ(recommended(cases, 0.2).hiding_load, 0.13);
  EXPECT_EQ(open_text(recommended(cases, 0.2)), "") << "beside the same load";
  EXPECT_DOUBLE_EQ(recommended(cases, 0.001).hiding_load, 0) << "distinguished from all others";
}

TEST(Recommend, NoTiedCaseWithoutAShownGainBeforeOneWithIt) {
  const auto found = recommended({made("base", 2.0), made("x", 1.0, 0.9, 3.0),
                                  made("y", 1.0, 1.9, 2.1), made("z", 1.0, 1.9, 2.06)});
  EXPECT_TRUE(found.pays);
  EXPECT_THAT(labels(found), ElementsAre("y", "z", "x"));
  const auto none =
      recommended({made("base", 2.0), made("x", 1.0, 0.9, 3.0), made("y", 1.0, 1.9, 2.0)});
  EXPECT_THAT(labels(none), ElementsAre("x", "y")) << "the gain of the fastest is not shown";
}

TEST(Recommend, NoCaseIsNamedThatIsSlowerThanTheBaseline) {
  const auto found =
      recommended({made("base", 1.0), made("x", 1.05, 0.1, 0.3), made("y", 1.0, 0.9, 1.12)}, 0.2);
  EXPECT_THAT(labels(found), ElementsAre("base", "y"));
}

TEST(Recommend, ShowsAGainBeforeALargerValueThatIsNone) {
  const auto found = recommended(
      {made("base", 1.0), made("x", 0.98, 0.9, 1.14), made("y", 0.99, 1.002, 1.02)}, 0.2);
  EXPECT_EQ(found.gaining->label, "y");
  EXPECT_EQ(payoff_of(found), Payoff::gains_little);
}

TEST(Recommend, ShowsACaseThatMayGainBeforeALargerLoss) {
  const auto found = recommended(
      {made("base", 1.0), made("x", 1.07, 0.91, 0.95), made("y", 1.1, 0.75, 1.07)}, 0.2);
  EXPECT_EQ(found.gaining->label, "y");
  EXPECT_EQ(payoff_of(found), Payoff::shows_no_gain);
}

TEST(Recommend, CasesWithoutARatioAreNotCompared) {
  const auto found = recommended({made("base", 2.0), made("a", 0.1), made("x", 1.0, 1.9, 2.1)});
  EXPECT_THAT(labels(found), ElementsAre("x"));
  const auto by_time = recommended({made("a", 1.2), made("x", 1.0), made("y", 0.99)}, 0);
  EXPECT_THAT(labels(by_time), ElementsAre("x", "y")) << "without any ratio, by their times";
  EXPECT_FALSE(by_time.gain.has_value());
  const auto by_median = recommended({made("base", 0.002), made("x", 0.004)}, 0);
  EXPECT_THAT(labels(by_median), ElementsAre("base")) << "x takes twice as long";
}

TEST(Recommend, NothingThatHasNoGain) {
  const auto found = recommended({made("base", 1.0), made("x", 4.0, 0.24, 0.26)});
  EXPECT_FALSE(found.pays);
  EXPECT_THAT(labels(found), ElementsAre("base"));
  EXPECT_TRUE(found.gain->below(1));
  const auto alone = recommended({made("base", 1.0)});
  EXPECT_FALSE(alone.gain.has_value());
  EXPECT_THAT(labels(alone), ElementsAre("base"));
}

TEST(RecommendEach, NamesGroupsWithoutASpeedup) {
  CaseOutcome large = made("x", 1, 1.9, 2.1);
  large.spec.parameters.set("n", std::int64_t{16});
  CaseOutcome alone = made("base", 1);
  alone.spec.parameters.set("n", std::int64_t{32});
  const std::vector<CaseOutcome> outcomes{large, made("base", 2), alone, made("y", 1, 1.3, 1.4)};
  const Outcomes all = all_outcomes(outcomes);
  const auto [found, not_compared] = recommend_each(all, {"n"}, wording, within(0.01));
  EXPECT_THAT(not_compared, ElementsAre("n 32"));
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].setting, "n 8");
  EXPECT_EQ(found[0].gaining->label, "y");
  EXPECT_EQ(found[1].setting, "n 16");
}

TEST(SameWork, GroupsByParametersAndFormatAndNamesWhatDiffers) {
  CaseOutcome large = made("x", 1);
  large.spec.parameters.set("n", std::int64_t{16});
  CaseOutcome narrow = made("x", 1);
  narrow.spec.dtype = DType::bf16;
  const std::vector<CaseOutcome> outcomes{large, made("x", 1), narrow, made("y", 1)};
  const auto groups = same_work(all_outcomes(outcomes), {"n", "none"});
  ASSERT_EQ(groups.size(), 3);
  EXPECT_EQ(groups[0].setting, "n 8, bf16");
  EXPECT_EQ(groups[1].setting, "n 8, f32");
  EXPECT_THAT(groups[1].cases, ElementsAre(&outcomes[1], &outcomes[3]));
  EXPECT_EQ(groups[2].setting, "n 16, f32");
}

/// The settings of cases with these values of "model" and "recompute", each with "width" as the
/// model's size.
std::vector<std::string> settings_of(
    const std::vector<std::pair<std::string, std::string>>& models_and_values) {
  std::vector<CaseOutcome> outcomes;
  for (const auto& [model, recompute] : models_and_values) {
    CaseOutcome& one = outcomes.emplace_back(made("x", 1));
    one.spec.parameters.set("model", model);
    one.spec.parameters.set("recompute", recompute);
    one.spec.parameters.set("width", static_cast<std::int64_t>(model.size()));
  }
  std::vector<std::string> settings;
  for (const SameWork& group : same_work(all_outcomes(outcomes), {"model", "recompute", "width"})) {
    settings.push_back(group.setting);
  }
  return settings;
}

TEST(SameWork, NamesTheAxisOfEveryValue) {
  EXPECT_THAT(settings_of({{"toy", "none"}, {"toy", "block"}}),
              ElementsAre("recompute block", "recompute none"));
  EXPECT_THAT(settings_of({{"runs/some.onnx", "none"}, {"toy", "none"}}),
              ElementsAre("model some.onnx", "model toy"))
      << "a file by its name";
}

TEST(SameWork, LeavesOutWhatFollowsFromAValueBeforeIt) {
  EXPECT_THAT(settings_of({{"toy", "none"}, {"large", "none"}}),
              ElementsAre("model large", "model toy"))
      << "the width is the model's";
  EXPECT_THAT(settings_of({{"toy", "none"}, {"toy", "block"}, {"large", "none"}}),
              ElementsAre("model large, recompute none", "model toy, recompute block",
                          "model toy, recompute none"));
}

}  // namespace
}  // namespace parbench::test
