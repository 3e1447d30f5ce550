// Kernels chosen by measuring (`--autotune`): they compute the same as any other, and equal
// operations get the same one. Needs a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/core/device.h"
#include "kernels/machine/machine.h"
#include "tests/kernels/ops/cases.h"

namespace parbench::test {
namespace {

const Lane gpu{"cuda:0", 1};

class Autotune : public testing::Test {
 protected:
  void SetUp() override {
    setenv("PARBENCH_TUNING_CACHE", "", 1);  // what is measured is neither read nor kept
    std::string why;
    bench_ = Bench::open(gpu, why, {.autotune = true});
    if (!bench_) SKIP_WITHOUT_DEVICES(gpu.device, why);
  }

  std::optional<Bench> bench_;
};

std::vector<OperationCase> tuned_cases() {
  constexpr ConvolutionShape shape{2, 64, 16, 16, 64, 3, 1, 1, 1};
  constexpr ConvolutionShape one_tap{2, 64, 8, 8, 32, 1, 1, 0, 1};
  constexpr double bf16_rounding = 1e-2;
  const Shape norm{4, 24, 9, 7};
  return {
      {"pointwise_forward", ConvolutionForward{one_tap, DType::f32, true}, 2e-5},
      {"pointwise_data", ConvolutionBackwardData{one_tap}, 2e-5},
      {"pointwise_weights", ConvolutionBackwardWeights{one_tap, DType::f32, true, true}, 2e-5},
      {"pointwise_forward_bf16", ConvolutionForward{one_tap, DType::bf16}, bf16_rounding},
      {"pointwise_data_bf16", ConvolutionBackwardData{one_tap, DType::bf16}, bf16_rounding},
      {"forward", ConvolutionForward{shape, DType::f32, true}, 2e-5},
      {"data", ConvolutionBackwardData{shape}, 2e-5},
      {"weights", ConvolutionBackwardWeights{shape, DType::f32, true, true}, 2e-5},
      {"linear", LinearForward{{32, 64, 40}}, 2e-5},
      {"gemm", Gemm{256, 128, 64, DType::f32, false, true, true}, 2e-5},
      {"batch_norm", BatchNormForward{norm}, 2e-5},
      {"batch_norm_bf16", BatchNormForward{norm, DType::bf16}, bf16_rounding},
      {"batch_norm_backward", BatchNormBackward{norm}, 2e-5},
      {"batch_norm_backward_relu", BatchNormBackward{norm, DType::f32, true, 1e-5F, true}, 2e-5}};
}

TEST_F(Autotune, ComputesWhatNaiveLoopsDo) {
  for (const OperationCase& one : tuned_cases()) {
    SCOPED_TRACE(one.name);
    Trial trial(*bench_, one.desc);
    Tensors inputs = trial.draw_inputs(1);
    const Tensors got = trial.run(inputs);
    inputs.merge(trial.companion_outputs());
    const Tensors want = naive(one.desc, inputs);
    for (const auto& [role, values] : got) {
      expect_close(role, values, want.find(role)->second, one.relative);
    }
  }
}

TEST_F(Autotune, ChoosesOnceForEqualOperations) {
  for (const OperationCase& one : tuned_cases()) {
    SCOPED_TRACE(one.name);
    const std::string chosen = bench_->prepare(one.desc)->implementation();
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(bench_->prepare(one.desc)->implementation(), chosen);
    }
  }
}

TEST_F(Autotune, AlikeDevicesGetTheSameKernels) {
  bench_.reset();  // a GPU is opened as a whole or in parts
  std::vector<std::unique_ptr<Device>> parts;
  try {
    parts = Machine().open("cuda:0/0,cuda:0/1", {.autotune = true});
  } catch (const Unsupported& error) {
    SKIP_WITHOUT_DEVICES("cuda:0/0", error.what());
  }
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_TRUE(alike(parts[0]->info(), parts[1]->info()));
  for (const OperationCase& one : tuned_cases()) {
    EXPECT_EQ(parts[0]->prepare(one.desc, 1)->implementation(),
              parts[1]->prepare(one.desc, 1)->implementation())
        << one.name;
  }
}

TEST_F(Autotune, KeepsNoMemoryOfItsOwn) {
  (void)bench_->prepare(Gemm{64, 64, 64});  // the stream and handles for tuning are there now
  const std::size_t before = bench_->device().available_memory().bytes;
  (void)bench_->prepare(Gemm{8192, 8192, 8192});
  constexpr std::size_t one_matrix = std::size_t{8192} * 8192 * 4;
  EXPECT_LT(before - std::min(before, bench_->device().available_memory().bytes), one_matrix);
}

}  // namespace
}  // namespace parbench::test
