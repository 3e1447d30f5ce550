// What readers of each format get.
#include "reports/compare/render/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "reports/io/json.h"
#include "reports/text/text.h"
#include "tests/reports/compare/made_report.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace parbench::compare {
namespace {

using report::CaseStatus;
using report::Json;
using report::Report;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

Comparison compared_files(const Report& base, const Report& now) {
  return compare({"before.json", base}, {"after.json", now});
}

report::Throttling power_cap() { return {3, 15, true, {{"cpu:0", "power cap", 3}}}; }

/// A regression under a power cap, an unchanged case, one that failed.
Comparison mixed() {
  const Report base = made_report({steady(1), steady(1), steady(1)});
  Report now = made_report({steady(1.06), steady(1), steady(1)});
  now.cases[0].throttling = power_cap();
  now.cases[0].quota_lost = 0.12;
  now.cases[2].status = CaseStatus::failed;
  now.cases[2].error = "wrong result";
  return compared_files(base, now);
}

/// Two runs of a case whose stages began there; "": without a note.
Comparison of_cuts(const std::string& base_cut, const std::string& new_cut) {
  const auto report_cut_at = [](const std::string& cut) {
    Report report = made_report({steady(1)});
    if (!cut.empty()) report.cases[0].notes.emplace_back("cut at", cut);
    return report;
  };
  return compared_files(report_cut_at(base_cut), report_cut_at(new_cut));
}

/// Names with everything that some medium gives a meaning to.
Comparison hostile() {
  const std::string name = "a|b`c\n\033[31m<script>*x*@m</details>\u202Ed\u009B";
  Report base = made_report({steady(1), steady(1)});
  base.machine.cpu_model = name;
  base.machine.commit = name;
  base.started_utc = name;
  for (report::CaseResult& c : base.cases) c.strategy = name;
  Report now = base;
  now.cases[0].samples = made_case(0, steady(1.1)).samples;
  now.cases[1].status = CaseStatus::failed;
  now.cases[1].error = name;
  return compare({name, base}, {name, now});
}

/// A case whose processes differ by too much to know anything.
Report noisy() { return made_report({{1, 50}}); }

TEST(Comparison, WritesNoIntervalThatSaysNothingInAnyMedium) {
  const Comparison comparison = compared_files(noisy(), noisy());
  ASSERT_GT(comparison.rows[0].judgement->change.interval.high, 10);
  for (const std::string& text :
       {to_table(comparison), to_markdown(comparison),
        to_html(comparison, {.style = "p{}", .script = {}}), json_text(comparison)}) {
    EXPECT_THAT(text, AllOf(HasSubstr("Undecided: 1 of 1 case."), Not(HasSubstr(" to +"))));
  }
  EXPECT_THAT(to_table(comparison), HasSubstr("no change  unknown\n"));
  EXPECT_THAT(to_markdown(comparison), HasSubstr("| no change | unknown |"));
  EXPECT_THAT(to_html(comparison, {.style = "p{}", .script = "s()"}),
              AllOf(HasSubstr(">unknown<"), HasSubstr("[0,0.0,-1.0,null]")))
      << "an interval without ends does not set the scale of the picture";
}

TEST(ComparisonPage, HasVerdictsReasonsAndNotes) {
  const std::string page = to_html(mixed(), {.style = "p{}", .script = {}});
  EXPECT_THAT(page, AllOf(StartsWith("<!doctype html>"), HasSubstr("<p class=\"answer\">"),
                          HasSubstr("regressed"), HasSubstr("wrong result"),
                          HasSubstr("before.json"), HasSubstr("power cap"), EndsWith("</html>\n")));
}

TEST(ComparisonPage, KeepsTextOfReportsText) {
  for (const char* script : {"", "s()"}) {
    const std::string page = to_html(hostile(), {.style = "p{}", .script = script});
    EXPECT_THAT(page, AllOf(HasSubstr("&lt;script&gt;"), Not(HasSubstr("<script>*x")),
                            Not(HasSubstr("\033"))));
  }
}

TEST(ComparisonPage, HasThePictureOfItsChangesBesideAScript) {
  const std::string page = to_html(mixed(), {.style = "p{}", .script = "s()"});
  const std::string_view start = "id=\"parbench-changes\">";
  const std::size_t begin = page.find(start);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t text = begin + start.size();
  const Json picture = Json::parse(page.substr(text, page.find("</script>", text) - text));
  EXPECT_THAT(picture["cases"], SizeIs(3));
  EXPECT_EQ(picture["threshold"], 0.02);
  EXPECT_EQ(picture["series"][0]["name"], "same");
  const Json& regressed = picture["series"][1];
  EXPECT_EQ(regressed["name"], "regressed");
  ASSERT_THAT(regressed["points"], SizeIs(1));
  EXPECT_EQ(regressed["points"][0][0], 0) << "its row in the table";
  EXPECT_NEAR(regressed["points"][0][1].get<double>(), 0.06, 1e-5);
  EXPECT_LT(regressed["points"][0][2].get<double>(), 0.06);
  EXPECT_THAT(to_html(mixed(), {.style = "p{}", .script = {}}), Not(HasSubstr("parbench-changes")));
}

TEST(Comparison, ShowsNoControlsInAnyMedium) {
  const Comparison comparison = hostile();
  for (const std::string& text : {to_html(comparison, {.style = "p{}", .script = {}}),
                                  to_table(comparison), to_markdown(comparison)}) {
    EXPECT_EQ(report::printable(text, true), text);
    EXPECT_THAT(text, HasSubstr("\uFFFDd\uFFFD"));
  }
}

TEST(ComparisonTable, ReadsAsItShould) {
  EXPECT_EQ("\n" + to_table(mixed()), R"(
1 case failed in NEW: made/one/n:2. NEW was throttled more than BASE in 1 of 2 cases, which may explain the
change: power cap on cpu:0, CPU quota (up to 12% of the CPU time). 1 of 2 cases regressed: made/one/n:0 6.0%
slower (+5.9 to +6.1%). 1 the same.

BASE  before.json · parbench 0.1.0 · 5 processes · 2024-05-04 10:20 UTC
NEW   after.json · parbench 0.1.0 · 5 processes · 2024-05-04 10:20 UTC
made: f32 · kind plain · on A processor, 2 cores, 7.5 GiB · cpu (1 core)

verdict     case             BASE      NEW       change  interval
──────────────────────────────────────────────────────────────────────
regressed§  made/one/n:0  1.000 s  1.060 s  6.0% slower  +5.9 to +6.1%
failed (1)  made/one/n:2  1.000 s        –
same        made/one/n:1  1.000 s  1.000 s    no change  −0.1 to +0.1%

§ throttled: made/one/n:0: power cap on cpu:0, CPU quota (12% of the CPU time) in NEW
(1) failed in NEW: wrong result

BASE and NEW are geometric means of the processes' medians, and the change is their ratio; show prints the
median of those medians.
Changes below 2% do not count (--threshold). Chance of any false alarm in 2 cases: at most 5% (Holm's
correction; each interval holds the true change with 95 to 97.5%).
)");
}

TEST(ComparisonTable, EmphasisesWhatIsUrgentInColour) {
  EXPECT_THAT(to_table(mixed(), {.width = 80, .color = true}),
              AllOf(StartsWith("\033[1m1 case failed"), HasSubstr("\033[1mregressed")));
  EXPECT_THAT(to_table(mixed()), Not(HasSubstr("\033")));
}

TEST(ComparisonTable, KeepsHostileNamesFromTheTerminal) {
  EXPECT_THAT(to_table(hostile()), Not(HasSubstr("\033")));
  EXPECT_THAT(to_table(hostile()), HasSubstr("<script>")) << "which means nothing here";
}

TEST(ComparisonMarkdown, ShowsWhatIsUrgentAndFoldsTheRest) {
  EXPECT_EQ("\n" + to_markdown(mixed()), R"(
**1 case failed in NEW: made/one/n:2. NEW was throttled more than BASE in 1 of 2 cases, which may explain the change: power cap on cpu:0, CPU quota (up to 12% of the CPU time). 1 of 2 cases regressed: made/one/n:0 6.0% slower (+5.9 to +6.1%). 1 the same.**

| verdict | case | BASE | NEW | change | interval | reason |
| :-- | :-- | --: | --: | --: | :-- | :-- |
| regressed§ | `made/one/n:0` | 1.000 s | 1.060 s | 6.0% slower | +5.9 to +6.1% |  |
| failed | `made/one/n:2` | 1.000 s | – |  |  | `failed in NEW: wrong result` |

§ throttled: made/one/n:0: power cap on cpu:0, CPU quota (12% of the CPU time) in NEW

<details>
<summary>1 other case</summary>

| verdict | case | BASE | NEW | change | interval |
| :-- | :-- | --: | --: | --: | :-- |
| same | `made/one/n:1` | 1.000 s | 1.000 s | no change | −0.1 to +0.1% |

</details>

<details>
<summary>What was compared, and how</summary>

- BASE: before.json · parbench 0.1.0 · 5 processes · 2024-05-04 10:20 UTC
- NEW: after.json · parbench 0.1.0 · 5 processes · 2024-05-04 10:20 UTC
- `made`: f32 · kind plain · on A processor, 2 cores, 7.5 GiB · cpu (1 core)
- BASE and NEW are geometric means of the processes' medians, and the change is their ratio; show prints the median of those medians.
- Changes below 2% do not count (--threshold). Chance of any false alarm in 2 cases: at most 5% (Holm's correction; each interval holds the true change with 95 to 97.5%).

</details>
)");
}

TEST(ComparisonMarkdown, FoldsEverythingWhereNothingIsUrgent) {
  const Report one = made_report({steady(1)});
  const std::string text = to_markdown(compared_files(one, one));
  EXPECT_THAT(text,
              AllOf(StartsWith("**No regression found in 1 case. 1 the same.**\n\n<details>\n"),
                    HasSubstr("<summary>1 case</summary>"), EndsWith("</details>\n")));
}

TEST(ComparisonMarkdown, EscapesHostileNames) {
  const std::string text = to_markdown(hostile());
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\033")), Not(HasSubstr("\n<script>"))));
  for (std::size_t at = text.find("<script>"); at != std::string::npos;
       at = text.find("<script>", at + 1)) {
    const std::size_t line = text.rfind('\n', at) + 1;
    const std::string before = text.substr(line, at - line);
    const bool escaped = before.ends_with('\\');
    const bool in_code = before.find("``") != std::string::npos;
    EXPECT_TRUE(escaped || in_code) << before;
  }
}

TEST(ComparisonJson, KeepsToItsSchema) {
  const test::TemporaryFolder folder;
  std::vector<std::string> words{PARBENCH_PYTHON, "-B", PARBENCH_VALIDATE_PY, COMPARISON_SCHEMA};
  const Report one = made_report({{1.0}});
  Report renamed = one;
  renamed.cases[0].dtype = "bf16";
  Report elsewhere = one;
  elsewhere.machine.commit = "0123456";
  elsewhere.machine.dirty = false;
  elsewhere.machine.cores_allowed = {0};
  elsewhere.cases[0].hidden_parameters = {{"slowdown", 5.0}};
  const std::vector<Comparison> all{
      mixed(),
      of_cuts("layer2.0", "layer3.0"),
      hostile(),
      compared_files(one, one),
      compared_files(one, renamed),
      compared_files(one, made_report({})),
      compared_files(made_report({}), one),
      compare({"a", noisy()}, {"b", noisy()}, {.rule = {.required_decided = 0.5}}),
      compare({"a", one}, {"b", elsewhere}, {.rule = {}, .allow_different_machine = true}),
      compared_files(made_report({{1e-300, 1e300}}), made_report({{1e300, 1e-300}}))};
  for (std::size_t i = 0; i < all.size(); ++i) {
    words.push_back(folder.write(std::to_string(i), report::to_text(to_json(all[i]))).string());
  }
  const test::Finished finished = test::run(words);
  std::string expected;
  for (std::size_t i = 0; i < all.size(); ++i) expected += "valid\n";
  EXPECT_EQ(finished.out, expected) << finished.err;
}

TEST(RenderedComparison, MarksCasesWithOtherStages) {
  const Comparison other = of_cuts("layer2.0", "layer3.0");
  EXPECT_THAT(to_table(other), HasSubstr("cut at layer2.0 in BASE, at layer3.0 in NEW"));
  EXPECT_THAT(to_table(other), HasSubstr("≠ other stages"));
  EXPECT_EQ(to_json(other)["cases"][0]["cuts"], Json({{"base", "layer2.0"}, {"new", "layer3.0"}}));
  for (const Comparison& same : {of_cuts("layer2.0", "layer2.0"), of_cuts("", "layer2.0")}) {
    EXPECT_THAT(to_table(same), Not(HasSubstr("≠")));
    EXPECT_FALSE(to_json(same)["cases"][0].contains("cuts"));
  }
}

TEST(ComparisonJson, HasWhatTheTableHas) {
  const Json json = to_json(mixed());
  EXPECT_EQ(json["outcome"], "case_failed");
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["counts"]["regressed"], 1);
  const Json& row = json["cases"][0];
  EXPECT_EQ(row["name"], "made/one/n:0");
  EXPECT_EQ(row["verdict"], "regressed");
  EXPECT_NEAR(row["change"]["value"].get<double>(), 0.06, 1e-6);
  EXPECT_LT(row["change"]["low"].get<double>(), 0.06);
  EXPECT_EQ(row["new"]["throttled_by"], Json::array({"power cap on cpu:0"}));
  EXPECT_EQ(row["new"]["quota_lost"], 0.12);
  EXPECT_FALSE(row["base"].contains("quota_lost"));
  EXPECT_EQ(json["cases"][1]["state"], "failed_now");
  EXPECT_EQ(json["cases"][1]["reason"], "failed in NEW: wrong result");
  EXPECT_EQ(json["rule"]["threshold"], 0.02);
  EXPECT_EQ(json["rule"]["required_decided"], 0);
  const Json gate =
      to_json(compare({"a", noisy()}, {"b", noisy()}, {.rule = {.required_decided = 0.5}}));
  EXPECT_EQ(gate["outcome"], "too_few_decided");
  EXPECT_EQ(gate["exit_code"], 4);
  EXPECT_EQ(gate["rule"]["required_decided"], 0.5);
}

}  // namespace
}  // namespace parbench::compare
