// Programs over strided tensors beside the conformance suite: infinities and NaN,
// memory that is left alone, and the work that is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/ops/flops.h"
#include "tests/kernels/harness.h"
#include "tests/kernels/ops/maps/map_programs.h"

namespace parbench::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

using enum ElementOp;

class MapOperation : public LaneTest {
 protected:
  [[nodiscard]] Values run(const Map& map, const Tensors& inputs) const {
    Trial trial(bench(), map);
    return trial.run(inputs)["destination"];
  }
};

/// Zeros, infinities, NaN, and the ends of what exponentials and angles can take.
const std::vector<double>& special_numbers() {
  static const std::vector<double> numbers{
      0,    -0.0,  infinity, -infinity, nan,   1,     -1,     2,    -2,   0.5,    3,
      -0.5, 1e-4,  -1e-4,    88.5,      89,    -87.5, -103.5, -105, 1e5,  -1.5e5, 1e9,
      1e30, -1e30, 3e38,     -3e38,     1e-38, 2e-39, -2e-39, 1.5F, 2.5F, -2.5F,  0.625F};
  return numbers;
}

/// As f32, which may be infinite where the double is not.
double rounded(double value) { return double{static_cast<float>(value)}; }

void expect_same_or_close(const Values& got, const Values& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double expected = rounded(want[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got[i])) << what << " " << i << ": " << got[i];
    } else if (std::isinf(expected)) {
      EXPECT_EQ(got[i], expected) << what << " " << i;
    } else {
      EXPECT_NEAR(got[i], expected, 1e-6 * std::abs(expected) + 1e-44) << what << " " << i;
    }
  }
}

Values f32_numbers() {
  Values numbers;
  for (const double number : special_numbers()) numbers.push_back(rounded(number));
  return numbers;
}

TEST_P(MapOperation, TakesAllNumbersInFunctionsOfOne) {
  const Values numbers = f32_numbers();
  const Shape extents{static_cast<std::int64_t>(numbers.size())};
  for (int op = static_cast<int>(absolute); op <= static_cast<int>(ElementOp::tanh); ++op) {
    ProgramWriter writer;
    writer.apply(static_cast<ElementOp>(op), writer.input(0));
    const Map map{.extents = extents,
                  .inputs = {dense(extents)},
                  .program = writer.program(),
                  .output = dense(extents)};
    const Tensors inputs{{"source0", numbers}};
    expect_same_or_close(run(map, inputs), naive(map, inputs)["destination"],
                         "operation " + std::to_string(op));
  }
}

TEST_P(MapOperation, TakesAllPairsOfNumbers) {
  const Values numbers = f32_numbers();
  const auto count = static_cast<std::int64_t>(numbers.size());
  for (int op = static_cast<int>(addition); op <= static_cast<int>(equal); ++op) {
    ProgramWriter writer;
    const std::uint8_t a = writer.input(0);
    writer.apply(static_cast<ElementOp>(op), a, writer.input(1));
    const Map map{.extents = {count, count},
                  .inputs = {{DType::f32, count, 0, {1, 0}}, {DType::f32, count, 0, {0, 1}}},
                  .program = writer.program(),
                  .output = dense({count, count})};
    const Tensors inputs{{"source0", numbers}, {"source1", numbers}};
    expect_same_or_close(run(map, inputs), naive(map, inputs)["destination"],
                         "operation " + std::to_string(op));
  }
}

TEST_P(MapOperation, SelectsByWhatIsNotZero) {
  ProgramWriter writer;
  const std::uint8_t condition = writer.input(0);
  const std::uint8_t yes = writer.number(1);
  writer.apply(selection, condition, yes, writer.number(2));
  const Map map{
      .extents = {5}, .inputs = {dense({5})}, .program = writer.program(), .output = dense({5})};
  EXPECT_EQ(run(map, {{"source0", {0, -0.0, nan, -infinity, 1e-40}}}), (Values{2, 2, 1, 1, 1}));
}

Map reduced_matrix(Reduction kind, std::int64_t rows, std::int64_t columns, bool is_transposed) {
  Map map{.extents = {rows, columns},
          .inputs = {{DType::f32, rows * columns, 0, {columns, 1}}},
          .program = identity(),
          .output = dense({rows}),
          .reduction = kind,
          .reduced = 1};
  if (is_transposed) map.inputs[0].strides = {1, rows};
  return map;
}

