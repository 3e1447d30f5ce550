// Strict reading of axis values.
#include "scenarios/framework/parameters.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>

#include "kernels/base/error.h"
#include "scenarios/framework/scenario.h"

namespace parbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Axis axis_of(AxisKind kind, double min, double max) {
  Axis axis;
  axis.name = "flag";
  axis.kind = kind;
  axis.min = min;
  axis.max = max;
  axis.choices = {"d2h", "h2d"};
  return axis;
}

std::string error_of(const Axis& axis, std::string_view text) {
  try {
    (void)parse_value(axis, text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ParseValue, ReadsWholeNumbers) {
  const Axis axis = axis_of(AxisKind::integer, -5, 100);
  EXPECT_EQ(parse_value(axis, "42"), Value(std::int64_t{42}));
  EXPECT_EQ(parse_value(axis, "-5"), Value(std::int64_t{-5}));
  EXPECT_EQ(parse_value(axis, "007"), Value(std::int64_t{7}));
  for (const char* text : {"", "+1", "1.0", "1e2", " 1", "1 ", "0x1", "--1", "-", "1,2", "١"}) {
    EXPECT_THAT(error_of(axis, text), HasSubstr("from -5 to 100")) << text;
  }
  EXPECT_THAT(error_of(axis, "101"), HasSubstr("too large"));
  EXPECT_THAT(error_of(axis, "-6"), HasSubstr("too small"));
  EXPECT_THAT(error_of(axis, "123456789012345678901234567890"), HasSubstr("too large"));
  EXPECT_THAT(error_of(axis, "-123456789012345678901234567890"), HasSubstr("too small"));
}

TEST(ParseValue, HasNoUpperLimitBelowTheLower) {
  const Axis axis = axis_of(AxisKind::integer, 1, 0);
  EXPECT_EQ(parse_value(axis, "1000000"), Value(std::int64_t{1'000'000}));
  EXPECT_EQ(allowed_values(axis), "whole numbers of at least 1");
  EXPECT_THAT(error_of(axis, "9223372036854775807"), HasSubstr("too large"));
}

TEST(ParseValue, KnowsOneZero) {
  EXPECT_EQ(to_string(parse_value(axis_of(AxisKind::real, 0, 100), "-0")), "0");
  EXPECT_EQ(to_string(parse_value(axis_of(AxisKind::integer, 0, 100), "-0")), "0");
  EXPECT_EQ(to_string(parse_value(axis_of(AxisKind::duration, 0, 100), "-0ms")), "0ns");
}

TEST(ParseValue, ReadsRealNumbers) {
  const Axis axis = axis_of(AxisKind::real, 0, 100);
  EXPECT_EQ(parse_value(axis, "2.5"), Value(2.5));
  EXPECT_EQ(parse_value(axis, "1e1"), Value(10.0));
  for (const char* text : {"nan", "inf", "-1", "1e999", "2.5x", "+2", "0x1p3", "", ".", "100.1"}) {
    EXPECT_THAT(error_of(axis, text), AllOf(HasSubstr("--flag '"), HasSubstr("from 0 to 100")))
        << text;
  }
}

TEST(ParseValue, WritesADurationInOneWay) {
  const Axis axis = axis_of(AxisKind::duration, 1000, 1e10);
  const std::map<std::string, std::string> spellings = {
      {"250us", "250us"}, {"250µs", "250us"}, {"1ms", "1ms"},   {"1000us", "1ms"},
      {"0.3ms", "300us"}, {"0.5s", "500ms"},  {"2000ns", "2us"}};
  for (const auto& [text, canonical] : spellings) {
    EXPECT_EQ(parse_value(axis, text), Value(canonical));
    EXPECT_EQ(parse_value(axis, canonical), Value(canonical));
  }
  EXPECT_THAT(error_of(axis, "5"), HasSubstr("has no unit"));
  EXPECT_THAT(error_of(axis, "1000.5ns"), HasSubstr("whole number of nanoseconds"));
  EXPECT_THAT(error_of(axis, "1ns"), HasSubstr("too small"));
  EXPECT_THAT(error_of(axis, "-1s"), HasSubstr("too small"));
  EXPECT_THAT(error_of(axis, "1e30s"), HasSubstr("too large"));
  for (const char* text : {"", "ms", "1 ms", "1m", "1ms2", "fast"}) {
    EXPECT_THAT(error_of(axis, text), HasSubstr("from 1us to 10s")) << text;
  }
}

TEST(ParseValue, ReadsBytesWithBinaryUnits) {
  const Axis axis = axis_of(AxisKind::bytes, 4, 1 << 30);
  for (const auto& [text, kept] : std::map<std::string, std::string>{{"4", "4"},
                                                                     {"4096", "4KiB"},
                                                                     {"4KiB", "4KiB"},
                                                                     {"16384KiB", "16MiB"},
                                                                     {"1025KiB", "1025KiB"},
                                                                     {"1GiB", "1GiB"}}) {
    EXPECT_EQ(parse_value(axis, text), Value(kept)) << text;
    EXPECT_NO_THROW(check_value(axis, Value(kept)));
    EXPECT_EQ(bytes_of(kept), bytes_of(text));
  }
  EXPECT_EQ(bytes_of("2TiB"), std::int64_t{1} << 41);
  EXPECT_THAT(error_of(axis, "0KiB"), HasSubstr("too small"));
  EXPECT_THAT(error_of(axis, "-1KiB"), HasSubstr("too small"));
  EXPECT_THAT(error_of(axis, "1025MiB"), HasSubstr("too large"));
  for (const char* text : {"", "KiB", "1 KiB", "1.5KiB", "1kB", "999999999999999GiB"}) {
    EXPECT_THAT(error_of(axis, text), HasSubstr("from 4 to 1GiB")) << text;
  }
  EXPECT_THAT(error_of(axis_of(AxisKind::bytes, 4, 0), "999999999999999GiB"),
              HasSubstr("too large"));
}

TEST(ParseValue, ReadsChoices) {
  const Axis axis = axis_of(AxisKind::choice, 0, 0);
  EXPECT_EQ(parse_value(axis, "h2d"), Value(std::string("h2d")));
  EXPECT_THAT(error_of(axis, "H2D"), AllOf(HasSubstr("'H2D'"), HasSubstr("d2h, h2d")));
}

TEST(ParseValue, AsksToRenameAFileWhoseSuffixIsInCapitals) {
  Axis axis = axis_of(AxisKind::choice, 0, 0);
  axis.file_suffix = ".onnx";
  EXPECT_EQ(parse_value(axis, "some.onnx"), Value(std::string("some.onnx")));
  for (const char* name : {"some.ONNX", "some.Onnx"}) {
    EXPECT_THAT(error_of(axis, name), HasSubstr("does not end with '.onnx'; rename the file"));
  }
  EXPECT_THAT(error_of(axis, "onnx"), HasSubstr("is not a choice"));
}

TEST(ParseValue, ReadsSizes) {
  const Axis axis = axis_of(AxisKind::sizes, 1, 120);
  EXPECT_EQ(parse_value(axis, "12"), Value(std::int64_t{12}));
  EXPECT_EQ(parse_value(axis, "20+20+8"), Value(std::string("20+20+8")));
  for (const char* text : {"", "+", "1+", "+1", "1++2", "1+0", "1+121", "1 + 2", "1+-1"}) {
    EXPECT_THAT(error_of(axis, text), HasSubstr("from 1 to 120")) << text;
  }
}

TEST(NanosecondsOf, AreExact) {
  const Axis axis = axis_of(AxisKind::duration, 1, 1e12);
  for (const std::int64_t nanoseconds : {1LL, 999LL, 1500LL, 1'000'000LL, 2'500'000'001LL}) {
    const Value value = parse_value(axis, fmt::format("{}ns", nanoseconds));
    EXPECT_EQ(nanoseconds_of(std::get<std::string>(value)), nanoseconds);
  }
  EXPECT_THROW((void)nanoseconds_of("soon"), std::invalid_argument);
}

TEST(Parameters, KeepTheirOrderAndTypes) {
  Parameters parameters;
  parameters.set("b", std::int64_t{1});
  parameters.set("a", std::string("x"));
  parameters.set("b", 2.5);
  EXPECT_EQ(parameters.begin()->name, "b");
  EXPECT_EQ(parameters.real("b"), 2.5);
  EXPECT_EQ(parameters.text("a"), "x");
  EXPECT_EQ(parameters.find("c"), nullptr);
  EXPECT_THROW((void)parameters.integer("c"), std::out_of_range);
  EXPECT_THROW((void)parameters.integer("a"), std::bad_variant_access);
}

TEST(Parameters, AreImpliedUntilTheyAreSet) {
  Parameters parameters;
  parameters.imply("a", std::string("x"));
  EXPECT_TRUE(parameters.begin()->implied);
  EXPECT_EQ(parameters.text("a"), "x");
  parameters.set("a", std::string("y"));
  EXPECT_FALSE(parameters.begin()->implied);
}

TEST(Parameters, AreStatedAlthoughTheyWereImplied) {
  Parameters parameters;
  parameters.imply("model", std::string("usual"));
  parameters.state("model");
  parameters.state("none");
  EXPECT_FALSE(parameters.begin()->implied);
  EXPECT_EQ(parameters.text("model"), "usual");
}

TEST(Parameters, ASelectionKeepsWhatIsImplied) {
  Parameters all;
  all.set("a", std::int64_t{1});
  all.imply("b", std::int64_t{2});
  all.set("c", std::int64_t{3});
  Parameters wanted;
  wanted.set("a", std::int64_t{1});
  wanted.imply("b", std::int64_t{2});
  EXPECT_EQ(all.where([](std::string_view name) { return name != "c"; }), wanted);
}

TEST(Values, ThatAreTypedAlreadyMustBeOnesOfTheAxis) {
  const Axis whole = axis_of(AxisKind::integer, 1, 8);
  EXPECT_NO_THROW(check_value(whole, std::int64_t{8}));
  EXPECT_THROW(check_value(whole, std::int64_t{9}), UsageError);
  EXPECT_THROW(check_value(whole, 8.0), UsageError) << "another type";
  EXPECT_THROW(check_value(whole, std::string("8")), UsageError) << "another type";
  EXPECT_NO_THROW(check_value(axis_of(AxisKind::sizes, 1, 8), std::string("3+5")));
  EXPECT_THROW(check_value(axis_of(AxisKind::choice, 1, 0), std::string("d2d")), UsageError);
}

TEST(Values, APercentageMayHaveItsSign) {
  const Axis axis = axis_of(AxisKind::percent, 0, 1000);
  EXPECT_EQ(parse_value(axis, "2.5%"), Value(2.5));
  EXPECT_EQ(parse_value(axis, "2.5"), Value(2.5));
  EXPECT_EQ(error_of(axis, "2%%"), "--flag '2%%' is not a number; allowed: numbers from 0 to 1000");
}

TEST(Parameters, PrintShortest) {
  EXPECT_EQ(to_string(Value(std::int64_t{12})), "12");
  EXPECT_EQ(to_string(Value(0.1)), "0.1");
  EXPECT_EQ(to_string(Value(5.0)), "5");
  EXPECT_EQ(to_string(Value(std::string("20+8"))), "20+8");
}

TEST(Parameters, HaveFallbacksForAbsentNames) {
  Parameters parameters;
  parameters.set("split", std::int64_t{3});
  parameters.imply("schedule", "gpipe");
  EXPECT_EQ(parameters.integer_or("split", 1), 3);
  EXPECT_EQ(parameters.integer_or("accumulate", 1), 1);
  EXPECT_EQ(parameters.text_or("schedule", "1f1b"), "gpipe");
  EXPECT_EQ(parameters.text_or("partition", "balanced"), "balanced");
  EXPECT_EQ(parameters.value_or("split", 4.0), Value(std::int64_t{3}));
  EXPECT_EQ(parameters.value_or("clip", 0.5), Value(0.5));
}

}  // namespace
}  // namespace parbench
