// Places that ONNX operators read and write, on numbers that differ by element: windows, choices
// of elements, movements, sizes of images.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/scenarios/models/onnx/operator_runs.h"
#include "tests/support/onnx_file.h"

namespace parbench::test {
namespace {

using general::Values;
using onnx_import::ElementType;

/// {1, 1, values}
Given line(const Values& values) {
  return {"x", {1, 1, static_cast<std::int64_t>(values.size())}, values};
}

OperatorRow line_row(const std::string& nodes, const Given& from, const Values& values) {
  return {nodes, {from}, {1, 1, static_cast<std::int64_t>(values.size())}, values};
}

// --- windows ---

TEST(OperatorPlaces, MaximaOfWindows) {
  const Given x = line({1, 2, 3, 4, 5});
  const Given negative = line({-1, -2, -3, -4, -5});
  const auto pool = [](const std::string& attributes) {
    return "y = MaxPool <kernel_shape = " + attributes + "> (x) ";
  };
  expect_all({line_row(pool("[2], strides = [2]"), x, {2, 4}),
              line_row(pool("[2], strides = [2], ceil_mode = 1"), x, {2, 4, 5}),
              line_row(pool("[3], pads = [1, 0]"), negative, {-1, -1, -2, -3}),
              line_row(pool("[2], dilations = [2]"), negative, {-1, -2, -3}),
              line_row(pool("[2], auto_pad = \"SAME_UPPER\""), negative, {-1, -2, -3, -4, -5}),
              line_row(pool("[2], auto_pad = \"SAME_LOWER\""), negative, {-1, -1, -2, -3, -4}),
              line_row(pool("[5]"), x, {5}), line_row(pool("[9], pads = [2, 2]"), negative, {-1})});
}

TEST(OperatorPlaces, MeansOfWindowsCountPaddingWhereTheyShould) {
  const Given x = line({3, 6, 9});
  const Given four = line({3, 6, 9, 12});
  const Given five = line({2, 4, 6, 8, 10});
  const auto pool = [](const std::string& attributes) {
    return "y = AveragePool <kernel_shape = " + attributes + "> (x) ";
  };
  const auto lp = [](const std::string& attributes) {
    return "y = LpPool <kernel_shape = [2]" + attributes + "> (x) ";
  };
  expect_all(
      {line_row(pool("[3], pads = [1, 1]"), x, {4.5, 6, 7.5}),
       line_row(pool("[3], pads = [1, 1], count_include_pad = 1"), x, {3, 6, 5}),
       line_row(pool("[3], pads = [2, 0]"), x, {3, 4.5, 6}),
       line_row(pool("[2], strides = [2], ceil_mode = 1"), five, {3, 7, 10}),
       line_row(pool("[2], strides = [2], ceil_mode = 1, count_include_pad = 1"), five, {3, 7, 10}),
       line_row(pool("[3], strides = [2], pads = [1, 1], ceil_mode = 1, count_include_pad = 1"),
                four, {3, 9, 6}),
       line_row(lp(""), line({3, 4, 0}), {5, 4}),
       line_row(lp(", p = 1"), line({3, -4, 0}), {7, 4}),
       {"y = GlobalAveragePool (x) ", {counting({1, 2, 2, 2})}, {1, 2, 1, 1}, {2.5, 6.5}},
       {"y = GlobalMaxPool (x) ", {counting({1, 2, 2, 2})}, {1, 2, 1, 1}, {4, 8}}});
}

TEST(OperatorPlaces, ConvolutionsReadTheirWindows) {
  const Given x = line({1, 2, 3, 4});
  const Given w{"w", {1, 1, 2}, {1, 10}};
  const auto row = [&](const std::string& attributes, const Values& values) {
    return OperatorRow{"y = Conv " + attributes + " (x, w) ",
                       {x, w},
                       {1, 1, static_cast<std::int64_t>(values.size())},
                       values};
  };
  expect_all({row("", {21, 32, 43}), row("<pads = [1, 0]>", {10, 21, 32, 43}),
              row("<pads = [0, 1]>", {21, 32, 43, 4}), row("<strides = [2]>", {21, 43}),
              row("<dilations = [2]>", {31, 42}),
              row("<auto_pad = \"SAME_LOWER\">", {10, 21, 32, 43}),
              row("<auto_pad = \"SAME_UPPER\">", {21, 32, 43, 4}),
              row("<auto_pad = \"VALID\">", {21, 32, 43})});
  const Given channels{"x", {1, 2, 2}, {1, 2, 3, 4}};
  const Given groups{"w", {4, 1, 1}, {1, 2, 3, 4}};
  const Given all{"w", {2, 2, 1}, {1, 10, 100, 1000}};
  const Given bias{"b", {2}, {0.5, 7}};
  const Given image{"x", {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}};
  const Given wide{"w", {1, 1, 1, 2}, {1, 10}};
  expect_all({{"y = Conv <group = 2> (x, w) ",
               {counting({2, 2, 2}), groups},
               {2, 4, 2},
               {1, 2, 2, 4, 9, 12, 12, 16, 5, 6, 10, 12, 21, 24, 28, 32}},
              {"y = Conv (x, w, b) ", {channels, all, bias}, {1, 2, 2}, {31.5, 42.5, 3107, 4207}},
              {"y = Conv <pads = [0, 1, 1, 0]> (x, w) ",
               {image, wide},
               {1, 1, 3, 3},
               {10, 21, 32, 40, 54, 65, 0, 0, 0}}});
}

TEST(OperatorPlaces, TransposedConvolutionsWriteTheirWindows) {
  const Given x = line({1, 2});
  const Given w{"w", {1, 1, 2}, {1, 10}};
  const Given three{"w", {1, 1, 3}, {1, 10, 100}};
  const auto row = [&](const std::string& attributes, const Given& weights, const Values& values) {
    return OperatorRow{"y = ConvTranspose " + attributes + " (x, w) ",
                       {x, weights},
                       {1, 1, static_cast<std::int64_t>(values.size())},
                       values};
  };
  expect_all({row("", w, {1, 12, 20}), row("<strides = [2]>", w, {1, 10, 2, 20}),
              row("<pads = [1, 0]>", w, {12, 20}), row("<pads = [0, 1]>", w, {1, 12}),
              row("<strides = [2], output_padding = [1]>", w, {1, 10, 2, 20, 0}),
              row("<dilations = [2]>", w, {1, 2, 10, 20}),
              row("<strides = [2], output_shape = [3]>", w, {10, 2, 20}),
              row("<strides = [2], output_shape = [6]>", w, {1, 10, 2, 20, 0, 0}),
              row("<strides = [2], auto_pad = \"SAME_UPPER\">", three, {1, 10, 102, 20}),
              row("<strides = [2], auto_pad = \"SAME_LOWER\">", three, {10, 102, 20, 200})});
  const Given channels{"x", {1, 2, 1}, {2, 3}};
  const Given samples{"x", {2, 2, 1}, {2, 3, 4, 5}};
  const Given groups{"w", {2, 1, 2}, {1, 10, 100, 1000}};
  const Given outputs{"w", {2, 2, 1}, {1, 10, 100, 1000}};
  const Given bias{"b", {2}, {0.5, 7}};
  expect_all(
      {{"y = ConvTranspose <group = 2> (x, w) ",
        {samples, groups},
        {2, 2, 2},
        {2, 20, 300, 3000, 4, 40, 500, 5000}},
       {"y = ConvTranspose (x, w, b) ", {channels, outputs, bias}, {1, 2, 1}, {302.5, 3027}}});
}

// --- choices of elements ---

Given places(const Shape& shape, const Values& values) {
  return {"i", shape, values, ElementType::integer};
}

TEST(OperatorPlaces, GathersCountFromTheEndWhereTheyAreNegative) {
  const Given x = counting({2, 3});
  expect_all(
      {{"y = Gather (x, i) ", {x, places({1}, {-1})}, {1, 3}, {4, 5, 6}},
       {"y = Gather <axis = 1> (x, i) ", {x, places({2}, {-1, 0})}, {2, 2}, {3, 1, 6, 4}},
       {"y = Gather <axis = -1> (x, i) ", {x, places({1, 2}, {1, 1})}, {2, 1, 2}, {2, 2, 5, 5}},
       {onnx_integers("i", "2, 0", 2) + "y = Gather <axis = 1> (x, i) ", {x}, {2, 2}, {3, 1, 6, 4}},
       {onnx_integers("i", "0, 2, -2", 3) + "y = Gather <axis = 1> (x, i) ",
        {x},
        {2, 3},
        {1, 3, 2, 4, 6, 5}},
       {"y = GatherElements (x, i) ", {x, places({1, 3}, {1, 0, -1})}, {1, 3}, {4, 2, 6}},
       {"y = GatherElements <axis = 1> (x, i) ", {x, places({2, 1}, {2, -3})}, {2, 1}, {3, 4}},
       {"y = GatherND (x, i) ", {x, places({2, 2}, {0, 2, 1, -3})}, {2}, {3, 4}},
       {"y = GatherND (x, i) ", {x, places({1, 1}, {-1})}, {1, 3}, {4, 5, 6}},
       {"y = GatherND <batch_dims = 1> (x, i) ", {x, places({2, 1}, {2, 0})}, {2}, {3, 4}}});
}

TEST(OperatorPlaces, GathersFindNothingOutsideOfTheirInput) {
  for (const double place : {-3.0, 2.0}) {
    EXPECT_THROW((void)computed("y = Gather (x, i) ", {counting({2, 3}), places({1}, {place})}),
                 std::out_of_range);
    EXPECT_THROW(
        (void)computed("y = GatherND (x, i) ", {counting({2, 3}), places({1, 1}, {place})}),
        std::out_of_range);
  }
}

TEST(OperatorPlaces, SelectionsAmongMoreRowsThanF32CountsAreRefused) {
  const Given x{"x", {8, 1024, 50257}, {}};
  const Given images{"x", {1, 1, 4097, 4096}, {}};
  const Given sequences{"x", {4096, 4097, 1}, {}};
  for (const Computed& found :
       {computed("y = GatherElements <axis = 2> (x, i) ", {x, places({8, 1024, 1}, {})}),
        computed("y = GatherND (x, i) ", {x, places({4, 3}, {})}),
        computed("y = ScatterND (x, i, u) ", {x, places({4, 3}, {}), {"u", {4}, {}}}),
        computed("y = GridSample (x, g) ", {images, {"g", {1, 1, 1, 2}, {}}}),
        computed("y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, i) ",
                 {sequences, places({4096}, {})})}) {
    EXPECT_THAT(found.problem, testing::EndsWith(" rows, more than the 16777216 that f32 counts "
                                                 "exactly; use a smaller input"));
  }
}

TEST(OperatorPlaces, ScattersReplaceOrAdd) {
  const Given x = counting({2, 3});
  const Given updates{"u", {2, 1}, {10, 20}};
  const Given list = places({2, 1}, {2, -3});
  const Given rows = counting({3, 2});
  const Given new_rows{"u", {2, 2}, {10, 20, 30, 40}};
  expect_all({{"y = ScatterElements <axis = 1> (x, i, u) ",
               {x, list, updates},
               {2, 3},
               {1, 2, 10, 20, 5, 6}},
              {"y = ScatterElements <axis = 1, reduction = \"add\"> (x, i, u) ",
               {x, list, updates},
               {2, 3},
               {1, 2, 13, 24, 5, 6}},
              {"y = ScatterElements (x, i, u) ",
               {x, places({2, 1}, {1, 0}), updates},
               {2, 3},
               {20, 2, 3, 10, 5, 6}},
              {"y = ScatterND (x, i, u) ",
               {rows, places({2, 1}, {2, 0}), new_rows},
               {3, 2},
               {30, 40, 3, 4, 10, 20}}});
}

TEST(OperatorPlaces, PlacesAreNamedByHotElements) {
  const std::string depth = onnx_integers("d", "3", 1) + numbers("v", "2", "5, 9");
  const Given list = places({3}, {0, -1, 5});
  const Given x{"x", {2, 3}, {1, 5, 5, 7, 2, 7}};
  expect_all(
      {{depth + "y = OneHot (i, d, v) ", {list}, {3, 3}, {9, 5, 5, 5, 5, 9, 5, 5, 5}},
       {depth + "y = OneHot <axis = 0> (i, d, v) ", {list}, {3, 3}, {9, 5, 5, 5, 5, 5, 5, 9, 5}},
       {"y = ArgMax (x) ", {x}, {1, 3}, {1, 0, 1}},
       {"y = ArgMax <axis = 1> (x) ", {x}, {2, 1}, {1, 0}},
       {"y = ArgMax <axis = -1, select_last_index = 1> (x) ", {x}, {2, 1}, {2, 2}},
       {"y = ArgMin <axis = 1, keepdims = 0> (x) ", {x}, {2}, {0, 1}},
       {"y = ArgMin <keepdims = 0> (x) ", {x}, {3}, {0, 1, 0}}});
}

TEST(OperatorPlaces, TheLargestAreInOrderAndTheFirstOfEqualOnesFirst) {
  const std::string two = onnx_integers("k", "2", 1);
  const Given x = row_of({3, 9, 9, -infinity});
  const Given column{"x", {3, 1}, {2, 8, 5}};
  expect_all({{two + "y, i = TopK (x, k) ", {x}, {1, 2}, {9, 9}},
              {two + "v, y = TopK (x, k) ", {x}, {1, 2}, {1, 2}},
              {two + "y, i = TopK <largest = 0> (x, k) ", {x}, {1, 2}, {-infinity, 3}},
              {two + "v, y = TopK <largest = 0> (x, k) ", {x}, {1, 2}, {3, 0}},
              {two + "y, i = TopK <axis = 0> (x, k) ", {column}, {2, 1}, {8, 5}},
              {"v, y = TopK <axis = 0, k = 3> (x) ", {column}, {3, 1}, {1, 2, 0}, 9}});
}

TEST(OperatorPlaces, RunningSumsAndTriangles) {
  const std::string last = onnx_integers("a", "-1", 1);
  const std::string first = onnx_integers("a", "0", 1);
  const std::string one = onnx_integers("k", "1", 1);
  const std::string below = onnx_integers("k", "-1", 1);
  const Given x = row_of({1, 2, 4, 8, 16});
  const Given square = counting({3, 3});
  expect_all(
      {{last + "y = CumSum (x, a) ", {x}, {1, 5}, {1, 3, 7, 15, 31}},
       {last + "y = CumSum <exclusive = 1> (x, a) ", {x}, {1, 5}, {0, 1, 3, 7, 15}},
       {last + "y = CumSum <reverse = 1> (x, a) ", {x}, {1, 5}, {31, 30, 28, 24, 16}},
       {last + "y = CumSum <reverse = 1, exclusive = 1> (x, a) ", {x}, {1, 5}, {30, 28, 24, 16, 0}},
       {first + "y = CumSum (x, a) ", {counting({2, 2})}, {2, 2}, {1, 2, 4, 6}},
       {"y = Trilu (x) ", {square}, {3, 3}, {1, 2, 3, 0, 5, 6, 0, 0, 9}},
       {one + "y = Trilu (x, k) ", {square}, {3, 3}, {0, 2, 3, 0, 0, 6, 0, 0, 0}},
       {"y = Trilu <upper = 0> (x) ", {square}, {3, 3}, {1, 0, 0, 4, 5, 0, 7, 8, 9}},
       {below + "y = Trilu <upper = 0> (x, k) ", {square}, {3, 3}, {0, 0, 0, 4, 0, 0, 7, 8, 0}},
       {"y = EyeLike (x) ", {counting({2, 3})}, {2, 3}, {1, 0, 0, 0, 1, 0}},
       {"y = EyeLike <k = 1> (x) ", {counting({2, 3})}, {2, 3}, {0, 1, 0, 0, 0, 1}}});
}

// --- movements ---

TEST(OperatorPlaces, ShapesAreNumbers) {
  const Given x = counting({2, 3, 4});
  expect_all(
      {{"y = Shape (x) ", {x}, {3}, {2, 3, 4}},
       {"y = Shape <start = 1, end = -1> (x) ", {x}, {1}, {3}},
       {"y = Shape <start = -1> (x) ", {x}, {1}, {4}},
       {"y = Size (x) ", {x}, {}, {24}},
       {"y = Flatten (x) ", {x}, {2, 12}, x.values},
       {"y = Flatten <axis = 2> (x) ", {x}, {6, 4}, x.values},
       {"y = Flatten <axis = 0> (x) ", {x}, {1, 24}, x.values},
       {"y = Flatten <axis = -1> (x) ", {x}, {6, 4}, x.values},
       {"y = Transpose (x) ", {counting({2, 3})}, {3, 2}, {1, 4, 2, 5, 3, 6}},
       {"y = Transpose <perm = [1, 2, 0]> (x) ",
        {counting({2, 2, 2})},
        {2, 2, 2},
        {1, 5, 2, 6, 3, 7, 4, 8}},
       {"y = Squeeze (x) ", {counting({1, 2, 1})}, {2}, {1, 2}},
       {onnx_integers("a", "-1", 1) + "y = Squeeze (x, a) ", {counting({1, 2, 1})}, {1, 2}, {1, 2}},
       {onnx_integers("a", "0, -1", 2) + "y = Unsqueeze (x, a) ",
        {counting({2})},
        {1, 2, 1},
        {1, 2}}});
}

/// Starts, ends and steps of the only axis.
std::string sliced(const std::string& start, const std::string& end, const std::string& step) {
  return onnx_integers("s", start, 1) + onnx_integers("e", end, 1) + onnx_integers("a", "1", 1) +
         onnx_integers("t", step, 1) + "y = Slice (x, s, e, a, t) ";
}

TEST(OperatorPlaces, PartsAreCutAndRepeated) {
  const Given x = row_of({1, 2, 3, 4, 5});
  expect_all({{sliced("-4", "-1", "1"), {x}, {1, 3}, {2, 3, 4}},
              {sliced("1", "99", "3"), {x}, {1, 2}, {2, 5}},
              {sliced("3", "-99", "-2"), {x}, {1, 2}, {4, 2}},
              {sliced("-1", "0", "-1"), {x}, {1, 4}, {5, 4, 3, 2}},
              {"a, y = Split <axis = 1, num_outputs = 2> (x) ", {x}, {1, 2}, {4, 5}, 18},
              {onnx_integers("s", "1, 3, 1", 3) + "a, y, b = Split <axis = -1> (x, s) ",
               {x},
               {1, 3},
               {2, 3, 4}},
              {"y, a, b, c = Split <axis = 0> (x) ", {counting({4, 1})}, {1, 1}, {1}},
              {onnx_integers("r", "2, 2", 2) + "y = Tile (x, r) ",
               {counting({1, 2})},
               {2, 4},
               {1, 2, 1, 2, 1, 2, 1, 2}},
              {onnx_integers("r", "2, 1, 2", 3) + "y = Expand (x, r) ",
               {counting({2, 1})},
               {2, 2, 2},
               {1, 1, 2, 2, 1, 1, 2, 2}},
              {"y = Concat <axis = 1> (x, b) ",
               {counting({2, 1}), {"b", {2, 2}, {7, 8, 9, 10}}},
               {2, 3},
               {1, 7, 8, 2, 9, 10}},
              {"c = Constant <value = bool[3] {1, 0, 1}> () y = Compress <axis = 1> (x, c) ",
               {counting({2, 3})},
               {2, 2},
               {1, 3, 4, 6}},
              {"c = Constant <value = bool[5] {0, 0, 1, 1, 0}> () y = Compress (x, c) ",
               {counting({2, 3})},
               {2},
               {3, 4}}});
}

TEST(OperatorPlaces, EdgesAreFilledByTheirMode) {
  const Given x = row_of({1, 2, 3});
  const std::string pads = onnx_integers("p", "0, 2, 0, 1", 4);
  const std::string cut = onnx_integers("p", "0, -1, 0, 2", 4);
  expect_all(
      {{pads + "y = Pad (x, p) ", {x}, {1, 6}, {0, 0, 1, 2, 3, 0}},
       {pads + numbers("v", "1", "7") + "y = Pad (x, p, v) ", {x}, {1, 6}, {7, 7, 1, 2, 3, 7}},
       {pads + "y = Pad <mode = \"reflect\"> (x, p) ", {x}, {1, 6}, {3, 2, 1, 2, 3, 2}},
       {pads + "y = Pad <mode = \"edge\"> (x, p) ", {x}, {1, 6}, {1, 1, 1, 2, 3, 3}},
       {pads + "y = Pad <mode = \"wrap\"> (x, p) ", {x}, {1, 6}, {2, 3, 1, 2, 3, 1}, 19},
       {cut + "y = Pad (x, p) ", {x}, {1, 4}, {2, 3, 0, 0}},
       {"y = Pad <pads = [0, 1, 0, 0], value = 5.0> (x) ", {x}, {1, 4}, {5, 1, 2, 3}, 10},
       {onnx_integers("p", "1, 0", 2) + onnx_integers("a", "-1", 1) + "y = Pad (x, p, , a) ",
        {x},
        {1, 4},
        {0, 1, 2, 3},
        18}});
}

TEST(OperatorPlaces, RangesEndInFrontOfTheirLimit) {
  const auto range = [](const std::string& start, const std::string& limit,
                        const std::string& step) {
    const auto number = [](const std::string& name, const std::string& value) {
      return name + " = Constant <value_int = " + value + "> () ";
    };
    return number("s", start) + number("l", limit) + number("d", step) + "y = Range (s, l, d) ";
  };
  expect_all({{range("2", "9", "3"), {counting({1})}, {3}, {2, 5, 8}},
              {range("2", "8", "3"), {counting({1})}, {2}, {2, 5}},
              {range("10", "3", "-3"), {counting({1})}, {3}, {10, 7, 4}}});
}

TEST(OperatorPlaces, ChannelsBecomePixelsAndBack) {
  const Given deep = counting({1, 8, 1, 2});
  expect_all({{"y = DepthToSpace <blocksize = 2> (x) ",
               {deep},
               {1, 2, 2, 4},
               {1, 5, 2, 6, 9, 13, 10, 14, 3, 7, 4, 8, 11, 15, 12, 16}},
              {"y = DepthToSpace <blocksize = 2, mode = \"CRD\"> (x) ",
               {deep},
               {1, 2, 2, 4},
               {1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12, 13, 15, 14, 16}},
              {"y = SpaceToDepth <blocksize = 2> (x) ",
               {counting({1, 2, 2, 2})},
               {1, 8, 1, 1},
               {1, 5, 2, 6, 3, 7, 4, 8}}});
}

// --- sizes of images ---

std::string resize(const std::string& sizes, const std::string& attributes) {
  return onnx_integers("n", "1, 1, " + sizes, 3) + "y = Resize " + attributes + " (x, , , n) ";
}

/// Keys' kernel.
double cubic(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * (d * d * d - 5 * d * d + 8 * d - 4) : 0;
}

TEST(OperatorPlaces, ResizedImagesReadTheNearestElements) {
  const Given x = line({1, 2});
  const std::string scales = numbers("s", "3", "1, 1, 1.5");
  const auto asymmetric = [](const std::string& mode) {
    return "<coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"" + mode + "\">";
  };
  expect_all({line_row(resize("4", ""), x, {1, 1, 2, 2}), line_row(resize("3", ""), x, {1, 1, 2}),
              line_row(resize("3", "<nearest_mode = \"round_prefer_ceil\">"), x, {1, 2, 2}),
              line_row(resize("3", asymmetric("floor")), x, {1, 1, 2}),
              line_row(resize("3", asymmetric("ceil")), x, {1, 2, 2}),
              line_row(scales + "y = Resize (x, , s) ", x, {1, 1, 2})});
  OperatorRow old = line_row(scales + "y = Resize (x, s) ", x, {1, 1, 2});
  old.opset = 10;
  OperatorRow upsampled =
      line_row(numbers("s", "3", "1, 1, 2") + "y = Upsample (x, s) ", x, {1, 1, 2, 2});
  upsampled.opset = 9;
  expect_all({old, upsampled});
}

TEST(OperatorPlaces, ResizedImagesInterpolate) {
  const Given x = line({0, 10});
  const auto linear = [](const std::string& coordinates) {
    return "<mode = \"linear\", coordinate_transformation_mode = \"" + coordinates + "\">";
  };
  Values keys;
  for (int i = 0; i < 12; ++i) keys.push_back(cubic(2 - ((i + 0.5) / 2 - 0.5), -0.5));
  Values usual;
  for (int i = 0; i < 12; ++i) usual.push_back(cubic(2 - ((i + 0.5) / 2 - 0.5), -0.75));
  const Given peak = line({0, 0, 1, 0, 0, 0});
  expect_all({line_row(resize("4", "<mode = \"linear\">"), x, {0, 2.5, 7.5, 10}),
              line_row(resize("3", linear("align_corners")), x, {0, 5, 10}),
              line_row(resize("4", linear("asymmetric")), x, {0, 5, 10, 10}),
              line_row(resize("1", linear("half_pixel")), line({2, 4}), {3}),
              line_row(resize("1", linear("pytorch_half_pixel")), line({2, 4}), {2}),
              line_row(resize("1", linear("align_corners")), line({2, 4}), {2}),
              line_row(resize("12", "<mode = \"cubic\", cubic_coeff_a = -0.5>"), peak, keys),
              line_row(resize("12", "<mode = \"cubic\">"), peak, usual)});
  OperatorRow old = line_row(
      numbers("s", "3", "1, 1, 2") + "y = Resize <mode = \"linear\"> (x, s) ", x, {0, 5, 10, 10});
  old.opset = 10;
  expect_all({old});
}

TEST(OperatorPlaces, CroppedImagesAreNotExtrapolated) {
  const Given x = line({0, 10, 20});
  const auto crop = [](const std::string& region, const std::string& mode) {
    return onnx_integers("n", "1, 1, 3", 3) + numbers("r", "6", region) + "y = Resize <mode = \"" +
           mode + "\", coordinate_transformation_mode = \"tf_crop_and_resize\"> (x, r, , n) ";
  };
  expect_all({line_row(crop("0, 0, 0.5, 1, 1, 1", "linear"), x, {10, 15, 20}),
              line_row(crop("0, 0, 0, 1, 1, 0.5", "nearest"), x, {0, 0, 10})});
  for (const std::string mode : {"linear", "nearest"}) {
    EXPECT_EQ(computed(crop("0, 0, 0.5, 1, 1, 2", mode), {x}).problem, "it extrapolates");
    EXPECT_EQ(computed(crop("0, 0, -1, 1, 1, 1", mode), {x}).problem, "it extrapolates");
  }
}

TEST(OperatorPlaces, GridsReadImagesAtCoordinates) {
  const Given x{"x", {1, 1, 1, 3}, {1, 2, 3}};
  const Given grid{"g", {1, 1, 3, 2}, {-1, 0, 0.5, 0, 1.5, 0}};
  const auto row = [&](const std::string& attributes, const Values& values) {
    return OperatorRow{
        "y = GridSample " + attributes + " (x, g) ", {x, grid}, {1, 1, 1, 3}, values};
  };
  expect_all({row("", {0.5, 2.75, 0}), row("<padding_mode = \"border\">", {1, 2.75, 3}),
              row("<padding_mode = \"reflection\">", {1, 2.75, 2.75}),
              row("<mode = \"nearest\">", {1, 3, 0}), row("<align_corners = 1>", {1, 2.5, 1.5}),
              row("<align_corners = 1, padding_mode = \"reflection\">", {1, 2.5, 2.5})});
}

TEST(OperatorPlaces, SequencesAreReversedUpToTheirLengths) {
  const Given x = counting({3, 2});
  const Given lengths{"l", {2}, {3, 2}, ElementType::integer};
  const Given three{"l", {3}, {1, 2, 2}, ElementType::integer};
  expect_all({{"y = ReverseSequence (x, l) ", {x, lengths}, {3, 2}, {5, 4, 3, 2, 1, 6}},
              {"y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, l) ",
               {x, three},
               {3, 2},
               {1, 2, 4, 3, 6, 5}}});
}

}  // namespace
}  // namespace parbench::test
