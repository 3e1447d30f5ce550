// Steps of optimisers one after another, and gradients that are clipped by the norm of several
// regions.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

class Optimisers : public LaneTest {
 protected:
  [[nodiscard]] GuardedTensor region(const std::vector<double>& values) const {
    GuardedTensor tensor(bench(), canonical({static_cast<std::int64_t>(values.size())}));
    tensor.write(values);
    return tensor;
  }
  [[nodiscard]] GuardedTensor zeros(std::size_t count) const {
    return region(std::vector<double>(count, 0.0));
  }
  /// The counter of an Adam, at zero.
  [[nodiscard]] GuardedTensor counter() const {
    GuardedTensor tensor(bench(), opaque(sizeof(std::uint64_t)));
    tensor.write_bytes(std::vector<std::byte>(sizeof(std::uint64_t)));
    return tensor;
  }
};

// A gradient that stays the same moves a parameter by the learning rate in every step, whatever its
// size, if and only if both moments are corrected for the number of the step.
TEST_P(Optimisers, AdamMovesByTheLearningRateUnderAConstantGradient) {
  const std::vector<double> begin(300, 1.0);
  std::vector<double> slopes(300, 0.25);
  slopes[1] = -3;
  const GuardedTensor parameters = region(begin);
  const GuardedTensor gradients = region(slopes);
  const GuardedTensor first = zeros(300);
  const GuardedTensor second = zeros(300);
  const GuardedTensor steps = counter();
  const auto op = bench().prepare(Adam{.count = 300, .learning_rate = 0.125F});
  for (std::uint64_t number = 1; number <= 3; ++number) {
    bench().run(*op,
                {parameters.view(), gradients.view(), first.view(), second.view(), steps.view()});
    std::vector<double> want(300, 1 - 0.125 * static_cast<double>(number));
    want[1] = 1 + 0.125 * static_cast<double>(number);
    expect_close("parameters", parameters.read(), want, 1e-5);
    std::uint64_t counted = 0;
    std::memcpy(&counted, steps.bytes().data(), sizeof counted);
    EXPECT_EQ(counted, number);
  }
}

TEST_P(Optimisers, MomentumAddsUpAConstantGradient) {
  const GuardedTensor parameters = region({1, 1});
  const GuardedTensor gradients = region({2, -4});
  const GuardedTensor velocity = zeros(2);
  const auto op = bench().prepare(Sgd{.count = 2, .learning_rate = 0.125F, .momentum = 0.5F});
  for (int run = 0; run < 3; ++run) {
    bench().run(*op, {parameters.view(), gradients.view(), velocity.view()});
  }
  EXPECT_EQ(velocity.read(), (std::vector<double>{2 * 1.75, -4 * 1.75}));
  constexpr double added = 1 + 1.5 + 1.75;
  EXPECT_EQ(parameters.read(), (std::vector<double>{1 - 0.125 * 2 * added, 1 + 0.125 * 4 * added}));
}

TEST_P(Optimisers, GradientsAreClippedByTheNormOfAllRegions) {
  const GuardedTensor few = region({3, 3, 3, 3});
  const GuardedTensor many = region(std::vector<double>(6400, 0.1));
  const GuardedTensor squares = region({0, 0});
  const GuardedTensor factor = region({0});
  const std::array norms{bench().prepare(SquaredNorm{4}), bench().prepare(SquaredNorm{6400})};
  const BufferView both = squares.view();
  bench().run(*norms[0], {few.view(), {*both.buffer, both.offset, sizeof(float)}});
  bench().run(*norms[1], {many.view(), {*both.buffer, both.offset + sizeof(float), sizeof(float)}});
  expect_close("squares", squares.read(), {36, 64}, 1e-6);
  const auto clipping = bench().prepare(ClipFactor{.max_norm = 2.5F, .parts = 2});
  bench().run(*clipping, {squares.view(), factor.view()});
  expect_close("factor", factor.read(), {0.25}, 1e-6);
  const GuardedTensor parameters = zeros(4);
  const auto op = bench().prepare(Sgd{.count = 4, .learning_rate = 1, .clipped = true});
  bench().run(*op, {parameters.view(), few.view(), factor.view()});
  expect_close("parameters", parameters.read(), std::vector<double>(4, -0.75), 1e-6);
}

// As torch.nn.utils.clip_grad_norm_, so that a diverged training is not hidden.
TEST_P(Optimisers, ANormThatIsNotANumberLeavesNoNumber) {
  const GuardedTensor squares = region({1, std::numeric_limits<double>::quiet_NaN()});
  const GuardedTensor factor = region({0});
  const auto clipping = bench().prepare(ClipFactor{.max_norm = 1, .parts = 2});
  bench().run(*clipping, {squares.view(), factor.view()});
  EXPECT_TRUE(std::isnan(factor.read()[0]));
}

INSTANTIATE_TEST_SUITE_P(Lanes, Optimisers, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test
