// Untrusted JSON: what is refused, where, and what is accepted.
#include "reports/io/bounded_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/base/error.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Json parsed(const std::string& text, const ReadLimits& limits = {}, std::string_view only = {}) {
  std::istringstream stream(text);
  return parse_bounded(stream, limits, only);
}

std::string complaint(const std::string& text, const ReadLimits& limits = {},
                      std::string_view only = {}) {
  try {
    (void)parsed(text, limits, only);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

TEST(BoundedJson, IsWhatTheLibraryReads) {
  const std::string text =
      R"({"b": [1, -2, 0.5, 18446744073709551615, "µ\u0000\n", true, null, {}, []], "a": {"b": [[]]}})";
  EXPECT_EQ(parsed(text), Json::parse(text));
  EXPECT_EQ(parsed(text).dump(), Json::parse(text).dump()) << "the order of keys";
  for (const char* scalar : {"1", "\"x\"", "null", "[]", "\xEF\xBB\xBF{}"}) {
    EXPECT_EQ(parsed(scalar), Json::parse(scalar)) << scalar;
  }
}

TEST(BoundedJson, KeepsOneMemberOfTheOutermostObject) {
  const std::string text =
      R"({"a": [1, {"kept": 2}], "kept": {"a": {"kept": 1}}, "b": {"c": [{}]}})";
  EXPECT_EQ(parsed(text, {}, "kept"), Json::parse(R"({"kept": {"a": {"kept": 1}}})"));
  EXPECT_EQ(parsed(R"([1, {"kept": 2, "kept": 3}, []])", {.values = 1}, "kept"), Json::array());
  EXPECT_EQ(parsed(R"({"a": 1})", {}, "kept"), Json::object());
}

TEST(BoundedJson, CountsOnlyWhatIsKept) {
  const std::string text =
      R"({"rows": [)" + repeated("{\"a\": [1]},", 1000) + R"(1], "kept": [1]})";
  EXPECT_EQ(complaint(text, {.values = 10}, "kept"), "accepted");
  EXPECT_THAT(complaint(text, {.values = 10}), HasSubstr("holds more than 10 values"));
}

TEST(BoundedJson, NamesThePath) {
  EXPECT_THAT(complaint(R"({"a": [0, {"b": {"c": 1, "d": [1, 2, 3, 4]}}]})", {.values = 14}),
              StartsWith("a[1].b.d[3]: holds more than 14 values"));
  EXPECT_THAT(complaint(R"({"a": [{"b": {"x": 1, "y": 2, "x": 3}}]})"),
              StartsWith("a[0].b: has the key 'x' twice"));
  EXPECT_THAT(complaint(R"({"a": {"b": 1e999}})"),
              AllOf(StartsWith("a.b: byte 1"), HasSubstr("1e999")));
}

TEST(BoundedJson, RefusesNestingWithoutRecursion) {
  for (const std::string open : {"[", "{\"a\":", "[{\"a\":"}) {
    EXPECT_THAT(complaint(repeated(open, 1'000'000)), HasSubstr("deeper than 64 levels")) << open;
  }
  EXPECT_EQ(complaint(repeated("[", 64) + repeated("]", 64)), "accepted");
  EXPECT_THAT(complaint(repeated("[", 65) + repeated("]", 65)), HasSubstr("deeper than 64 levels"));
  EXPECT_THAT(complaint("{\"rows\":" + repeated("[", 1'000'000), {}, "kept"),
              HasSubstr("deeper than 64 levels"))
      << "in what is not kept as well";
}

TEST(BoundedJson, RefusesKeysThatStandTwice) {
  EXPECT_THAT(complaint(R"({"a": 1, "a": 1})"), StartsWith("has the key 'a' twice"));
  EXPECT_THAT(complaint(R"({"a\u0000b": 1, "a\u0000b": 1})"), HasSubstr("twice"));
  EXPECT_EQ(complaint(R"({"a\u0000b": 1, "a\u0000c": 1, "a": 1})"), "accepted");
  EXPECT_EQ(complaint(R"([{"a": {"a": 1}, "b": {"a": 2}}, {"a": 3}])"), "accepted");
}

TEST(BoundedJson, RefusesObjectsOfTooManyKeys) {
  std::string text = "{\"x\": {";
  for (int i = 0; i < 300; ++i) text += "\"" + std::to_string(i) + "\": 1,";
  EXPECT_THAT(complaint(text), StartsWith("x: has more than 256 keys"));
}

TEST(BoundedJson, RefusesTextsThatAreTooLong) {
  const std::string long_text(1001, 'x');
  EXPECT_THAT(complaint("{\"a\": [0, \"" + long_text + "\"]}", {.text = 1000}),
              StartsWith("a[1]: the text has 1001 bytes, at most 1000"));
  EXPECT_THAT(complaint("{\"" + long_text + "\": 1}", {.text = 1000}),
              HasSubstr("the text has 1001 bytes"));
  EXPECT_LT(complaint("{\"" + long_text + "\": {\"b\": 1e999}}").size(), 400U);
  EXPECT_EQ(complaint("[\"" + std::string(1000, 'x') + "\"]", {.text = 1000}), "accepted");
}

TEST(BoundedJson, SaysThatTextIsTruncated) {
  const std::string text = R"({"a": [1, {"b": "µ"}], "c": tru)";
  for (std::size_t kept = 1; kept <= text.size(); ++kept) {
    EXPECT_THAT(
        complaint(text.substr(0, kept)),
        AllOf(HasSubstr("is truncated"), HasSubstr("after " + std::to_string(kept) + " bytes")))
        << text.substr(0, kept);
  }
}

TEST(BoundedJson, SaysWhatIsNoJson) {
  for (const char* text : {"{}\n0", "{} tru", "[]\n\"", "{} {}", "[1,]", "{a: 1}", "[NaN]", "[01]",
                           "[1]x", "// c\n1"}) {
    EXPECT_THAT(complaint(text), StartsWith("is not JSON: ")) << text;
  }
  EXPECT_THAT(complaint(std::string("[\0]", 3)), StartsWith("is not JSON: "));
  EXPECT_THAT(complaint(std::string("{}\0\0", 4)), StartsWith("is not JSON: "));
  EXPECT_THAT(complaint("[\"a\x01\"]"), StartsWith("is not JSON: "));
}

TEST(BoundedJson, QuotesTheLineThatIsNoJson) {
  EXPECT_EQ(complaint("{\n  \"a\": [1,\n\tcounters are off\n  2]\n}\n"),
            "is not JSON: line 3, 'counters are off' (invalid literal); correct or remove it");
  EXPECT_THAT(complaint("{\"a\": 1}\nDestroyed 3 pools"), HasSubstr("line 2, 'Destroyed 3 pools'"));
  EXPECT_THAT(complaint("[driver] is slow\n{}"), HasSubstr("line 1, '[driver] is slow'"));
  EXPECT_THAT(complaint("{\n\n\"a\": 1,\n}"), HasSubstr("line 4, '}'"));
  EXPECT_THAT(complaint("{\"a\":\n \"C:\\Users\"}"),
              AllOf(HasSubstr("line 2, '\"C:\\Users\"}'"), HasSubstr("write two backslashes")));
  EXPECT_THAT(complaint("{\"a\": \"b\nc\"}"), HasSubstr("line 1, '{\"a\": \"b'"));
  const std::string compact =
      "\n[" + repeated("\"µ\",", 100) + "oops," + repeated("1,", 100) + "1]";
  EXPECT_THAT(complaint(compact),
              AllOf(HasSubstr("line 2, '…"), HasSubstr("\"µ\",oops,1,1"), HasSubstr(",1…' (")));
  std::istringstream stream("{\n a}");
  try {
    (void)parse_bounded(stream, {}, {}, {.first_line = 10});
    FAIL() << "accepted";
  } catch (const SyntaxError& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 11, 'a}'"));
  }
}

TEST(BoundedJson, KeepsTheFirstOfTwoValuesWhereThatIsAllowed) {
  std::istringstream stream(R"([{"a": 1, "b": {"c": 2}, "a": {"x": [3]}, "b": 4, "d": 5}])");
  std::vector<FileNote> notes;
  EXPECT_EQ(parse_bounded(stream, {}, {}, {.file_notes = &notes}),
            Json::parse(R"([{"a": 1, "b": {"c": 2}, "d": 5}])"));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0].what, HasSubstr("duplicate keys"));
  EXPECT_EQ(notes[0].first, "'a' in [0]");
  EXPECT_EQ(notes[0].count, 2);
}

