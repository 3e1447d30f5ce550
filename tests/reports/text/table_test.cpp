// The model of tables, in a terminal and in Markdown.
#include "reports/text/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "reports/text/markdown_text.h"
#include "tests/support/widest_line.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string control = "a\033[31mb\nc";

/// Two rows, of which the second one failed.
Table with_a_failure() {
  Table table;
  const std::vector<std::string> names{"first", "second"};
  add_column(table, {.title = "case", .align = Align::left, .verbatim = true}, names,
             [](const std::string& name) { return name; });
  table.status_column = 1;
  add_column(table, {.title = "median", .range_title = "± 95% CI"}, names,
             [](const std::string& name) -> TableCell {
               if (name == "second") return {.text = "failed"};
               return {.text = "1 s", .mark = "*", .range = "± 2%", .number = 1};
             });
  table.rows[1].reason = "out of memory";
  table.footnotes = {{"*", "ended early"}};
  return table;
}

TEST(TableModel, RefusesAColumnOfAnotherLength) {
  Table table;
  const auto itself = [](const std::string& text) { return text; };
  add_column(table, {.title = "one"}, std::vector<std::string>{"a", "b"}, itself);
  EXPECT_EQ(table.rows.size(), 2U);
  EXPECT_THROW(add_column(table, {.title = "two"}, std::vector<std::string>{"a"}, itself),
               std::logic_error);
}

TEST(TableInATerminal, HasMarksReasonsAndNotes) {
  EXPECT_EQ(to_text(with_a_failure(), {}),
            "case        median ± 95% CI\n"
            "───────────────────────────\n"
            "first         1 s* ± 2%\n"
            "second  failed (1)\n"
            "\n"
            "* ended early\n"
            "(1) out of memory\n");
}

TEST(TableInATerminal, KeepsControlCharactersOutOfEveryPart) {
  Table table = with_a_failure();
  TableColumn& column = table.columns[1];
  for (std::string* text : {&column.title, &column.range_title, &column.subtitle,
                            &column.cells[0].text, &column.cells[0].mark, &column.cells[0].range,
                            &column.cells[0].range_mark, &table.rows[1].reason}) {
    *text = control;
  }
  table.captions = {{control}};
  table.footnotes = {{"*", control}};
  EXPECT_THAT(to_text(table, {}), AllOf(Not(HasSubstr("\033")), HasSubstr("a\uFFFD[31mb\uFFFDc")));
}

TEST(TableInATerminal, MayHaveNoRows) {
  Table table;
  add_column(table, {.title = "case"}, std::vector<std::string>{},
             [](const std::string& text) { return text; });
  EXPECT_EQ(to_text(table, {}).find("case"), std::string::npos) << "an empty column";
}

/// Two rows that a number and columns of all ranks describe.
Table with_ranks() {
  Table table;
  const std::vector<std::string> names{"long-name", "other-name"};
  const auto add = [&](TableColumn column, const std::string& text, const std::string& mark = "") {
    const std::string range = column.range_title.empty() ? "" : "± 1";
    add_column(table, std::move(column), names, [&](const std::string&) {
      return TableCell{.text = text, .mark = mark, .range = range};
    });
  };
  const Narrow heading{.is_heading = true};
  add_column(table, {.title = "case", .align = Align::left, .narrow = heading}, names,
             [](const std::string& name) { return name; });
  add({.title = "split", .narrow = heading}, "12");
  table.status_column = 2;
  add({.title = "median"}, "1.000 ms");
  add({.title = "second", .narrow = {2}}, "22222222", "*");
  add({.title = "first", .range_title = "and range", .narrow = {1}}, "1");
  add({.title = "last", .narrow = {Narrow::important_rank}}, "lllllll");
  table.footnotes = {{"*", "a mark of the second"}};
  return table;
}

