// Kernels that are chosen once and used often: what tuning measures, and what planning keeps. Needs
// a GPU.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/cudnn/convolution_engine.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/spin_kernel.h"
#include "kernels/cuda/tuning/autotuner.h"
#include "kernels/ops/ops.h"
#include "tests/kernels/harness.h"

namespace parbench::cuda {
namespace {

using std::chrono::microseconds;

const test::Lane gpu_lane{"cuda:0", 1};

class Choices : public testing::Test {
 protected:
  void SetUp() override {
    setenv("PARBENCH_TUNING_CACHE", "", 1);  // what is measured is neither read nor kept
    std::string why;
    bench_ = test::Bench::open(gpu_lane, why);
    if (!bench_) SKIP_WITHOUT_DEVICES(gpu_lane.device, why);
  }

  [[nodiscard]] CudaDevice& device() const { return dynamic_cast<CudaDevice&>(bench_->device()); }

  std::optional<test::Bench> bench_;
};

/// Takes so long on the GPU, and on the host to launch.
TuningCandidate kernel(microseconds time, microseconds launch) {
  return {0, [=](CudaStream& stream, std::span<std::byte* const> tensors, std::byte*) {
            const auto begin = std::chrono::steady_clock::now();
            auto* counts = reinterpret_cast<std::uint64_t*>(tensors[0]);
            const std::chrono::duration<double, std::nano> duration(time);
            spin(counts, counts + 1, {.nanoseconds = duration.count(), .noise = 0, .seed = 0},
                 stream.handle());
            while (std::chrono::steady_clock::now() - begin < launch) {
            }
          }};
}

TEST_F(Choices, AreByTimeOnTheGpuNotByWhatLaunchingCosts) {
  Autotuner tuner(device(), std::make_shared<TuningChoices>());
  const std::vector<TensorDesc> tensors{canonical({4})};
  const auto make = [](std::size_t index) -> std::optional<TuningCandidate> {
    return index == 0 ? kernel(microseconds(50), microseconds(0))
                      : kernel(microseconds(20), microseconds(80));
  };
  EXPECT_EQ(tuner.choose("spin", tensors, 2, make), 1U);
}

TEST_F(Choices, SayWhatWasMeasured) {
  const ConvolutionForward layer{.shape = {2, 64, 16, 16, 64, 3, 1, 1, 1}};
  EXPECT_EQ(bench_->prepare(layer)->chosen_by(), ChosenBy::library);
  bench_.reset();
  std::string why;
  const auto tuned = test::Bench::open(gpu_lane, why, {.autotune = true});
  ASSERT_TRUE(tuned.has_value()) << why;
  EXPECT_EQ(tuned->prepare(layer)->chosen_by(), ChosenBy::measuring);
  EXPECT_EQ(tuned->prepare(Gemm{64, 64, 64})->chosen_by(), ChosenBy::measuring);
}

TEST_F(Choices, OfConvolutionsAreMadeOnceForEqualOnes) {
  const ConvolutionForward layer{.shape = {2, 64, 16, 16, 64, 3, 1, 1, 1}};
  const std::string chosen = bench_->prepare(layer)->implementation();
  EXPECT_EQ(device().engine_choices().size(), 1U);
  EXPECT_EQ(bench_->prepare(layer)->implementation(), chosen);
  EXPECT_EQ(device().engine_choices().size(), 1U);
  ConvolutionForward other = layer;
  other.shape.batch = 1;
  (void)bench_->prepare(other);
  EXPECT_EQ(device().engine_choices().size(), 2U);
}

}  // namespace
}  // namespace parbench::cuda
