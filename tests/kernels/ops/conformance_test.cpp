// Every backend's operations against naive loops: (lane) × (operation case).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "kernels/base/error.h"
#include "tests/kernels/ops/cases.h"

namespace parbench::test {
namespace {

class Conformance : public testing::TestWithParam<std::tuple<Lane, OperationCase>> {
 protected:
  void SetUp() override {
    std::string why;
    bench_ = Bench::open(std::get<0>(GetParam()), why);
    if (!bench_) SKIP_WITHOUT_DEVICES(std::get<0>(GetParam()).device, why);
  }

  [[nodiscard]] const Bench& bench() const { return *bench_; }
  [[nodiscard]] const OperationCase& operation() const { return std::get<1>(GetParam()); }

 private:
  std::optional<Bench> bench_;
};

/// Only numbers beside f32 may be missing on a machine.
bool may_be_unsupported(const OpDesc& desc) {
  return format_of(desc).value_or(NumberFormat{}) != NumberFormat{};
}

void expect_naive(const OperationCase& operation, const Tensors& inputs, const Tensors& got) {
  const Tensors want = naive(operation.desc, inputs);
  ASSERT_EQ(got.size(), want.size()) << "outputs missing";
  for (const auto& [role, values] : want) {
    SCOPED_TRACE(role);
    ASSERT_TRUE(got.contains(role));
    const double absolute = operation.relative == 0 ? 0 : 1e-7;
    if (operation.relative == 0) {
      EXPECT_EQ(got.find(role)->second, values);
    } else {
      expect_close(role, got.find(role)->second, values, operation.relative, absolute);
    }
  }
}

// Several times with different values: nothing may be left from the run before.
TEST_P(Conformance, EqualsNaiveLoops) {
  try {
    Trial trial(bench(), operation().desc, operation().in_place);
    for (const std::uint64_t seed : {1, 2}) {
      Tensors inputs = operation().inputs(trial, seed);
      const Tensors got = trial.run(inputs);
      inputs.merge(trial.companion_outputs());
      expect_naive(operation(), inputs, got);
    }
  } catch (const Unsupported& reason) {
    ASSERT_TRUE(may_be_unsupported(operation().desc)) << reason.what();
    GTEST_SKIP() << reason.what();
  }
}

TEST_P(Conformance, RunsAtOtherAddresses) {
  try {
    Trial first(bench(), operation().desc, operation().in_place);
    Trial second(bench(), operation().desc, operation().in_place);
    const Tensors inputs = operation().inputs(first, 4);
    const Tensors want = first.run(inputs);
    ASSERT_EQ(second.run(inputs), want) << "two plans of one operation differ";
    EXPECT_EQ(second.run_with(first.op(), inputs), want);
  } catch (const Unsupported& reason) {
    ASSERT_TRUE(may_be_unsupported(operation().desc)) << reason.what();
    GTEST_SKIP() << reason.what();
  }
}

std::string label(const testing::TestParamInfo<std::tuple<Lane, OperationCase>>& info) {
  return name_of(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(Operations, Conformance,
                         testing::Combine(testing::ValuesIn(lanes()),
                                          testing::ValuesIn(operation_cases())),
                         label);

class Shortcut : public LaneTest {};

TEST_P(Shortcut, KeepsNotANumberAndGivesItNoGradient) {
  const Shape shape{2, 16, 3, 5};
  Trial forward(bench(), BatchNormForward{.shape = shape, .relu = true, .add = true});
  Trial backward(bench(), AddReluBackward{shape});
  Tensors inputs = forward.draw_inputs(1);
  inputs.merge(backward.draw_inputs(1));
  constexpr std::size_t nan_index = 21;
  inputs["addend"][nan_index] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> sums = forward.run(inputs)["destination"];
  const std::vector<double> gradients = backward.run(inputs)["diff_source"];
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(std::isnan(sums[i]), i == nan_index) << i;
    EXPECT_EQ(gradients[i] != 0, sums[i] > 0) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, Shortcut, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

// A new operation needs a row.
TEST(ConformanceTable, HasEveryOperation) {
  std::set<std::size_t> seen;
  for (const OperationCase& one : operation_cases()) seen.insert(one.desc.index());
  seen.insert(OpDesc(Spin{}).index());     // spin_test.cpp
  seen.insert(OpDesc(Discard{}).index());  // discard_test.cpp
  EXPECT_EQ(seen.size(), std::variant_size_v<OpDesc>);
}

/// Exponentials, roots, quotients and long sums need rows of extreme values; these operations copy,
/// choose, or add up few products.
TEST(ConformanceTable, HasExtremeValuesOfEveryOperationThatTheyCouldBreak) {
  std::set<std::size_t> seen;
  for (const OperationCase& one : operation_cases()) {
    if (!one.patterns.empty()) seen.insert(one.desc.index());
  }
  for (const OpDesc& simple : std::vector<OpDesc>{ConvolutionBackwardData{},
                                                  Add{},
                                                  AddReluBackward{},
                                                  MaxPoolBackward{},
                                                  GlobalAveragePoolBackward{},
                                                  AveragePoolBackward{},
                                                  LinearBackwardData{},
                                                  Sgd{},
                                                  Accumulate{},
                                                  AddRepeated{},
                                                  Fill{},
                                                  Reorder{},
                                                  Spin{},
                                                  Discard{},
                                                  Dropout{},
                                                  Scale{},
                                                  EmbeddingForward{},
                                                  EmbeddingBackward{},
                                                  SliceChannels{},
                                                  InsertChannels{},
                                                  ShuffleChannels{},
                                                  AddChannelBias{},
                                                  PadImage{}}) {
    seen.insert(simple.index());
  }
  EXPECT_EQ(seen.size(), std::variant_size_v<OpDesc>);
}

}  // namespace
}  // namespace parbench::test