TEST(TableInATerminal, LeavesOutColumnsByRankAndNamesThem) {
  const std::string all = to_text(with_ranks(), {.width = 100});
  EXPECT_THAT(all,
              AllOf(HasSubstr("second  first and range     last"), Not(HasSubstr("not shown"))));
  const std::size_t full = test::widest_line(all);
  const std::string narrower = to_text(with_ranks(), {.width = full - 1});
  EXPECT_THAT(narrower, AllOf(HasSubstr("22222222*"), Not(HasSubstr("first and range  "))));
  EXPECT_THAT(narrower, HasSubstr("first and range; --width " + std::to_string(full)));
  EXPECT_THAT(narrower, HasSubstr("* a mark of the second"));
  const std::string narrow = to_text(with_ranks(), {.width = 36});
  EXPECT_EQ(narrow,
            "case        split    median     last\n"
            "────────────────────────────────────\n"
            "long-name      12  1.000 ms  lllllll\n"
            "other-name     12  1.000 ms  lllllll\n"
            "not shown at 36 columns: second,\n"
            "first and range; --width 64 or the\n"
            "JSON report has all\n");
}

TEST(TableInATerminal, PutsHeadingsAboveTheirRowsWhereRanksAreNotEnough) {
  const std::string stacked = to_text(with_ranks(), {.width = 32});
  EXPECT_EQ(stacked,
            "case, split\n"
            "    median     second     last\n"
            "──────────────────────────────\n"
            "long-name, split 12\n"
            "  1.000 ms  22222222*  lllllll\n"
            "other-name, split 12\n"
            "  1.000 ms  22222222*  lllllll\n"
            "not shown at 32 columns: first\n"
            "and range; --width 64 or the\n"
            "JSON report has all\n"
            "\n"
            "* a mark of the second\n");
  EXPECT_LE(test::widest_line(to_text(with_ranks(), {.width = 20})), 20U);
}

TEST(TableInATerminal, JoinsHeadingsWhereThatSavesAnImportantColumn) {
  Table table = with_ranks();
  table.joins_headings = true;
  EXPECT_THAT(to_text(table, {.width = 36}), HasSubstr("case        split    median     last"))
      << "what is important fits";
  EXPECT_EQ(to_text(table, {.width = 40}), to_text(with_ranks(), {.width = 40}));
  table.columns[1].title = "micro-batch size";  // wider than its cells
  table.columns.insert(table.columns.begin() + 2,
                       {.title = "schedule",
                        .cells = {{"gpipe"}, {std::string(not_applicable)}},
                        .narrow = {.is_heading = true}});
  table.status_column = 3;
  EXPECT_EQ(to_text(table, {.width = 56}),
            "case                                   median     last\n"
            "──────────────────────────────────────────────────────\n"
            "long-name micro-batch size 12 gpipe  1.000 ms  lllllll\n"
            "other-name micro-batch size 12       1.000 ms  lllllll\n"
            "not shown at 56 columns: second, first and range;\n"
            "--width 85 or the JSON report has all\n");
  EXPECT_THAT(to_text(table, {.width = 46}),
              AllOf(HasSubstr("long-name micro-batch size 12 gpipe  1.000 ms\n"),
                    HasSubstr("second, first and")))
      << "one line for a case is worth more than any other column";
  EXPECT_THAT(to_text(table, {.width = 40}),
              HasSubstr("\nlong-name, micro-batch size 12, schedule\ngpipe\n"));
}

TEST(TableInATerminal, LeavesOutARangeAlone) {
  Table table;
  add_column(table, {.title = "case", .align = Align::left}, std::vector<std::string>{"a"},
             [](const std::string& name) { return name; });
  add_column(table, {.title = "median", .range_title = "± 95% CI", .range_rank = 1},
             std::vector<std::string>{"1 ms"},
             [](const std::string& text) { return TableCell{.text = text, .range = "± 1%"}; });
  EXPECT_THAT(to_text(table, {.width = 12}),
              AllOf(HasSubstr("a       1 ms\n"), HasSubstr("± 95% CI;"), Not(HasSubstr("± 1%"))));
}

TEST(TableInMarkdown, HasAColumnOfReasonsAndNotesBelow) {
  EXPECT_EQ(markdown_table(with_a_failure()),
            "| case | median ± 95% CI | reason |\n"
            "| :-- | --: | :-- |\n"
            "| `first` | 1 s\\* ± 2% |  |\n"
            "| `second` | failed | `out of memory` |\n"
            "\n\\* ended early\n");
}

TEST(MarkdownProse, LeavesGitHubNothingToLink) {
  EXPECT_EQ(markdown_prose("@me #12 https://x www.y"),
            "@\u2060me \\#\u206012 https:\u2060//x w\u2060ww.y");
}

}  // namespace
}  // namespace parbench::report
