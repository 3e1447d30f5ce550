// Activation functions: what backward steps read, how they are computed, and large values.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "kernels/base/error.h"
#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

constexpr std::array all_kinds{ActivationKind::relu,      ActivationKind::gelu,
                               ActivationKind::gelu_tanh, ActivationKind::sigmoid,
                               ActivationKind::tanh,      ActivationKind::clip};

class Activations : public LaneTest {};

TEST_P(Activations, BackwardStepsReadWhatTheyNeed) {
  for (const ActivationKind kind : all_kinds) {
    const auto op = bench().prepare(ActivationBackward{.shape = {2, 16, 3, 3}, .kind = kind});
    const bool is_of_source = kind == ActivationKind::gelu || kind == ActivationKind::gelu_tanh ||
                              kind == ActivationKind::clip;
    EXPECT_EQ(op->has("source"), is_of_source);
    EXPECT_EQ(op->has("destination"), !is_of_source);
  }
}

std::vector<OpDesc> activations_of(const Shape& shape, DType dtype) {
  std::vector<OpDesc> all;
  for (const ActivationKind kind : all_kinds) {
    all.emplace_back(ActivationForward{.shape = shape, .dtype = dtype, .kind = kind});
    all.emplace_back(ActivationBackward{.shape = shape, .dtype = dtype, .kind = kind});
  }
  return all;
}

// oneDNN falls back to plain loops for layouts and types that its kernels do not take.
TEST_P(Activations, HaveNoReferenceKernel) {
  std::vector<OpDesc> all;
  for (const Shape& shape : {Shape{2, 32, 5, 5}, Shape{2, 5, 7, 3}, Shape{7, 33}}) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const std::vector<OpDesc> more = activations_of(shape, dtype);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  for (const OpDesc& desc : all) {
    try {
      const auto op = bench().prepare(desc);
      EXPECT_FALSE(op->is_reference()) << op->name() << ": " << op->implementation();
    } catch (const Unsupported&) {
      EXPECT_NE(format_of(desc), NumberFormat{}) << "only bf16 may be missing on a machine";
    }
  }
}

TEST_P(Activations, SaturateAtLargeValues) {
  const std::vector<double> x{-1e4, -40, -12, 12, 40, 1e4};
  const auto y = [&](ActivationKind kind) {
    Trial trial(bench(), ActivationForward{.shape = {1, 6}, .kind = kind});
    return trial.run({{"source", x}})["destination"];
  };
  expect_close("gelu", y(ActivationKind::gelu), {0, 0, 0, 12, 40, 1e4}, 1e-6);
  expect_close("gelu_tanh", y(ActivationKind::gelu_tanh), {0, 0, 0, 12, 40, 1e4}, 1e-6);
  expect_close("sigmoid", y(ActivationKind::sigmoid), {0, 0, 6.1442e-6, 1, 1, 1}, 1e-5);
  expect_close("tanh", y(ActivationKind::tanh), {-1, -1, -1, 1, 1, 1}, 1e-6);
  EXPECT_EQ(y(ActivationKind::clip), (std::vector<double>{0, 0, 0, 6, 6, 6}));
}

INSTANTIATE_TEST_SUITE_P(Lanes, Activations, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test
