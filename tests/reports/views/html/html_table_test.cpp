// Tables on a page: attributes that scripts and styles read, and escaping.
#include "reports/views/html/html_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string html_of(const Table& table, const HtmlTable& names = {}) {
  HtmlWriter html;
  write_table(html, table, names);
  return html.take();
}

/// One row.
Table table_of(std::vector<TableColumn> columns) {
  return {.columns = std::move(columns), .rows = {{}}};
}

TEST(HtmlTable, NamesItsRegionOnlyWithALabel) {
  const Table table = table_of({{.title = "x", .cells = {{"1"}}}});
  EXPECT_THAT(html_of(table, {"cases", "id-1", "All cases"}),
              AllOf(HasSubstr("<div class=\"table\" role=\"region\" tabindex=\"0\" "
                              "aria-label=\"All cases\">"),
                    HasSubstr("<table class=\"cases\" id=\"id-1\">"),
                    HasSubstr("<caption>All cases</caption>")));
  EXPECT_THAT(html_of(table),
              AllOf(HasSubstr("<div class=\"table\">\n<table>\n"), Not(HasSubstr("caption"))));
}

TEST(HtmlTable, WritesAlignmentToneAndTheNumberToSortBy) {
  EXPECT_THAT(html_of(table_of({{.title = "case", .cells = {{"a"}}, .align = Align::left},
                                {.title = "change",
                                 .cells = {{.text = "+5%", .number = 0.05, .tone = Tone::worse}},
                                 .align = Align::left,
                                 .wrapped = true}})),
              AllOf(HasSubstr("<th scope=\"col\" class=\"text\">case</th>"),
                    HasSubstr("<th scope=\"row\" class=\"text\">a</th>"),
                    HasSubstr("<td class=\"text wrapped slower\" data-v=\"0.05\">+5%</td>")));
}

TEST(HtmlTable, SortsByNoNumberThatIsNone) {
  EXPECT_THAT(
      html_of(table_of(
          {{.title = "x",
            .cells = {{.text = "nan", .number = std::numeric_limits<double>::quiet_NaN()}}}})),
      Not(HasSubstr("data-v")));
}

TEST(HtmlTable, LetsAReasonSpanTheCellsThatItReplaces) {
  Table table =
      table_of({{.title = "case", .cells = {{"a"}}},
                {.title = "median", .cells = {{.text = "failed", .tone = Tone::reason, .span = 2}}},
                {.title = "speedup", .cells = {{"hidden"}}},
                {.title = "n", .cells = {{"0"}}}});
  table.rows[0].reason = "<broken>";
  EXPECT_THAT(html_of(table),
              HasSubstr("<td class=\"reason\" colspan=\"2\"><strong>failed</strong>: &lt;broken&gt;"
                        "</td><td>0</td></tr>"));
}

TEST(HtmlTable, EscapesTextLinksNotesAndNames) {
  const std::string hostile = "\"><script>";
  Table table = table_of({{.title = hostile,
                           .cells = {{.text = hostile, .link = hostile, .note = hostile}},
                           .range_title = hostile},
                          {.title = "details", .cells = {{hostile}}, .folded = true}});
  table.rows[0].id = hostile;
  EXPECT_THAT(html_of(table, {"x", hostile, hostile}),
              AllOf(Not(HasSubstr("<script>")), HasSubstr("<summary>more</summary><p>&quot;&gt;"),
                    HasSubstr("data-case=\"&quot;&gt;&lt;script&gt;\"")));
}

}  // namespace
}  // namespace parbench::report
