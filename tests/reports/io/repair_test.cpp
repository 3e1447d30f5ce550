// Text that is almost JSON, and the objects in it.
#include "reports/io/foreign/repair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace parbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Repaired {
  std::vector<std::string> objects;
  std::vector<std::size_t> lines;
  std::vector<FileNote> notes;
};

Repaired repaired(const std::string& text) {
  Repaired result;
  for (FoundObject& object : repaired_objects(text, result.notes)) {
    result.objects.push_back(object.text);
    result.lines.push_back(object.first_line);
  }
  return result;
}

std::vector<std::string> objects_of(const std::string& text) { return repaired(text).objects; }

TEST(Repair, LeavesJsonAsItIs) {
  for (const std::string text :
       {R"({"a": [1, -2.5e-3, true, false, null, {"b": {}}], "c": "µ, ] } \" \\ \u00b5"})",
        R"({"NaN": "nan", "Infinity": "-inf, }"})", "{ \n\"a\":\n[\n]\n}"}) {
    EXPECT_THAT(objects_of(text), ElementsAre(text));
    EXPECT_THAT(repaired(text).notes, IsEmpty()) << text;
  }
}

TEST(Repair, LeavesTextAroundObjectsOut) {
  const Repaired result =
      repaired("[driver] is slow\n{log}\n  {\"a\": 1}done\n\n{\"b\":\n2} \n3 pools\n");
  EXPECT_THAT(result.objects, ElementsAre("{\"a\": 1}", "{\"b\":\n2}"));
  EXPECT_THAT(result.lines, ElementsAre(3U, 5U));
  EXPECT_THAT(result.notes, ElementsAre(FileNote{"text that is not JSON was left out",
                                                 "line 1, '[driver] is slow'", 4}));
  EXPECT_THAT(repaired("{\"a\": 1} end\n").notes,
              ElementsAre(FileNote{"text that is not JSON was left out", "line 1, 'end'", 1}));
}

TEST(Repair, FindsNoObjectInOtherText) {
  for (const char* text : {"", "\n\n", "name,time\n1,2\n", "{a: 1}", "[1, 2]", "{", "{ \n"}) {
    EXPECT_THAT(objects_of(text), IsEmpty()) << text;
  }
}

TEST(Repair, TakesTheObjectsOfAListWithoutNotes) {
  const Repaired result = repaired("\xEF\xBB\xBF[\n {\"a\": 1},\n{\"a\": 2}\n]\n");
  EXPECT_THAT(result.objects, ElementsAre("{\"a\": 1}", "{\"a\": 2}"));
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(Repair, TakesTimeInProportionToBlanks) {
  // Takes minutes where every blank is followed by a search to the end of all.
  const std::string blanks(1'000'000, ' ');
  EXPECT_THAT(objects_of("log\n" + blanks + "{\"a\": 1}"), ElementsAre("{\"a\": 1}"));
  EXPECT_THAT(objects_of("log\n" + std::string(1'000'000, '\n') + "{" + blanks), IsEmpty());
}

TEST(Repair, SkipsByteOrderMark) {
  const Repaired result = repaired("\xEF\xBB\xBF{\"a\": 1}");
  EXPECT_THAT(result.objects, ElementsAre("{\"a\": 1}"));
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(Repair, ReadsNumbersThatAreNotFiniteAsMissing) {
  EXPECT_THAT(
      objects_of(R"({"a":[NaN,-NaN,nan,-nan(ind),Inf,+inf,-Infinity,INFINITY,1.#INF,-1.#IND]})"),
      ElementsAre(R"({"a":[null,null,null,null,null,null,null,null,null,null]})"));
  EXPECT_THAT(objects_of(R"({"a":[nano,inform,1e5,-1,01.5]})"),
              ElementsAre(R"({"a":[nano,inform,1e5,-1,01.5]})"));
  EXPECT_THAT(repaired("{\"a\":\nnan,\n\"b\": inf}").notes,
              ElementsAre(FileNote{"numbers that are not finite were read as missing",
                                   "line 2, 'nan'", 2}));
  EXPECT_THAT(repaired(R"({"a":[NaN,-NaN,Infinity,-Infinity]})").notes, IsEmpty())
      << "Google Benchmark writes them";
}

TEST(Repair, LeavesCommasBeforeClosingBracketsOut) {
  const Repaired result = repaired("{\"a\": [1,2,],\n\"b\": {\"c\": \",]\", \n },}");
  EXPECT_THAT(result.objects, ElementsAre("{\"a\": [1,2],\n\"b\": {\"c\": \",]\" \n }}"));
  EXPECT_THAT(result.notes,
              ElementsAre(FileNote{"commas before closing brackets were left out", "line 1", 3}));
  EXPECT_THAT(objects_of(R"({"a": [1,,], "b": [,]})"), ElementsAre(R"({"a": [1,], "b": []})"))
      << "one comma is left out; what is left is no JSON";
}

TEST(Repair, ReadsOtherBytesAsLatin1) {
  const Repaired result = repaired("{\"J\xFCrgen\":\n\"\xB5\xC3\xBC\xE9\"}");
  EXPECT_THAT(result.objects, ElementsAre("{\"Jürgen\":\n\"µüé\"}"));
  EXPECT_THAT(result.notes,
              ElementsAre(FileNote{"bytes that are not UTF-8 were read as Latin-1", "line 1", 2}));
}

TEST(Repair, KeepsWhatIsIncomplete) {
  EXPECT_THAT(objects_of("{\"a\": [1,"), ElementsAre("{\"a\": [1,"));
  EXPECT_THAT(objects_of("{\"a"), ElementsAre("{\"a"));
  EXPECT_THAT(objects_of("{\"a\\"), ElementsAre("{\"a\\"));
}

TEST(Repair, CountsTheLinesOfAllObjects) {
  EXPECT_THAT(repaired("{\"a\":\n\"x\ny\"\n}\n\n{\"b\": 1}\n{\"c\": 1}").lines,
              ElementsAre(1U, 6U, 7U));
}

}  // namespace
}  // namespace parbench::report
