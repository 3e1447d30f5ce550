// Constants that many graphs have, and how long the memory of lowered graphs is needed.
#include "scenarios/models/general/constant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/general/graph.h"
#include "scenarios/models/general/lowering.h"

namespace parbench::general {
namespace {

const Extent of_samples{1, true};

std::vector<double> counted(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i) / 3;
  return values;
}

/// The table that an input is added to.
struct Added {
  explicit Added(const std::vector<double>& values) {
    const auto size = static_cast<std::int64_t>(values.size());
    const int x = graph.input({of_samples, {size}});
    table = graph.constant({size}, values);
    sum = graph.apply(ElementOp::addition, x, table);
    located[x] = DType::f32;
  }
  /// The values that a device gets.
  [[nodiscard]] std::shared_ptr<const std::vector<float>> lowered() const {
    const LoweredGraph calls = lower(graph, {{.operation = sum}}, {.located = located});
    for (const StridedTensor& input : std::get<Map>(calls.calls.at(0).desc).inputs) {
      if (input.values != nullptr) return input.values;
    }
    return nullptr;
  }

  Graph graph;
  int table = 0;
  int sum = 0;
  std::map<int, DType> located;
};

TEST(Constant, EqualTablesOfSeveralGraphsAreStoredOnce) {
  const Added one(counted(1000));
  const Added same(counted(1000));
  EXPECT_EQ(one.graph.at(one.table).values, same.graph.at(same.table).values);
  ASSERT_NE(one.lowered(), nullptr);
  EXPECT_EQ(one.lowered(), one.lowered());
  EXPECT_EQ(one.lowered(), same.lowered());
  EXPECT_FLOAT_EQ(one.lowered()->at(2), 2.0F / 3);
}

TEST(Constant, TablesThatDifferInOneBitAreNotShared) {
  std::vector<double> zeros(1000);
  std::vector<double> negative(1000);
  negative.back() = -0.0;
  EXPECT_NE(Constant::of(zeros), Constant::of(negative));
  EXPECT_TRUE(std::signbit(Constant::of(negative)->values().back()));
}

TEST(Constant, IsForgottenBehindItsLastUser) {
  const std::weak_ptr<const Constant> known = Constant::of(counted(1000));
  EXPECT_TRUE(known.expired());
  const auto again = Constant::of(counted(1000));
  EXPECT_EQ(again->values(), counted(1000));
  EXPECT_EQ(Constant::of(counted(1000)), again);
}

/// Two products with sums over rows: the first one's memory serves the second one.
TEST(Lowering, WritesATargetAsSoonAsItsSourcesAreThere) {
  Graph graph;
  const int x = graph.input({of_samples, {8}});
  const int y = graph.input({of_samples, {8}});
  std::vector<Target> targets;
  for (const int input : {x, y}) {
    const int total = graph.sum(input, {1});
    targets.push_back({.operation = graph.apply(ElementOp::product, input, total)});
  }
  const LoweredGraph lowered =
      lower(graph, targets, {.located = {{x, DType::f32}, {y, DType::f32}}});
  ASSERT_EQ(lowered.temporaries.size(), 2);
  EXPECT_LT(lowered.temporaries[0].last, lowered.temporaries[1].first);
}

TEST(Lowering, RefusesSelectionsAmongMoreRowsThanF32Counts) {
  constexpr std::int64_t half = max_rows / 2;
  Graph graph;
  const int table = graph.input({{half, true}, {2}});
  const int indices = graph.input({{3}});
  const int taken = graph.rows(table, indices);
  const int added = graph.scatter_rows(taken, indices, {half, true});
  const LoweringOptions two{.samples = 2, .located = {{table, DType::f32}, {indices, DType::i32}}};
  LoweringOptions three = two;
  three.samples = 3;
  for (const int target : {taken, added}) {
    EXPECT_NO_THROW((void)lower(graph, {{.operation = target}}, two));
    EXPECT_THROW((void)lower(graph, {{.operation = target}}, three), UsageError);
  }
}

}  // namespace
}  // namespace parbench::general
