// Widths of UTF-8 text in a terminal, filling and wrapping; dates of other programs.
#include "reports/text/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/base/error.h"
#include "reports/text/grid.h"
#include "reports/text/utc.h"

namespace parbench::report {
namespace {

using testing::ElementsAre;

TEST(UtcOfDate, ReadsTheFormatsOfGoogleBenchmark) {
  EXPECT_EQ(utc_of_date("2026-11-23T16:33:28+00:00"), "2026-11-23T16:33:28Z");
  EXPECT_EQ(utc_of_date("2026-11-23T16:33:28Z"), "2026-11-23T16:33:28Z");
  EXPECT_EQ(utc_of_date("2026-01-01T00:30:00+05:30"), "2025-12-31T19:00:00Z");
  EXPECT_EQ(utc_of_date("2026-12-31T23:00:00-02:00"), "2027-01-01T01:00:00Z");
  EXPECT_EQ(utc_of_date("2019/02/21-13:37:24"), "2019-02-21T13:37:24Z");
  EXPECT_EQ(utc_of_date("2016-10-14 12:34:56"), "2016-10-14T12:34:56Z");
  EXPECT_EQ(utc_of_date("2026-11-20T10:00:00.123456"), "2026-11-20T10:00:00Z");
  EXPECT_EQ(utc_of_date("2026-11-20T10:00:00.123456+05:30"), "2026-11-20T04:30:00Z");
  EXPECT_EQ(utc_of_date("2026-11-20T10:00:00.5Z"), "2026-11-20T10:00:00Z");
  EXPECT_EQ(utc_of_date("2026-11-20 10:00:00.5-01:00"), "2026-11-20T11:00:00Z");
  EXPECT_EQ(utc_of_date("Fri Nov 20 10:00:00 2026"), "2026-11-20T10:00:00Z");
  EXPECT_EQ(utc_of_date("Fri Nov  6 10:00:00 2026"), "2026-11-06T10:00:00Z");
  EXPECT_EQ(utc_of_date("Fri Nov 20 10:00:00 UTC 2026"), "2026-11-20T10:00:00Z");
  for (const char* wrong : {"", "now", "2026-11-23", "2026-11-23T16:33:28+00:00 and more"}) {
    EXPECT_THROW((void)utc_of_date(wrong), UsageError) << wrong;
  }
}

TEST(DisplayWidth, CountsColumnsAndNotBytes) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("12.35 µs ± 0.8%"), 15U);
  EXPECT_EQ(display_width("1.71× (1.69–1.73)"), 17U);
  EXPECT_EQ(display_width("─│→…†"), 5U);
}

TEST(DisplayWidth, KnowsWideAndCombiningCharacters) {
  EXPECT_EQ(display_width("東京"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("🚀"), 2U);
  EXPECT_EQ(display_width("\t\n"), 0U);
}

TEST(DisplayWidth, CountsMalformedBytesOneByOne) {
  EXPECT_EQ(display_width("\xFF\xFE"), 2U);
  EXPECT_EQ(display_width("a\xC3"), 2U);
  EXPECT_EQ(display_width("\xE2\x82z"), 3U);
}

TEST(Padded, FillsToColumns) {
  EXPECT_EQ(padded("µs", 4, Align::left), "µs  ");
  EXPECT_EQ(padded("µs", 4, Align::right), "  µs");
  EXPECT_EQ(padded("longer", 4, Align::right), "longer");
}

TEST(Wrapped, BreaksAtSpaces) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("µµµ µµµ", 7), ElementsAre("µµµ µµµ"));
  EXPECT_THAT(wrapped("a-long-word b", 4), ElementsAre("a-long-word", "b"));
  EXPECT_THAT(wrapped("one\ntwo", 20), ElementsAre("one", "two"));
  EXPECT_THAT(wrapped("", 20), ElementsAre(""));
}

TEST(Printable, ReplacesWhatMovesTheTerminal) {
  EXPECT_EQ(printable("a\033[2Jb\r\tc\x7F"), "a\uFFFD[2Jb\uFFFD\uFFFDc\uFFFD");
  EXPECT_EQ(printable("a\u009Bb"), "a\uFFFDb") << "the one-character form of escape and bracket";
  EXPECT_EQ(printable("a\x9B"
                      "2Jb"),
            "a\uFFFD2Jb")
      << "the same as a byte";
  EXPECT_EQ(printable("\xC2"), "\uFFFD") << "a part of a character";
  EXPECT_EQ(printable("a\u202Eb\u2066c"), "a\uFFFDb\uFFFDc") << "directions of writing";
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\uFFFDb");
  EXPECT_EQ(printable("µs 東京 🚀 e\u0301"), "µs 東京 🚀 e\u0301");
}

TEST(Printable, KeepsLineBreaksWhereAsked) {
  EXPECT_EQ(printable("a\nb"), "a\uFFFDb");
  EXPECT_EQ(printable("a\nb\r", true), "a\nb\uFFFD");
}

TEST(Shortened, CutsAtColumns) {
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("longer", 5), "long…");
  EXPECT_EQ(shortened("µµµµ", 3), "µµ…");
  EXPECT_EQ(display_width(shortened("東京東京", 5)), 5U);
  EXPECT_EQ(shortened("", 5), "");
}

TEST(Shortened, CutsMarksThatTakeNoColumn) {
  std::string marks = "e";
  for (int i = 0; i < 1000; ++i) marks += "\u0301";
  EXPECT_LT(shortened(marks, 10).size(), 100U);
}

TEST(Grid, ShortensCellsOfAnyLength) {
  Grid grid;
  grid.columns.push_back({std::string(5000, 't'), {std::string(1'000'000, 'x'), "y"}});
  grid.emphasis = {Emphasis::none, Emphasis::none};
  EXPECT_LT(grid.render(false).size(), 2000U);
}

TEST(Grid, AlignsColumnsAndLeavesOutEmptyOnes) {
  Grid grid;
  grid.columns.push_back({"name", {"a", "µµ"}, Align::left});
  grid.columns.push_back({"nothing", {"", ""}});
  grid.columns.push_back({"time", {"1 µs", "12 µs"}});
  grid.emphasis = {Emphasis::none, Emphasis::none};
  EXPECT_EQ(grid.render(false),
            "name   time\n"
            "───────────\n"
            "a      1 µs\n"
            "µµ    12 µs\n");
}

TEST(Grid, EmphasisIsEscapedOnlyInColor) {
  Grid grid;
  grid.columns.push_back({"x", {"1"}});
  grid.emphasis = {Emphasis::bold};
  EXPECT_EQ(grid.render(false).find('\033'), std::string::npos);
  EXPECT_NE(grid.render(true).find("\033[1m1\033[0m\n"), std::string::npos);
}

TEST(ShortCommit, CutsHashesOnly) {
  EXPECT_EQ(short_commit(std::string(40, 'a')), "aaaaaaaaaa");
  EXPECT_EQ(short_commit("0123456789ABCDEF" + std::string(48, 'b')), "0123456789");
  EXPECT_EQ(short_commit("release/2026-10-01"), "release/2026-10-01");
  EXPECT_EQ(short_commit("0123456789abcdef"), "0123456789abcdef") << "as its author has cut it";
  EXPECT_EQ(short_commit("v1.2-μμμμμμμ"), "v1.2-μμμμμμμ");
  EXPECT_EQ(short_commit(std::string(41, 'a')), std::string(39, 'a') + "…");
}

}  // namespace
}  // namespace parbench::report
