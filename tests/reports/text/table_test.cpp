// The model of tables, in a terminal and in Markdown.
#include "reports/text/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "reports/text/markdown_text.h"

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
