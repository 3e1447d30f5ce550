// Sentences about recommendations, and the verdicts in them.
#include "scenarios/answers/wording.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace parbench::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A recommendation for "n <number>" whose gain has this payoff.
Recommendation with_payoff(Payoff payoff, int number = 0) {
  using enum Payoff;
  const LabelledCase base{"base", "made/base"};
  const LabelledCase other{"x", "made/x"};
  Recommendation one{.setting = "n " + std::to_string(number),
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
  one.gain = {value, Interval{value - half, value + half, 0.97}};
  return one;
}

std::vector<Recommendation> with_payoffs(const std::vector<Payoff>& payoffs) {
  std::vector<Recommendation> list;
  for (const Payoff payoff : payoffs) {
    list.push_back(with_payoff(payoff, static_cast<int>(list.size())));
  }
  return list;
}

TEST(Payoff, DistinguishesALossAndNoGainFromAGainThatIsNotShown) {
  using enum Payoff;
  for (const Payoff payoff : {does_not_pay, shows_no_gain, gains_little, may_pay, pays}) {
    EXPECT_EQ(payoff_of(with_payoff(payoff)), payoff) << to_string(payoff);
  }
  Recommendation once = with_payoff(may_pay);
  once.gain->interval.reset();
  EXPECT_EQ(payoff_of(once), may_pay) << "a single sample shows nothing";
  once = with_payoff(does_not_pay);
  once.gain->interval.reset();
  EXPECT_EQ(payoff_of(once), shows_no_gain) << "nor does it show a loss";
}

TEST(Payoff, FewSamplesShowNoLoss) {
  Recommendation one = with_payoff(Payoff::does_not_pay);
  one.gain->interval->confidence = 0.75;
  EXPECT_EQ(payoff_of(one), Payoff::shows_no_gain);
}

TEST(Wording, TheBestIsTheOneThatPays) {
  using enum Payoff;
  auto found = with_payoffs({shows_no_gain, pays, may_pay, pays});
  found[0].gain->value = 9;
  found[2].gain->value = 8;
  found[3].gain->value = 3;
  EXPECT_EQ(best_of(found).setting, "n 3");
}

TEST(Wording, NamesWhereItPays) {
  using enum Payoff;
  const auto text = [](const std::vector<Payoff>& payoffs, std::string_view verb = "pays") {
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
  using enum Payoff;
  const auto with_load = [](const std::vector<Payoff>& payoffs) {
    auto found = with_payoffs(payoffs);
    for (Recommendation& one : found) {
      if (one.gaining->name == one.candidates.front().name && !one.pays) one.load = 0.41;
    }
    return found;
  };
  const auto mixed = with_load({pays, may_pay, does_not_pay});
  EXPECT_EQ(where_it_pays(mixed, "pay"),
            "pay at n 0, do not pay at n 2 and have no verdict at n 1 (other programs had up to "
            "41% of the core time)");
  EXPECT_EQ(no_verdict_text(mixed), "");
  EXPECT_EQ(verdict_text(mixed, {"Streams", "pay"}), "Streams " + where_it_pays(mixed, "pay"));
  auto alike = with_load({may_pay, may_pay});
  EXPECT_EQ(
      verdict_text(alike, {"Splitting, or all cores,"}),
      "Splitting, or all cores: no verdict at either setting (other programs had up to 41% of "
      "the core time)");
  EXPECT_EQ(no_verdict_text(with_load({may_pay, may_pay, may_pay})),
            "no verdict at any of 3 settings");
  const std::string load =
      "; other programs had 41% of the core time (more in some rounds), which can change which "
      "case is the fastest: repeat on a quiet machine";
  EXPECT_EQ(best_text(alike, "base"),
            "; highest measured: x at n 0, 2.00× as fast as base (1.90–2.10)" + load);
  alike[1].tied = {{"y", "fake/y"}};
  alike[1].fastest_gain = Ratio{2.04, Interval{1.9, 2.2, 0.95}, "base"};
  EXPECT_EQ(best_text(alike, "base"),
            "; highest measured: y at n 1, 2.04× as fast as base (1.90–2.20)" + load)
      << "not the simpler case that would be recommended";
  EXPECT_EQ(best_of(mixed).setting, "n 0") << "a gain that is shown comes first";
}

TEST(Wording, SaysWhatIsShownWhereNothingPays) {
  using enum Payoff;
  const auto text = [](const std::vector<Payoff>& payoffs, std::string_view verb = "pays") {
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
  using enum Payoff;
  const auto text = [](const std::vector<Payoff>& payoffs) {
    return elsewhere_text(with_payoffs(payoffs), {"Streams", "pay"});
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
  using enum Payoff;
  const auto text = [](const std::vector<Payoff>& payoffs) {
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
  EXPECT_EQ(best_text(mixed, "base"), "; see the table for the cases to use");
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
  Recommendation found{.pays = true};
  found.gain = {2.2, Interval{2.05, 2.3, 0.97}};
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
