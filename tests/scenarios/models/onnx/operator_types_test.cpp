// Types of elements in ONNX files: casts, and the ranges of quantised numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/scenarios/models/onnx/operator_runs.h"

namespace parbench::test {
namespace {

using onnx_import::ElementType;

TEST(OperatorTypes, CastsTruncateToSupportedTypes) {
  const Given x = row_of({-1.5, 0, 2.75});
  const auto cast = [](int to) { return fmt::format("y = Cast <to = {}> (x) ", to); };
  for (const int floating : {1, 10, 11, 16}) {
    expect_all({{cast(floating), {x}, {1, 3}, {-1.5, 0, 2.75}}});
  }
  for (const int integer : {2, 3, 4, 5, 6, 7, 12, 13}) {
    expect_all({{cast(integer), {x}, {1, 3}, {-1, 0, 2}}});
  }
  expect_all({{cast(9), {x}, {1, 3}, {1, 0, 1}}});
  const auto problem = [&](int to) { return computed(cast(to), {x}).problem; };
  EXPECT_EQ(problem(17), "results of the type FLOAT8E4M3FN are not supported");
  EXPECT_EQ(problem(23), "results of the type FLOAT4E2M1 are not supported");
  EXPECT_EQ(problem(8), "results of the type STRING are not supported");
  EXPECT_EQ(problem(1000), "results of the type 1000 are not supported");
}

TEST(OperatorTypes, QuantisationRoundsToTheRangeOfItsZero) {
  const Given x{"x", {1, 4}, {0.25, 0.8, -100, 200}};
  const Given wide{"x", {1, 4}, {0.25, 0.8, -1e5, 2e5}};
  const Given two{"x", {2, 2}, {1, 2, 3, 4}, ElementType::integer};
  const std::string half = numbers("s", "1", "0.5");
  const std::string scales = numbers("s", "2", "2, 10");
  expect_all(
      {{half + "y = QuantizeLinear (x, s) ", {x}, {1, 4}, {0, 2, 0, 255}},
       {half + "z = Constant <value = int8[1] {-3}> () y = QuantizeLinear (x, s, z) ",
        {x},
        {1, 4},
        {-3, -1, -128, 127}},
       {half + "z = Constant <value = uint8[1] {3}> () y = QuantizeLinear (x, s, z) ",
        {x},
        {1, 4},
        {3, 5, 0, 255}},
       {half + "z = Constant <value = int16[1] {-3}> () y = QuantizeLinear (x, s, z) ",
        {wide},
        {1, 4},
        {-3, -1, -32768, 32767}},
       {half + "z = Constant <value = uint16[1] {3}> () i = Identity (z) "
               "y = QuantizeLinear (x, s, i) ",
        {wide},
        {1, 4},
        {3, 5, 0, 65535}},
       {half + "z = Constant <value = int8[1] {-3}> () b = Constant <value = bool[1] {1}> () "
               "i = Where (b, z, z) y = QuantizeLinear (x, s, i) ",
        {x},
        {1, 4},
        {-3, -1, -128, 127}},
       {half + "z = Constant <value = int8[2] {-3, 5}> () "
               "n = Constant <value = int64[1] {0}> () "
               "i = Gather (z, n) y = QuantizeLinear (x, s, i) ",
        {x},
        {1, 4},
        {-3, -1, -128, 127}},
       {half + "n = Constant <value = int64[1] {1}> () "
               "i = ConstantOfShape <value = int8[1] {-3}> (n) y = QuantizeLinear (x, s, i) ",
        {x},
        {1, 4},
        {-3, -1, -128, 127}},
       {half + "y = QuantizeLinear <output_dtype = 3> (x, s) ", {x}, {1, 4}, {0, 2, -128, 127}},
       {scales + "y = DequantizeLinear (x, s) ", {two}, {2, 2}, {2, 20, 6, 40}},
       {scales +
            "z = Constant <value = int8[2] {1, 2}> () y = DequantizeLinear <axis = 0> (x, s, z) ",
        {two},
        {2, 2},
        {0, 2, 10, 20}}});
  const auto problem = [&](const std::string& nodes) {
    return computed(half + nodes, {x}).problem;
  };
  const std::string allowed = "results must be int8, uint8, int16 or uint16, and ";
  EXPECT_EQ(problem("z = Constant <value = int32[1] {3}> () y = QuantizeLinear (x, s, z) "),
            allowed + "its zero point has another type of integers");
  EXPECT_EQ(problem("z = Constant <value = float[1] {3}> () y = QuantizeLinear (x, s, z) "),
            allowed + "its zero point has no integers");
  EXPECT_EQ(problem("y = QuantizeLinear <output_dtype = 17> (x, s) "),
            allowed + "its output_dtype is FLOAT8E4M3FN");
}

}  // namespace
}  // namespace parbench::test
