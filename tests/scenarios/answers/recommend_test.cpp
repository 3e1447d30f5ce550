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
  if (high > 0) one.speedup = {(low + high) / 2, report::Interval{low, high, 0.97}};
  return one;
}

/// By name; "base" is the baseline.
const Wording wording{
    .label = [](const CaseSpec& spec) { return spec.strategy; },
    .simpler = [](const CaseSpec& a, const CaseSpec& b) { return a.strategy < b.strategy; },
    .is_baseline = [](const CaseSpec& spec) { return spec.strategy == "base"; }};

report::Recommendation recommended(const std::vector<CaseOutcome>& outcomes, double share = 0.01) {
  const auto groups =
      same_work(outcomes_where(outcomes, [](const CaseOutcome&) { return true; }), {"n"});
  EXPECT_EQ(groups.size(), 1);
  return recommend(groups.front(), wording, within(share));
}

std::vector<std::string> labels(const report::Recommendation& found) {
  std::vector<std::string> list;
  for (const report::LabelledCase& one : found.candidates) list.push_back(one.label);
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
  EXPECT_EQ(payoff_of(found), report::Payoff::gains_little);
  EXPECT_EQ(keep_text(found, payoff_clause(found, "splitting", "pays")),
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
  EXPECT_EQ(payoff_of(found), report::Payoff::may_pay);
  EXPECT_EQ(use_text(found, "one device"),
            "Use x: 1.15× as fast as one device (0.90–1.40); the interval includes 1: more samples "
            "are needed to show a gain.");
  const auto close = recommended({made("base", 1.02), made("x", 1.0, 0.9, 1.14)}, 0.2);
  EXPECT_THAT(labels(close), ElementsAre("base", "x"));
  EXPECT_EQ(payoff_of(close), report::Payoff::shows_no_gain);
}

TEST(Recommend, FewSamplesDoNotShowAGain) {
  std::vector<CaseOutcome> cases{made("base", 1.4), made("x", 1.0, 1.36, 1.48)};
  EXPECT_TRUE(recommended(cases).pays);
  cases[1].speedup->interval->confidence = 0.875;
  const auto found = recommended(cases);
  EXPECT_FALSE(found.pays);
  EXPECT_EQ(payoff_of(found), report::Payoff::may_pay);
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
  one.min_speedup->interval = report::Interval{low * (1 - cost), high * (1 - cost), 0.97};
  return one;
}

TEST(Recommend, GivesNoVerdictOnAGainThatLoadCanExplain) {
  const auto found = recommended({made("base", 4.0), loaded("x", 3.9, 4.3, 0.8)});
  EXPECT_FALSE(found.pays);
  EXPECT_DOUBLE_EQ(found.load, 0.4);
  EXPECT_EQ(payoff_of(found), report::Payoff::undecided);
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
  cases[1].max_speedup = report::Ratio{1.09};
  EXPECT_EQ(payoff_of(recommended(cases)), report::Payoff::shows_no_gain);
  cases[1].max_speedup = report::Ratio{1.11};
  const auto found = recommended(cases);
  EXPECT_EQ(payoff_of(found), report::Payoff::undecided);
  EXPECT_THAT(use_text(found, "base"), HasSubstr("No verdict: x measured 1.00× as fast as base"));
  CaseOutcome fastest = made("x", 0.5, 1.9, 2.1);
  fastest.spec.parameters.set("split", std::int64_t{2});
  cases.push_back(fastest);
  cases[1].max_speedup = report::Ratio{3};
  EXPECT_TRUE(recommended(cases).pays) << "cases of one strategy suffer alike";
}

TEST(Recommend, KeepsAVerdictOnAGainThatStandsWhereLoadCanHideAFasterCase) {
  std::vector<CaseOutcome> cases{made("base", 4.0), made("x", 1.0, 3.9, 4.1),
                                 made("y", 1.1, 3.5, 3.7)};
  cases[2].load = 0.3;
  cases[2].max_speedup = report::Ratio{4.5};
  const auto found = recommended(cases);
  EXPECT_TRUE(found.pays);
  EXPECT_DOUBLE_EQ(found.load, 0);
  EXPECT_DOUBLE_EQ(found.hiding_load, 0.3);
  EXPECT_EQ(use_text(found, "base"),
            "Use x: 4.00× as fast as base (3.90–4.10); other programs had 30% of the core time "
            "(more in some rounds), which can change which case is the fastest: repeat on a quiet "
            "machine.");
  cases[2].max_speedup = report::Ratio{4.3};
  EXPECT_DOUBLE_EQ(recommended(cases).hiding_load, 0) << "by less than a tenth";
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
  EXPECT_EQ(payoff_of(found), report::Payoff::gains_little);
}

TEST(Recommend, ShowsACaseThatMayGainBeforeALargerLoss) {
  const auto found = recommended(
      {made("base", 1.0), made("x", 1.07, 0.91, 0.95), made("y", 1.1, 0.75, 1.07)}, 0.2);
  EXPECT_EQ(found.gaining->label, "y");
  EXPECT_EQ(payoff_of(found), report::Payoff::shows_no_gain);
}

TEST(Recommend, CasesWithoutARatioAreNotCompared) {
  const auto found = recommended({made("base", 2.0), made("a", 0.1), made("x", 1.0, 1.9, 2.1)});
  EXPECT_THAT(labels(found), ElementsAre("x"));
  const auto by_time = recommended({made("a", 1.2), made("x", 1.0), made("y", 0.99)}, 0);
  EXPECT_THAT(labels(by_time), ElementsAre("x", "y")) << "without any ratio, by their times";
  EXPECT_FALSE(by_time.gain.has_value());
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
  const Outcomes all = outcomes_where(outcomes, [](const CaseOutcome&) { return true; });
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
  const auto groups =
      same_work(outcomes_where(outcomes, [](const CaseOutcome&) { return true; }), {"n", "none"});
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
  for (const SameWork& group :
       same_work(outcomes_where(outcomes, [](const CaseOutcome&) { return true; }),
                 {"model", "recompute", "width"})) {
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

/// A recommendation for "n <number>" whose gain has this payoff.
report::Recommendation with_payoff(report::Payoff payoff, int number = 0) {
  using enum report::Payoff;
  const report::LabelledCase base{"base", "made/base"};
  const report::LabelledCase other{"x", "made/x"};
  report::Recommendation one{.setting = "n " + std::to_string(number),
                             .candidates = {payoff >= may_pay ? other : base},
                             .pays = payoff == pays,
                             .gaining = other};
  double value = 1;
  if (payoff == does_not_pay) value = 0.5;
  if (payoff >= may_pay) value = 2;
  double half = payoff == shows_no_gain ? 0.9 : 0.1;
  if (payoff == gains_little) {
    value = 1.02;
    half = 0.01;
  }
  one.gain = {value, report::Interval{value - half, value + half, 0.97}};
  return one;
}

std::vector<report::Recommendation> with_payoffs(const std::vector<report::Payoff>& payoffs) {
  std::vector<report::Recommendation> list;
  for (const report::Payoff payoff : payoffs) {
    list.push_back(with_payoff(payoff, static_cast<int>(list.size())));
  }
  return list;
}

TEST(Payoff, DistinguishesALossAndNoGainFromAGainThatIsNotShown) {
  using enum report::Payoff;
  for (const report::Payoff payoff : {does_not_pay, shows_no_gain, gains_little, may_pay, pays}) {
    EXPECT_EQ(payoff_of(with_payoff(payoff)), payoff) << to_string(payoff);
  }
  report::Recommendation once = with_payoff(may_pay);
  once.gain->interval.reset();
  EXPECT_EQ(payoff_of(once), may_pay) << "a single sample shows nothing";
  once = with_payoff(does_not_pay);
  once.gain->interval.reset();
  EXPECT_EQ(payoff_of(once), shows_no_gain) << "nor does it show a loss";
}

TEST(Payoff, FewSamplesShowNoLoss) {
  report::Recommendation one = with_payoff(report::Payoff::does_not_pay);
  one.gain->interval->confidence = 0.75;
  EXPECT_EQ(payoff_of(one), report::Payoff::shows_no_gain);
}

TEST(Wording, TheBestIsTheOneThatPays) {
  using enum report::Payoff;
  auto found = with_payoffs({shows_no_gain, pays, may_pay, pays});
  found[0].gain->value = 9;
  found[2].gain->value = 8;
  found[3].gain->value = 3;
  EXPECT_EQ(best_of(found).setting, "n 3");
}

TEST(Wording, NamesWhereItPays) {
  using enum report::Payoff;
  const auto text = [](const std::vector<report::Payoff>& payoffs, std::string_view verb = "pays") {
    return where_it_pays(with_payoffs(payoffs), verb);
  };
  EXPECT_EQ(text({pays}), "pays");
  EXPECT_EQ(text({pays, pays}, "pay"), "pay at every setting that was compared");
  EXPECT_EQ(text({shows_no_gain, pays}), "pays at n 1 and shows no gain at n 0");
  EXPECT_EQ(text({pays, pays, does_not_pay}), "pays at 2 settings and does not pay at n 2");
  EXPECT_EQ(where_it_pays(with_payoffs({pays, may_pay, does_not_pay, does_not_pay}), "pay", "size"),
            "pay at n 0, may pay at n 1 and do not pay at 2 sizes");
}

TEST(Wording, NamesSettingsWithoutAVerdictAndTheLoad) {
  using enum report::Payoff;
  const auto with_load = [](const std::vector<report::Payoff>& payoffs) {
    auto found = with_payoffs(payoffs);
    for (report::Recommendation& one : found) {
      if (one.gaining->name == one.candidates.front().name && !one.pays) one.load = 0.41;
    }
    return found;
  };
  const auto mixed = with_load({pays, may_pay, does_not_pay});
  EXPECT_EQ(where_it_pays(mixed, "pay"),
            "pay at n 0, do not pay at n 2 and have no verdict at n 1 (other programs had up to "
            "41% of the core time)");
  EXPECT_EQ(no_verdict_text(mixed), "");
  EXPECT_EQ(verdict_text(mixed, "Streams", "pay"), "Streams " + where_it_pays(mixed, "pay"));
  auto alike = with_load({may_pay, may_pay});
  EXPECT_EQ(verdict_text(alike, "Splitting", "pays"), "Splitting: no verdict at either setting");
  EXPECT_EQ(no_verdict_text(with_load({may_pay, may_pay, may_pay})),
            "no verdict at any of 3 settings");
  const std::string load =
      "; other programs had 41% of the core time (more in some rounds), which can change which "
      "case is the fastest: repeat on a quiet machine";
  EXPECT_EQ(best_text(alike, "base"),
            "; highest measured: x at n 0, 2.00× as fast as base (1.90–2.10)" + load);
  alike[1].tied = {{"y", "fake/y"}};
  alike[1].fastest_gain = report::Ratio{2.04, report::Interval{1.9, 2.2, 0.95}, "base"};
  EXPECT_EQ(best_text(alike, "base"),
            "; highest measured: y at n 1, 2.04× as fast as base (1.90–2.20)" + load)
      << "not the simpler case that would be recommended";
  EXPECT_EQ(best_of(mixed).setting, "n 0") << "a gain that is shown comes first";
}

TEST(Wording, SaysWhatIsShownWhereNothingPays) {
  using enum report::Payoff;
  const auto text = [](const std::vector<report::Payoff>& payoffs, std::string_view verb = "pays") {
    return where_it_pays(with_payoffs(payoffs), verb);
  };
  EXPECT_EQ(text({shows_no_gain}), "shows no gain");
  EXPECT_EQ(text({does_not_pay, shows_no_gain}, "pay"),
            "show no gain at n 1 and do not pay at n 0");
  EXPECT_EQ(text({does_not_pay}), "does not pay");
  EXPECT_EQ(text({does_not_pay, does_not_pay}, "pay"),
            "do not pay at any setting that was compared");
  EXPECT_EQ(text({may_pay}, "pay"), "may pay");
  EXPECT_EQ(text({does_not_pay, may_pay}), "may pay at n 1 and does not pay at n 0");
  EXPECT_EQ(text({may_pay, may_pay}), "may pay at every setting that was compared");
  EXPECT_EQ(text({gains_little, gains_little}, "pay"),
            "gain less than 3% at every setting that was compared");
}

TEST(Wording, NamesTheOnlySettingThatPaysAndWhatTheOthersShow) {
  using enum report::Payoff;
  const auto text = [](const std::vector<report::Payoff>& payoffs) {
    return elsewhere_text(with_payoffs(payoffs), "Streams", "pay");
  };
  const auto found = with_payoffs({does_not_pay, pays, shows_no_gain});
  ASSERT_NE(only_one_that_pays(found), nullptr);
  EXPECT_EQ(only_one_that_pays(found)->setting, "n 1");
  EXPECT_EQ(only_one_that_pays(with_payoffs({pays})), nullptr) << "there is nothing beside it";
  EXPECT_EQ(only_one_that_pays(with_payoffs({pays, pays})), nullptr);
  EXPECT_EQ(only_one_that_pays(with_payoffs({may_pay, does_not_pay})), nullptr);
  EXPECT_EQ(text({does_not_pay, pays, shows_no_gain}),
            " Streams show no gain at n 2 and do not pay at n 0: use base.");
  EXPECT_EQ(text({may_pay, pays}), " Streams may pay at n 0.");
  EXPECT_EQ(text({does_not_pay, pays}), " Streams do not pay at n 0: use base.");
  EXPECT_EQ(text({does_not_pay, pays, does_not_pay}),
            " Streams do not pay at any other setting that was compared: use base.");
  EXPECT_EQ(text({pays}), "");
}

TEST(Wording, EndsWithTheLargestGainOfSeveralSettings) {
  using enum report::Payoff;
  const auto text = [](const std::vector<report::Payoff>& payoffs) {
    return best_text(with_payoffs(payoffs), "base");
  };
  EXPECT_EQ(
      text({shows_no_gain, pays, may_pay}),
      "; largest recommended gain that is shown: x at n 1, 2.00× as fast as base (1.90–2.10)");
  EXPECT_EQ(
      text({shows_no_gain, may_pay}),
      "; largest recommended gain: x at n 1, 2.00× as fast as base (1.90–2.10); more samples are "
      "needed to show it with 95% confidence");
  EXPECT_EQ(text({shows_no_gain, does_not_pay}), "; use base");
  auto mixed = with_payoffs({shows_no_gain, does_not_pay});
  mixed[0].candidates.front().label = "graph of base";
  EXPECT_EQ(best_text(mixed, "base"), "; the table has what to use");
}

TEST(Wording, SaysWhichSideOfAComparisonIsMissing) {
  EXPECT_EQ(no_comparison_text("plain", "strategy", true),
            "Not decided: no strategy was measured beside plain.");
  EXPECT_EQ(no_comparison_text("plain", "strategy", false),
            "Not decided: plain, the baseline, was not measured.");
}

TEST(Wording, LeavesOutSentencesThatThreeLinesCannotHold) {
  const std::string words = "words of a sentence that is rather long and goes on and on and on ";
  const std::string line = words + "to its end.";  // 77 columns
  EXPECT_EQ(joined_sentences({"One.", "", " Two."}), "One. Two.");
  EXPECT_EQ(joined_sentences({line, line, line}), line + ' ' + line + ' ' + line);
  EXPECT_EQ(joined_sentences({line, line, line, line, "Short."}),
            line + ' ' + line + ' ' + line + " Short.")
      << "a shorter one behind it fits";
  const std::string long_one = line + line + line + line + line;
  EXPECT_EQ(joined_sentences({long_one, line}), long_one) << "the first is always there";
}

TEST(Wording, RemarksOnGainsThatDevicesCannotExplain) {
  report::Recommendation found{.pays = true};
  found.gain = {2.2, report::Interval{2.05, 2.3, 0.97}};
  EXPECT_THAT(superlinear_text(found, 2, "caches"),
              HasSubstr("more than 2 devices can give; likely cause: caches"));
  EXPECT_THAT(superlinear_text(found, 1, "caches"),
              HasSubstr("more than devices that work in turn can give"));
  EXPECT_THAT(superlinear_text(found, 4, "caches"), IsEmpty());
  found.gain->interval->low = 1.9;
  EXPECT_THAT(superlinear_text(found, 2, "caches"), IsEmpty());
}

}  // namespace
}  // namespace parbench::test