TEST(BoundedJson, NamesUtf16AndHowToConvertIt) {
  using namespace std::string_literals;
  EXPECT_THAT(complaint("\xFF\xFE{\0}\0"s),
              AllOf(HasSubstr("is UTF-16 (by its byte order mark)"),
                    HasSubstr("iconv -f UTF-16 -t UTF-8 OLD.json > NEW.json")));
  EXPECT_THAT(complaint("\xFE\xFF\0{\0}"s), HasSubstr("by its byte order mark"));
  EXPECT_THAT(complaint("{\0}\0"s), HasSubstr("iconv -f UTF-16LE"));
  EXPECT_THAT(complaint("\0{\0}"s), HasSubstr("iconv -f UTF-16BE"));
  EXPECT_THAT(complaint("[\0]"s), HasSubstr("is not JSON")) << "one zero is an error of its own";
  EXPECT_THAT(complaint("\xEF\xBB\xBF{}"), Not(HasSubstr("UTF-16"))) << "UTF-8 has a mark as well";
}

TEST(BoundedJson, SaysWhatIsNotUtf8) {
  for (const char* text : {"[\"\xE9 \"]", "{\"\xC0\x80\": 1}", "[\"\xED\xA0\x80\"]"}) {
    EXPECT_THAT(complaint(text), HasSubstr("is not UTF-8 (byte ")) << text;
  }
  EXPECT_THAT(complaint("[\"\\ud800\"]"), Not(HasSubstr("accepted"))) << "half of a pair";
}

}  // namespace
}  // namespace parbench::report
