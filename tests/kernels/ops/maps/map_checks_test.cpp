// Programs over strided tensors that make no sense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include <cstdint>
#include <limits>
#include <string>

#include "kernels/base/error.h"
#include "kernels/ops/checks.h"
#include "tests/kernels/ops/maps/map_programs.h"

namespace parbench::test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

std::string objection(const Map& map) {
  try {
    check(map);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

Map matrix() {
  return {
      .extents = {4, 6}, .inputs = {dense({4, 6})}, .program = identity(), .output = dense({4, 6})};
}

TEST(MapChecks, AcceptsAMatrixAndAScalar) {
  EXPECT_EQ(objection(matrix()), "accepted");
  const Map scalar{.inputs = {dense({})}, .program = identity(), .output = dense({})};
  EXPECT_EQ(objection(scalar), "accepted");
}

TEST(MapChecks, RefusesExtents) {
  Map map = matrix();
  map.extents = {4, 0};
  EXPECT_THAT(objection(map),
              HasSubstr("map: the extents are '4x0'; every one must be at least 1"));
  map.extents = Shape(9, 1);
  EXPECT_THAT(objection(map), HasSubstr("have 9 dimensions; use 8 at most"));
  map.extents = {huge, huge};
  EXPECT_NE(objection(map), "accepted");
}

TEST(MapChecks, RefusesReductionsOfDimensionsThatAreNotThere) {
  Map map = matrix();
  map.reduced = 1;
  EXPECT_THAT(objection(map), HasSubstr("reduced is 1, but reduction is none"));
  map.reduction = Reduction::sum;
  EXPECT_THAT(objection(map), HasSubstr("destination has 2 strides for 1 dimensions"));
  map.output = dense({4});
  EXPECT_EQ(objection(map), "accepted");
  map.reduced = 3;
  EXPECT_THAT(objection(map), HasSubstr("reduced is 3; it must be from 0 to the 2 dimensions"));
  map.reduced = -1;
  EXPECT_THAT(objection(map), HasSubstr("reduced is -1"));
}

TEST(MapChecks, RefusesTensorsThatLeaveTheirBuffers) {
  Map map = matrix();
  map.inputs[0].count = 23;
  EXPECT_THAT(objection(map),
              HasSubstr("source0 exceeds its 23 elements with offset 0 and strides '6x1'"));
  map.inputs[0] = {DType::f32, 24, 1, {6, 1}};
  EXPECT_THAT(objection(map), HasSubstr("source0 exceeds its 24 elements with offset 1"));
  map.inputs[0] = {DType::f32, 24, 5, {6, -1}};
  EXPECT_EQ(objection(map), "accepted");
  map.inputs[0] = {DType::f32, 24, 4, {6, -1}};
  EXPECT_THAT(objection(map), HasSubstr("source0 exceeds"));
  for (const std::int64_t stride : {huge, -huge, huge / 2, -huge / 4}) {
    map.inputs[0] = {DType::f32, 24, 0, {stride, 1}};
    EXPECT_THAT(objection(map), HasSubstr("source0 exceeds")) << stride;
  }
  map.inputs[0] = {DType::f32, 24, huge, {0, 0}};
  EXPECT_THAT(objection(map), HasSubstr("source0 exceeds"));
  map.inputs[0] = {DType::f32, 24, -1, {0, 0}};
  EXPECT_THAT(objection(map), HasSubstr("source0 exceeds"));
  map.inputs[0] = {DType::f32, huge, 0, {0, 0}};
  EXPECT_NE(objection(map), "accepted") << "its bytes exceed 64 bits";
  map.inputs[0] = {DType::f32, 0, 0, {0, 0}};
  EXPECT_THAT(objection(map), HasSubstr("source0 exceeds its 0 elements"));
}

TEST(MapChecks, RefusesOutputsWhoseElementsMayBeShared) {
  Map map = matrix();
  map.output = {DType::f32, 24, 0, {1, 0}};
  EXPECT_THAT(objection(map), HasSubstr("may share elements of destination with strides '1x0'"));
  map.output = {DType::f32, 24, 0, {5, 1}};
  EXPECT_THAT(objection(map), HasSubstr("each stride must be greater than"));
  map.output = {DType::f32, 24, 23, {-1, -4}};
  EXPECT_EQ(objection(map), "accepted");
  map.output = {DType::i32, 24, 0, {6, 1}};
  EXPECT_EQ(objection(map), "accepted");
  map.accumulate = true;
  EXPECT_THAT(objection(map), HasSubstr("the output is i32, which cannot accumulate"));
}

TEST(MapChecks, RefusesValuesOfAnotherNumberOrType) {
  Map map = matrix();
  map.inputs[0].values = std::make_shared<const std::vector<float>>(23);
  EXPECT_THAT(objection(map), HasSubstr("an input of 24 elements in f32 has 23 f32 values"));
  map.inputs[0].values = std::make_shared<const std::vector<float>>(24);
  EXPECT_EQ(objection(map), "accepted");
  map.inputs[0].dtype = DType::bf16;
  EXPECT_THAT(objection(map), HasSubstr("24 elements in bf16"));
}

TEST(MapChecks, RefusesStepsThatReadWhatIsNotThere) {
  Map map = matrix();
  map.program = {};
  EXPECT_THAT(objection(map), HasSubstr("the program has 0 instructions; it must have 1 to 64"));
  map.program = ElementProgram(65);
  EXPECT_THAT(objection(map), HasSubstr("the program has 65 instructions"));
  map.program = {{.op = ElementOp::input, .from = {1}}};
  EXPECT_THAT(objection(map), HasSubstr("map: instruction 0 reads input 1 of 1"));
  map.program = {{.op = ElementOp::coordinate, .from = {2}}};
  EXPECT_THAT(objection(map), HasSubstr("instruction 0 reads coordinate 2 of 2"));
  map.program = {{.op = ElementOp::input}, {.op = ElementOp::addition, .from = {0, 1}}};
  EXPECT_THAT(
      objection(map),
      HasSubstr("instruction 1 reads instruction 1; only earlier instructions have results"));
  map.program = {{.op = ElementOp::input}, {.op = ElementOp::selection, .from = {0, 0, 9}}};
  EXPECT_THAT(objection(map), HasSubstr("instruction 1 reads instruction 9"));
  map.program = {{.op = ElementOp::input}, {.op = ElementOp::negation, .from = {0, 9, 9}}};
  EXPECT_EQ(objection(map), "accepted") << "a negation reads one instruction";
}

TEST(MapChecks, RefusesTooManyInputs) {
  Map map = matrix();
  map.inputs = std::vector<StridedTensor>(9, dense({4, 6}));
  EXPECT_THAT(objection(map), HasSubstr("9 inputs; use 8 at most"));
}

}  // namespace
}  // namespace parbench::test
