// No operation of a model that ships runs on a reference implementation of oneDNN, whatever the
// size of image and batch. ctest runs these tests twice: as they are, and on AVX2 alone.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/models.h"
#include "scenarios/training/stage_program.h"
#include "tests/support/cpu_devices.h"

namespace parbench {
namespace {

using Setting = std::tuple<DType, int>;  // element type, threads

std::string name_of_setting(const testing::TestParamInfo<Setting>& information) {
  const auto [dtype, threads] = information.param;
  return std::string(to_string(dtype)) + "_" + std::to_string(threads) + "threads";
}

/// Plans operations, each layer of one shape once.
class OptimisedKernels : public testing::TestWithParam<Setting> {
 protected:
  OptimisedKernels() : dtype_(std::get<0>(GetParam())), threads_(std::get<1>(GetParam())) {}

  void SetUp() override {
    const char* limit = std::getenv("DNNL_MAX_CPU_ISA");
    is_limited_ = limit != nullptr && std::string(limit) == "AVX2";
    try {
      (void)device_->prepare(LinearForward{.shape = {1, 8, 8}, .dtype = dtype_}, threads_);
    } catch (const Unsupported& reason) {
      GTEST_SKIP() << reason.what();
    }
  }

  void expect_optimised(const OpDesc& desc, const std::string& layer) {
    const auto op = device_->prepare(desc, threads_);
    EXPECT_FALSE(op->is_reference())
        << op->name() << " of " << layer << ": " << op->implementation();
    if (is_limited_) {
      EXPECT_EQ(op->implementation().find("avx512"), std::string::npos) << op->implementation();
    }
    ++planned_;
  }

  void plan(const Network& network, std::int64_t samples) {
    for (const Layer& layer : network.layers) plan(network, layer, samples);
  }

  [[nodiscard]] int planned() const { return planned_; }

 private:
  void plan(const Network& network, const Layer& layer, std::int64_t samples) {
    const Shape source = with_samples(samples, network.input_of(layer));
    const Shape output = with_samples(samples, layer.output);
    const bool adds = layer.inputs.size() > 1;
    if (!seen_.insert({layer.kind, source, output, layer.kernel, layer.relu, adds}).second) return;
    const std::string name = network.name + " " + layer.name + " on " + to_string(source);
    switch (layer.kind) {
      case LayerKind::convolution: {
        const ConvolutionShape shape = convolution_of(network, layer, samples);
        expect_optimised(ConvolutionForward{.shape = shape, .dtype = dtype_}, name);
        expect_optimised(ConvolutionBackwardData{.shape = shape, .dtype = dtype_}, name);
        expect_optimised(ConvolutionBackwardWeights{.shape = shape, .dtype = dtype_}, name);
        break;
      }
      case LayerKind::batch_norm:
        if (element_count(output) == output.at(1)) break;  // no variance: refused
        expect_optimised(
            BatchNormForward{.shape = output, .dtype = dtype_, .relu = layer.relu, .add = adds},
            name);
        expect_optimised(BatchNormBackward{output, dtype_, layer.relu && !adds}, name);
        if (adds) plan_addition(output, name);
        break;
      case LayerKind::max_pool: {
        const PoolingShape shape{source, layer.kernel, layer.stride, layer.padding};
        expect_optimised(MaxPoolForward{shape, dtype_}, name);
        expect_optimised(MaxPoolBackward{shape, dtype_}, name);
        break;
      }
      case LayerKind::global_average_pool:
        expect_optimised(GlobalAveragePoolForward{source, dtype_}, name);
        expect_optimised(GlobalAveragePoolBackward{source, dtype_}, name);
        break;
      case LayerKind::linear: {
        const LinearShape shape = linear_of(network, layer, samples);
        expect_optimised(LinearForward{.shape = shape, .dtype = dtype_}, name);
        expect_optimised(LinearBackwardData{.shape = shape, .dtype = dtype_}, name);
        expect_optimised(LinearBackwardWeights{.shape = shape, .dtype = dtype_}, name);
        expect_optimised(MseLoss{output, dtype_, element_count(output)}, name);
        break;
      }
      case LayerKind::relu:
        expect_optimised(ReluForward{output, dtype_}, name);
        expect_optimised(ReluBackward{output, dtype_}, name);
        break;
    }
  }

  /// The gradient of a block's end, and its sum with another block's.
  void plan_addition(const Shape& output, const std::string& name) {
    expect_optimised(Add{output, dtype_}, name);
    for (const bool two : {true, false}) {
      expect_optimised(AddReluBackward{output, dtype_, two}, name);
    }
  }

  DType dtype_;
  int threads_;
  bool is_limited_ = false;
  std::unique_ptr<Device> device_ = std::move(test::cpu_devices(1).front());
  std::set<std::tuple<LayerKind, Shape, Shape, std::int64_t, bool, bool>> seen_;
  int planned_ = 0;
};

TEST_P(OptimisedKernels, ComputeEveryLayerOfResNet50) {
  for (const std::int64_t image : {32, 64, 80, 96, 112, 128, 224}) {
    const Network network = resnet50(image);
    for (const std::int64_t samples : {1, 2, 6, 12, 24}) plan(network, samples);
  }
  EXPECT_GT(planned(), 2000);
}

TEST_P(OptimisedKernels, ComputeEveryLayerOfThePerceptron) {
  for (const std::int64_t samples : {1, 3, 20}) plan(toy_model(), samples);
  EXPECT_GT(planned(), 10);
}

INSTANTIATE_TEST_SUITE_P(Settings, OptimisedKernels,
                         testing::Combine(testing::Values(DType::f32, DType::bf16),
                                          testing::Values(1, 2)),
                         name_of_setting);

}  // namespace
}  // namespace parbench
