// Where the elements of movements lie in the memory of what they move.
#include "scenarios/models/general/strides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parbench::general {
namespace {

using testing::ElementsAre;

/// All of {2, 3}, one after the other, after an operation on them.
std::optional<StridedView> view_of(const Graph& graph, int index) {
  StridedView whole{.base = 0, .shape = {2, 3}, .strides = canonical_strides({2, 3})};
  const Operation& operation = graph.at(index);
  if (operation.inputs.empty()) return whole;
  const auto input = view_of(graph, operation.inputs.front());
  return input ? moved(operation, *input, 1) : std::nullopt;
}

TEST(Strides, OfMovementsNameTheirElements) {
  Graph graph;
  const int x = graph.input({{2}, {3}});
  const auto turned = view_of(graph, graph.permute(x, {1, 0}));
  ASSERT_TRUE(turned.has_value());
  EXPECT_THAT(turned->shape, ElementsAre(3, 2));
  EXPECT_THAT(turned->strides, ElementsAre(1, 3));
  EXPECT_FALSE(turned->is_contiguous());
  const auto part = view_of(graph, graph.slice(x, {1, 2}, {1, -2}, {{1}, {2}}));
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->offset, 3 + 2);
  EXPECT_THAT(part->strides, ElementsAre(3, -2));
  const auto repeated =
      view_of(graph, graph.broadcast(graph.reshape(x, {{2}, {1}, {3}}), {{2}, {4}, {3}}));
  ASSERT_TRUE(repeated.has_value());
  EXPECT_THAT(repeated->strides, ElementsAre(3, 0, 1));
}

TEST(Strides, OfReshapesAreNoneWhereElementsLieInPieces) {
  Graph graph;
  const int x = graph.input({{2}, {3}});
  const int turned = graph.permute(x, {1, 0});
  EXPECT_FALSE(view_of(graph, graph.reshape(turned, {{6}})).has_value());
  EXPECT_FALSE(view_of(graph, graph.reshape(turned, {{2}, {3}})).has_value());
  const auto divided = view_of(graph, graph.reshape(turned, {{3}, {1}, {2}}));
  ASSERT_TRUE(divided.has_value());
  EXPECT_THAT(divided->strides, ElementsAre(1, 0, 3));
  const auto flat = view_of(graph, graph.reshape(x, {{6}}));
  ASSERT_TRUE(flat.has_value());
  EXPECT_TRUE(flat->is_contiguous());
}

}  // namespace
}  // namespace parbench::general
