// Strides of calls whose tensors lie in another layout than the canonical one.
#include "scenarios/models/general/relayout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/models/general/strides.h"

namespace parbench::general {
namespace {

using testing::ElementsAre;

/// Images in blocks of four channels.
class Blocked final : public StridedLayout {
 public:
  [[nodiscard]] bool equals(const LayoutDetail& other) const override {
    return dynamic_cast<const Blocked*>(&other) != nullptr;
  }
  [[nodiscard]] std::string name() const override { return "blocked"; }
  [[nodiscard]] std::vector<LayoutPart> parts(const Shape& shape) const override {
    const std::int64_t plane = shape[2] * shape[3];
    return {{0, shape[0], shape[1] * plane},
            {1, shape[1] / 4, 4 * plane},
            {1, 4, 1},
            {2, shape[2], 4 * shape[3]},
            {3, shape[3], 4}};
  }
};

constexpr int source = 0;
constexpr int destination = -1;

/// A tensor of 2 samples, 8 channels and 3×5 pixels.
TensorDesc image() {
  TensorDesc tensor = canonical({2, 8, 3, 5});
  tensor.layout = Layout(std::make_shared<Blocked>());
  return tensor;
}

/// A call that copies strided elements of the source to a canonical tensor.
LoweredCall copy_of(const Shape& extents, const Shape& strides, std::int64_t offset = 0) {
  const std::int64_t count = element_count(image().shape);
  Map map{.extents = extents,
          .inputs = {{.count = count, .offset = offset, .strides = strides}},
          .program = {{}},
          .output = {.count = element_count(extents), .strides = canonical_strides(extents)}};
  return {.desc = map, .arguments = {{"source0", source}, {"destination", destination}}};
}

/// The call with its source in blocks; a Map without extents where it cannot be.
Map blocked(const LoweredCall& call, int name = source) {
  const auto calls = in_layout({call}, name, image());
  return calls ? std::get<Map>(calls->front().desc) : Map{};
}

TEST(RelayoutTest, DimensionsAreDividedWhereTheLayoutDividesThem) {
  const Map map = blocked(copy_of({2, 8, 3, 5}, {120, 15, 5, 1}));
  EXPECT_THAT(map.extents, ElementsAre(2, 2, 4, 3, 5));
  EXPECT_THAT(map.inputs[0].strides, ElementsAre(120, 60, 1, 20, 4));
  EXPECT_THAT(map.output.strides, ElementsAre(120, 60, 15, 5, 1));
}

TEST(RelayoutTest, JoinedAndPermutedDimensionsAreFound) {
  const Map joined = blocked(copy_of({2, 15, 8}, {120, 1, 15}));  // rows of channels
  EXPECT_THAT(joined.extents, ElementsAre(2, 15, 2, 4));
  EXPECT_THAT(joined.inputs[0].strides, ElementsAre(120, 4, 60, 1));
  const Map all = blocked(copy_of({240}, {1}));
  EXPECT_THAT(all.extents, ElementsAre(4, 4, 15)) << "samples and blocks lie in one piece";
  EXPECT_THAT(all.inputs[0].strides, ElementsAre(60, 1, 4));
}

TEST(RelayoutTest, SlicesOfWholeBlocksAndOfPixelsAreFound) {
  const Map channels = blocked(copy_of({2, 4, 15}, {120, 15, 1}, 60));
  EXPECT_EQ(channels.inputs[0].offset, 60);
  EXPECT_THAT(channels.inputs[0].strides, ElementsAre(120, 1, 4));
  const Map pixels = blocked(copy_of({2, 8, 2, 2}, {120, 15, 10, 2}, 1));
  EXPECT_EQ(pixels.inputs[0].offset, 4);
  EXPECT_THAT(pixels.inputs[0].strides, ElementsAre(120, 60, 1, 40, 8));
  const Map repeated = blocked(copy_of({2, 3, 15}, {120, 0, 1}, 30));
  EXPECT_EQ(repeated.inputs[0].offset, 2);
  EXPECT_THAT(repeated.inputs[0].strides, ElementsAre(120, 0, 4));
}

TEST(RelayoutTest, WhatNoStridesDescribeIsRefused) {
  EXPECT_TRUE(blocked(copy_of({2, 4, 15}, {120, 15, 1}, 30)).extents.empty()) << "half blocks";
  EXPECT_TRUE(blocked(copy_of({2, 6, 15}, {120, 15, 1})).extents.empty());
  EXPECT_TRUE(blocked(copy_of({5}, {-1}, 4)).extents.empty()) << "backwards";
  EXPECT_FALSE(in_layout({copy_of({240}, {1})}, source, opaque(960)));
  const LoweredCall product{.desc = Gemm{.m = 8, .n = 8, .k = 15, .batch = 2},
                            .arguments = {{"a", source}, {"b", 1}, {"c", destination}}};
  EXPECT_FALSE(in_layout({product}, source, image()));
  EXPECT_TRUE(in_layout({product}, 2, image())) << "which it does not name";
}

TEST(RelayoutTest, ReducedDimensionsAndCoordinatesKeepTheirOrder) {
  LoweredCall call = copy_of({2, 15, 8}, {120, 1, 15});
  auto& map = std::get<Map>(call.desc);
  map.program = {
      {}, {.op = ElementOp::coordinate, .from = {1}}, {.op = ElementOp::product, .from = {0, 1}}};
  map.reduction = Reduction::sum;
  map.reduced = 1;
  map.output = {.count = 30, .strides = {15, 1}};
  const Map sums = blocked(call);
  EXPECT_THAT(sums.extents, ElementsAre(2, 15, 2, 4));
  EXPECT_EQ(sums.reduced, 2);
  EXPECT_THAT(sums.output.strides, ElementsAre(15, 1));
  map.program[1].from[0] = 2;
  EXPECT_TRUE(blocked(call).extents.empty()) << "the coordinate of a divided dimension";
}

TEST(RelayoutTest, ResultsAreWrittenWhereTheyLie) {
  LoweredCall call = copy_of({2, 8, 3, 5}, {120, 15, 5, 1});
  const Map map = blocked(call, destination);
  EXPECT_THAT(map.extents, ElementsAre(2, 2, 4, 3, 5));
  EXPECT_THAT(map.output.strides, ElementsAre(120, 60, 1, 20, 4));
  EXPECT_THAT(map.inputs[0].strides, ElementsAre(120, 60, 15, 5, 1));
}

}  // namespace
}  // namespace parbench::general
