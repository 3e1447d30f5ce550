// What findings do not rest on.
#include "reports/views/finding_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/model/notes.h"
#include "reports/statistics/answer_cases.h"
#include "reports/views/table.h"
#include "tests/reports/sample.h"

namespace parbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Whose answer names the case that a profile does not represent.
Report with_deviating_answer() {
  Report report = with_profiles(sample_report());
  report.findings.clear();
  report.answers = {{.scenario = "pipeline", .question = "Which?", .text = "That."}};
  report.answers[0].recommendations.emplace_back().gaining = {"that", report.cases[1].name};
  return report;
}

TEST(LimitsLine, SaysWhyACaseOfTheAnswerHasNoFindings) {
  Report report = with_deviating_answer();
  EXPECT_THAT(to_table(report),
              HasSubstr("was not representative: it took 25% less time than the median sample.\n"
                        "    Findings about its calls are left out."));
  report.answers.clear();
  EXPECT_THAT(to_table(report), Not(HasSubstr("profiled run"))) << "no answer names it";
}

/// Findings about the division of work are about another case than the recommended one.
TEST(LimitsLine, SpeaksOfRecommendedCasesThatDivideNoWork) {
  Report report = with_deviating_answer();
  Recommendation& used = report.answers[0].recommendations[0];
  used.candidates = {{"that", report.cases[1].name}};
  used.gaining.reset();
  used.gain = Ratio{.value = 1.7, .baseline = report.cases[1].name};
  report.cases[1].memory.resize(1);
  for (DeviceMetrics& device : report.cases[1].profile->metrics.devices) device.compute = 0;
  CaseResult& divided = report.cases[2];
  divided.speedup = Ratio{.value = 1.6, .baseline = report.cases[1].name};
  divided.profile = report.cases[1].profile;
  divided.profile->deviation.reset();
  divided.profile->metrics.devices = {{.device = "d0", .waits = {}, .compute = 1},
                                      {.device = "d1", .waits = {}, .compute = 1}};
  ASSERT_EQ(cases_of_answer(report.answers[0], report.cases), std::set{divided.name});
  EXPECT_THAT(to_table(report), HasSubstr("The profiled run of model-parallel was not "));
}

TEST(LimitsLine, DoesNotRepeatThatABreakdownIsMissing) {
  Report report = with_deviating_answer();
  report.findings = {{.scenario = "pipeline",
                      .rule = "no-breakdown",
                      .cases = {report.cases[1].name},
                      .text = "no breakdown"}};
  EXPECT_THAT(to_table(report), Not(HasSubstr("profiled run of")));
}

TEST(LimitsLine, NamesCasesOfTheAnswerWithoutATimeline) {
  Report report = sample_report();
  report.cases[1].profile.reset();
  report.cases[1].notes.emplace_back(no_timeline, "out of time");
  EXPECT_THAT(to_table(report), Not(HasSubstr("No timeline of"))) << "the answer names another";
  report.answers = {{.scenario = "pipeline", .question = "Which?", .text = "That."}};
  report.answers[0].recommendations.emplace_back().gaining = {"that", report.cases[1].name};
  EXPECT_THAT(to_table(report), HasSubstr("No timeline of model-parallel (out of time)"));
  report.cases[2].profile.reset();
  report.cases[2].notes.emplace_back(no_timeline, "out of time");
  report.answers[0].recommendations.emplace_back().gaining = {"this", report.cases[2].name};
  const std::string text = to_table(report);
  EXPECT_THAT(text, HasSubstr("No timeline of 2 cases of the answer, such as model-parallel"));
  EXPECT_THAT(text, HasSubstr("their calls have no"));
}

}  // namespace
}  // namespace parbench::report
