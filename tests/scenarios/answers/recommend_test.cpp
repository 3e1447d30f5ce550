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

TEST(Recommend, TheSimplestThatMayBeTheFastest) {
  const auto found = recommended({made("z", 1.0, 1.9, 2.1), made("base", 2.0),
                                  made("x", 1.005, 1.8, 2.0), made("y", 1.5, 1.3, 1.4)});
  EXPECT_TRUE(found.pays);
  EXPECT_THAT(labels(found), ElementsAre("x", "z"));
  EXPECT_EQ(found.gaining->label, "x");
  EXPECT_EQ(found.gaining->name, "made/x/n:8");
  EXPECT_DOUBLE_EQ(found.gain->value, 1.9);
  EXPECT_EQ(rivals_text(found), " It cannot be distinguished from z.");
}

TEST(Recommend, TheBaselineWhereItMayBeTheFastest) {
  const auto found =
      recommended({made("base", 1.0), made("x", 0.995, 1.001, 1.02), made("y", 3.0, 0.3, 0.4)});
  EXPECT_FALSE(found.pays);
  EXPECT_THAT(labels(found), ElementsAre("base", "x"));
  EXPECT_EQ(found.gaining->label, "x");
}

TEST(Recommend, TheBaselineWhereNoIntervalIsAboveOne) {
  const auto found = recommended({made("base", 1.1), made("x", 1.0, 0.98, 1.3)});
  EXPECT_FALSE(found.pays);
  EXPECT_THAT(labels(found), ElementsAre("base", "x"));
}

TEST(Recommend, ACandidateWhoseIntervalIsAboveOneBeforeASimplerOne) {
  const auto found =
      recommended({made("base", 2.0), made("x", 1.0, 0.9, 2.5), made("y", 1.0, 1.9, 2.1)});
  EXPECT_TRUE(found.pays);
  EXPECT_THAT(labels(found), ElementsAre("y", "x"));
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

TEST(Recommend, WithoutAnIntervalNothingPays) {
  CaseOutcome once = made("x", 1.0, 1.9, 2.1);
  once.speedup->interval.reset();
  EXPECT_FALSE(recommended({made("base", 2.0), once}).pays);
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

TEST(Wording, DistinguishesNoGainFromAGainThatIsNotProven) {
  report::Recommendation found;
  found.gain = {0.9, report::Interval{0.8, 0.95, 0.97}};
  EXPECT_EQ(no_gain_text(found), "does not pay");
  found.gain->interval = report::Interval{0.8, 1.05, 0.97};
  EXPECT_EQ(no_gain_text(found), "shows no gain");
  found.gain->interval = report::Interval{1.1, 1.4, 0.5};
  EXPECT_EQ(no_gain_text(found), "may pay");
}

TEST(Wording, NamesWhereItPays) {
  const auto with = [](const std::vector<bool>& pays) {
    std::vector<report::Recommendation> list;
    for (std::size_t i = 0; i < pays.size(); ++i) {
      list.push_back({.setting = "n " + std::to_string(i), .pays = pays[i]});
    }
    return list;
  };
  EXPECT_EQ(where_it_pays(with({true}), "pays"), "pays");
  EXPECT_EQ(where_it_pays(with({false}), "pays"), "shows no gain");
  EXPECT_EQ(where_it_pays(with({true, true}), "pay"), "pay at every setting");
  EXPECT_EQ(where_it_pays(with({false, false}), "pay"), "show no gain at any setting");
  EXPECT_EQ(where_it_pays(with({false, true}), "pays"), "pays at n 1 only");
  EXPECT_EQ(where_it_pays(with({true, true, false}), "pays"), "pays at 2 of 3 settings");
}

TEST(Wording, ListsThreeAndCountsTheRest) {
  EXPECT_THAT(list_text({}), IsEmpty());
  EXPECT_EQ(list_text({"a"}), "a");
  EXPECT_EQ(list_text({"a", "b"}), "a and b");
  EXPECT_EQ(list_text({"a", "b", "c", "d"}), "a, b, c and d");
  EXPECT_EQ(list_text({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
}

TEST(Wording, RemarksOnGainsThatDevicesCannotExplain) {
  report::Recommendation found{.pays = true};
  found.gain = {2.2, report::Interval{2.05, 2.3, 0.97}};
  EXPECT_THAT(superlinear_text(found, 2, "caches"),
              HasSubstr("more than 2 devices can give; likely cause: caches"));
  EXPECT_THAT(superlinear_text(found, 4, "caches"), IsEmpty());
  found.gain->interval->low = 1.9;
  EXPECT_THAT(superlinear_text(found, 2, "caches"), IsEmpty());
}

}  // namespace
}  // namespace parbench::test
