// The table of an answer with several recommendations.
#include "reports/views/answer_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reports/text/table.h"
#include "reports/text/text.h"
#include "tests/support/widest_line.h"

namespace parbench::report {
namespace {

using test::widest_line;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Recommendation paying() {
  return {.setting = "batch 40",
          .candidates = {{"split 5", "a"}, {"split 3", "b"}, {"split 7", "d"}},
          .tied = {{"split 3", "b"}},
          .pays = true,
          .gaining = LabelledCase{"split 5", "a"},
          .gain = Ratio{1.71, Interval{1.69, 1.73, 0.97}, "base"}};
}

Recommendation not_paying() {
  return {.setting = "batch 8",
          .candidates = {{"one device", "base"}},
          .gaining = LabelledCase{"split 4", "c"},
          .gain = Ratio{0.9, Interval{0.8, 1.02, 0.97}, "base"}};
}

std::string text_of(std::vector<Recommendation> rows, std::size_t width = 160) {
  const Answer answer{.scenario = "s", .question = "?", .recommendations = std::move(rows)};
  const auto table = answer_table(answer);
  return table ? to_text(*table, {.width = width}) : "";
}

TEST(AnswerTable, IsOfSeveralRecommendations) { EXPECT_EQ(text_of({paying()}), ""); }

TEST(AnswerTable, HasTheVerdictAndTheGainOfEachSetting) {
  Recommendation with_remark = paying();
  with_remark.remark = "75% hidden";
  const std::string text = text_of({with_remark, not_paying()});
  EXPECT_THAT(text,
              AllOf(HasSubstr("batch 40  split 5     pays                    1.71× (1.69–1.73)  "
                              "split 3    split 7        75% hidden\n"),
                    HasSubstr("batch 8   one device  shows no gain  split 4  0.90× "
                              "(0.80–1.02)\n")));
}

TEST(AnswerTable, NamesCasesThatAreNeitherTiedNorRuledOut) {
  const std::string text = text_of({paying(), not_paying()});
  EXPECT_THAT(text,
              AllOf(HasSubstr("tied with  not ruled out"), HasSubstr("split 3    split 7\n")));
  Recommendation sure = paying();
  sure.candidates.pop_back();
  EXPECT_THAT(text_of({sure, not_paying()}), Not(HasSubstr("not ruled out")));
}

TEST(AnswerTable, HasTheCaseWhoseGainHasNoVerdict) {
  Recommendation row = not_paying();
  row.load = 0.4;
  EXPECT_THAT(text_of({paying(), row}), HasSubstr("batch 8   –        has no verdict  split 4"));
  row.candidates.front() = *row.gaining;
  EXPECT_THAT(text_of({paying(), row}), HasSubstr("batch 8   –        has no verdict  split 4"))
      << "whatever was measured to be fastest";
  row.candidates.push_back({"one device", "base"});
  row.candidates.push_back({"split 7", "d"});
  row.tied = {{"one device", "base"}};
  Recommendation paying_alone = paying();
  paying_alone.candidates.resize(1);
  paying_alone.tied.clear();
  EXPECT_THAT(text_of({paying_alone, row}),
              AllOf(HasSubstr("split 4  0.90×"), Not(HasSubstr("tied with")),
                    Not(HasSubstr("not ruled out"))))
      << "nothing is used that others could be tied with";
  row.gain->interval.reset();
  EXPECT_THAT(text_of({paying(), row}), HasSubstr("0.90×¹")) << "of a single round";
}

TEST(AnswerTable, HasTheVerdictsOfTheText) {
  Recommendation row = not_paying();
  row.gain->interval = Interval{0.8, 0.95, 0.97};
  EXPECT_THAT(text_of({paying(), row}), HasSubstr("does not pay"));
  row.gain = Ratio{1.05, Interval{1.02, 2.2, 0.97}, "base"};
  EXPECT_THAT(text_of({paying(), row}), HasSubstr("may pay")) << "of an earlier version";
  row.gain = Ratio{1.02, Interval{1.01, 1.03, 0.97}, "base"};
  EXPECT_THAT(text_of({paying(), row}), HasSubstr("gains less than 3%"));
  row.candidates.front() = *row.gaining;
  row.gain = Ratio{1.05, Interval{0.9, 1.2, 0.97}, "base"};
  EXPECT_THAT(text_of({paying(), row}), HasSubstr("batch 8   split 4  may pay  1.05×"));
}

TEST(AnswerTable, MarksIntervalsOfLowConfidence) {
  Recommendation row = not_paying();
  row.gain->interval->confidence = 0.875;
  EXPECT_THAT(text_of({paying(), row}), AllOf(HasSubstr("(0.80–1.02)°"), HasSubstr("(1.69–1.73)")));
}

TEST(AnswerTable, CountsManyRivals) {
  Recommendation row = paying();
  for (const char* label : {"split 6", "split 7", "split 8", "split 9"}) {
    row.tied.push_back({label, label});
  }
  EXPECT_THAT(text_of({row, not_paying()}), HasSubstr("split 3, split 6, split 7 and 2 more"));
}

TEST(AnswerTable, FitsATerminal) {
  Recommendation row = paying();
  row.remark = "graph of one stream 2.99× (2.90–3.10)";
  row.tied.push_back({"split 12, partition balanced, schedule 1f1b", "d"});
  for (const std::size_t width : {60, 80, 100}) {
    const std::string text = text_of({row, not_paying()}, width);
    EXPECT_LE(widest_line(text), width) << text;
    EXPECT_THAT(text,
                AllOf(HasSubstr("1.71× (1.69–1.73)"), HasSubstr("shows no gain"),
                      HasSubstr("split 4"), HasSubstr("one device"), HasSubstr("not shown at")));
  }
  EXPECT_THAT(text_of({row, not_paying()}, 60), HasSubstr("batch 8, use one device, gain "
                                                          "of split 4\n"));
  EXPECT_THAT(text_of({row, not_paying()}, 200), Not(HasSubstr("not shown at")));
}

}  // namespace
}  // namespace parbench::report