TEST_P(MapOperation, ReducesInfinitiesAndWhatIsNoNumber) {
  constexpr std::int64_t columns = 700;
  for (const bool is_transposed : {false, true}) {
    for (const Reduction kind : {Reduction::sum, Reduction::maximum, Reduction::minimum}) {
      for (const std::int64_t column : {0, 1, 350, 699}) {
        const Map map = reduced_matrix(kind, 3, columns, is_transposed);
        Tensors inputs{{"source0", Values(3 * columns, 1.0)}};
        const auto put = [&](std::int64_t row, double value) {
          const Shape& strides = map.inputs[0].strides;
          inputs["source0"][static_cast<std::size_t>(row * strides[0] + column * strides[1])] =
              value;
        };
        put(0, nan);
        put(1, kind == Reduction::minimum ? -infinity : infinity);
        expect_same_or_close(run(map, inputs), naive(map, inputs)["destination"],
                             "reduction with " + std::to_string(column));
      }
    }
  }
}

TEST_P(MapOperation, FindsTheMaximumOfInfinitiesAlone) {
  const Map map = reduced_matrix(Reduction::maximum, 2, 50, false);
  const Tensors inputs{{"source0", Values(100, -infinity)}};
  EXPECT_EQ(run(map, inputs), Values(2, -infinity));
}

TEST_P(MapOperation, LeavesOtherElementsOfTheOutput) {
  Map map{.extents = {2, 3},
          .inputs = {dense({2, 3})},
          .program = identity(),
          .output = {DType::f32, 10, 1, {4, 1}}};
  const Tensors inputs{{"source0", {1, 2, 3, 4, 5, 6}}, {"destination", Values(10, 9.0)}};
  EXPECT_EQ(run(map, inputs), (Values{9, 1, 2, 3, 9, 4, 5, 6, 9, 9}));
  map.accumulate = true;
  EXPECT_EQ(run(map, inputs), (Values{9, 10, 11, 12, 9, 13, 14, 15, 9, 9}));
}

TEST_P(MapOperation, CountsTheElementsThatItTouches) {
  ProgramWriter writer;
  const std::uint8_t row = writer.input(0);
  const std::uint8_t scaled = writer.apply(product, row, writer.number(2));
  writer.apply(addition, scaled, writer.coordinate(0));
  Map map{.extents = {4, 5, 6},
          .inputs = {{DType::bf16, 1000, 3, {0, 12, 2}}},
          .program = writer.program(),
          .output = dense({4, 5, 6})};
  const auto bytes = [&] {
    double sum = 0;
    for (const Operand& operand : operands_of(map)) sum += operand.traffic.value();
    return sum;
  };
  EXPECT_EQ(flops_of(map), 2.0 * 4 * 5 * 6);
  EXPECT_EQ(bytes(), 2.0 * 5 * 6 + 4.0 * 4 * 5 * 6);
  map.output.count = 200;  // some of which stay
  EXPECT_EQ(bytes(), 2.0 * 5 * 6 + 4.0 * 4 * 5 * 6);
  map.accumulate = true;
  EXPECT_EQ(bytes(), 2.0 * 5 * 6 + 2 * 4.0 * 4 * 5 * 6);
  map.accumulate = false;
  map.reduction = Reduction::sum;
  map.reduced = 2;
  map.output = dense({4});
  EXPECT_EQ(flops_of(map), 3.0 * 4 * 5 * 6);
  EXPECT_EQ(bytes(), 2.0 * 5 * 6 + 4.0 * 4);
  map.inputs[0].dtype = DType::f32;  // which every device has
  EXPECT_EQ(bench().prepare(map)->work().bytes, 4.0 * 5 * 6 + 4.0 * 4);
}

TEST_P(MapOperation, SaysWhichOutputsItReads) {
  Map map{.extents = {6}, .inputs = {dense({6})}, .program = identity(), .output = dense({6})};
  const auto access = [&] { return bench().prepare(map)->arguments().back().access; };
  EXPECT_EQ(access(), Access::write);
  map.output.count = 7;
  EXPECT_EQ(access(), Access::read_write);
  map.output.count = 6;
  map.accumulate = true;
  EXPECT_EQ(access(), Access::read_write);
}

INSTANTIATE_TEST_SUITE_P(Lanes, MapOperation, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

#ifndef PARBENCH_CUDA_EMULATION

// A device with all cores, and one of two streams that share them.
TEST(MapThreads, ReductionsGiveTheSameBits) {
  std::string why;
  const auto whole = Bench::open({"cpu:0", 1}, why);
  const auto half = Bench::open({"cpu:0", 2}, why);
  if (!whole || !half) GTEST_SKIP() << why;
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1000003}, {3, 300007}, {70, 5003}, {3000, 101}}) {
    for (const bool is_transposed : {false, true}) {
      const Map map = reduced_matrix(Reduction::sum, rows, columns, is_transposed);
      Trial first(*whole, map);
      Trial second(*half, map);
      const Tensors inputs = first.draw_inputs(3);
      EXPECT_EQ(first.run(inputs), second.run(inputs)) << rows << " of " << columns;
    }
  }
}

#endif

}  // namespace
}  // namespace parbench::test
