// cuDNN's engines for convolutions, planned without a GPU for GPUs that are only described, and
// what becomes of cuDNN's failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cuda/cudnn/convolution_engine.h"
#include "kernels/cuda/cudnn/cudnn_failure.h"
#include "kernels/cuda/ops/weight_gradient.h"
#include "kernels/cuda/runtime/error.h"
#include "tests/kernels/cuda/described_gpus.h"

namespace parbench::cuda {
namespace {

using Kind = CudnnFailure::Kind;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// ResNet-50's at 120 images of 128×128: the first, a 3×3, a strided and a plain pointwise
// one.
constexpr ConvolutionShape first_layer{120, 3, 128, 128, 64, 7, 2, 3, 1};
constexpr ConvolutionShape middle{120, 128, 16, 16, 128, 3, 1, 1, 1};
constexpr ConvolutionShape strided{120, 256, 32, 32, 512, 1, 2, 0, 1};
constexpr ConvolutionShape pointwise{120, 256, 32, 32, 64, 1, 1, 0, 1};

ConvolutionGraph graph_of(ConvolutionPass pass, const ConvolutionShape& shape,
                          NumberFormat format) {
  return {.pass = pass, .shape = shape, .dtype = format.dtype, .arithmetic = arithmetic_of(format)};
}

EngineSearch search(const test::DescribedGpu& gpu, const ConvolutionGraph& graph) {
  return search_engine(test::target_of(gpu), graph, workspace_limit(gpu.memory_bytes),
                       [](CudnnEngines& engines, const ConvolutionGraph&) {
                         return library_choice(engines.first(), false);
                       });
}

EngineFacts facts_of(const EngineSearch& found) {
  const auto& choice = std::get<EngineChoice>(found);
  return choice.engines.facts(choice.best.index);
}

struct DescribedEngines : testing::TestWithParam<int> {
  const test::DescribedGpu& gpu = test::described_gpu(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Gpus, DescribedEngines, testing::Values(80, 90));

TEST_P(DescribedEngines, ComputeEveryPassOfResNetButWeightGradientsOfBf16) {
  for (const ConvolutionShape& shape : {first_layer, middle, strided, pointwise}) {
    for (const auto pass : {ConvolutionPass::forward, ConvolutionPass::backward_data,
                            ConvolutionPass::backward_weights}) {
      for (const NumberFormat format :
           {NumberFormat{}, NumberFormat{DType::f32, MathMode::tf32}, NumberFormat{DType::bf16}}) {
        if (pass == ConvolutionPass::backward_weights && format.dtype == DType::bf16) continue;
        const EngineSearch found = search(gpu, graph_of(pass, shape, format));
        const auto* failure = std::get_if<CudnnFailure>(&found);
        ASSERT_EQ(failure, nullptr) << failure->text;
        const auto& choice = std::get<EngineChoice>(found);
        EXPECT_TRUE(choice.lasting) << choice.engines.fault();
      }
    }
  }
}

TEST_P(DescribedEngines, OfF32UseNoTensorCores) {
  const EngineFacts strict = facts_of(search(gpu, graph_of(ConvolutionPass::forward, middle, {})));
  EXPECT_THAT(strict.notes, Not(Contains("tensor core"))) << strict.name;
  EXPECT_LE(strict.workspace_bytes, workspace_limit(gpu.memory_bytes));
  const EngineFacts fast = facts_of(
      search(gpu, graph_of(ConvolutionPass::forward, middle, {DType::f32, MathMode::tf32})));
  EXPECT_THAT(fast.notes, Contains("tensor core")) << fast.name;
}

TEST_P(DescribedEngines, LeaveOutWhatNeedsMoreWorkspace) {
  const ConvolutionGraph graph =
      graph_of(ConvolutionPass::backward_weights, middle, {DType::f32, MathMode::tf32});
  const EngineSearch found = search_engine(test::target_of(gpu), graph, 0,
                                           [](CudnnEngines& engines, const ConvolutionGraph&) {
                                             return library_choice(engines.first(), false);
                                           });
  if (std::holds_alternative<EngineChoice>(found)) {
    EXPECT_EQ(facts_of(found).workspace_bytes, 0U);
  }
}

TEST(DescribedTarget, OfPropertiesThatCudnnDoesNotAcceptIsRefused) {
  EXPECT_THROW((void)target_of("{}"), Error);
}

TEST(DescribedTarget, WithoutBf16HasNoEngineForIt) {
  const EngineSearch found =
      search(test::described_gpu(75), graph_of(ConvolutionPass::forward, middle, {DType::bf16}));
  // Without a driver cuDNN does not try engines that it compiles at run time, and says so instead.
  EXPECT_TRUE(std::holds_alternative<CudnnFailure>(found));
}

TEST(CudnnFailures, OfUnsupportedGraphsAreNoFaults) {
  const CudnnFailure failure =
      classify(CUDNN_STATUS_NOT_SUPPORTED,
               "Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: (CUDNN_STATUS_NOT_INITIALIZED == "
               "status) || other\nWarning: CUDNN_STATUS_NOT_SUPPORTED; Reason: finalize()\n");
  EXPECT_EQ(failure.kind, Kind::unsupported) << "a status in a reason is no status";
}

TEST(CudnnFailures, OfLibrariesAreFaultsEvenWhereCudnnSaysNotSupported) {
  const CudnnFailure failure = classify(
      CUDNN_STATUS_NOT_SUPPORTED,
      "Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: config == INVALID\n"
      "Warning: CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING; Reason: no libnvrtc\n"
      "Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: finalize()\n");
  EXPECT_EQ(failure.kind, Kind::fault);
  EXPECT_EQ(failure.text,
            "CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING; Reason: no libnvrtc");
  for (const cudnnStatus_t status :
       {CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED, CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH,
        CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER, CUDNN_STATUS_INTERNAL_ERROR,
        CUDNN_STATUS_EXECUTION_FAILED_CUDART, CUDNN_STATUS_BAD_PARAM}) {
    const CudnnFailure other = classify(status, "");
    EXPECT_EQ(other.kind, Kind::fault) << other.text;
    EXPECT_THAT(other.text, HasSubstr("CUDNN_STATUS_"));
  }
}

TEST(CudnnFailures, OfAPartOfTheHeuristicsAreFound) {
  using Statuses = std::vector<cudnnStatus_t>;
  EXPECT_EQ(first_fault(Statuses{CUDNN_STATUS_SUCCESS, CUDNN_STATUS_SUCCESS}), "");
  EXPECT_EQ(first_fault(Statuses{CUDNN_STATUS_NOT_SUPPORTED, CUDNN_STATUS_SUCCESS}), "");
  EXPECT_EQ(first_fault(Statuses{CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED, CUDNN_STATUS_SUCCESS}),
            "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED");
}

TEST(CudnnFailures, OfMemoryAreDistinguished) {
  EXPECT_EQ(classify(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, "").kind,
            Kind::out_of_memory);
  EXPECT_EQ(classify(CUDNN_STATUS_NOT_SUPPORTED,
                     "Error: CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED; Reason: malloc")
                .kind,
            Kind::out_of_memory);
}

TEST(EngineChoices, KeepThatThereIsNoEngineAndForgetFaults) {
  EngineChoices choices;
  int asked = 0;
  const auto fail_with = [&](Kind kind) {
    return [&asked, kind]() -> EngineSearch {
      ++asked;
      return CudnnFailure{kind, "words"};
    };
  };
  for (int i = 0; i < 2; ++i) (void)choices.get("none", fail_with(Kind::unsupported));
  EXPECT_EQ(asked, 1);
  for (int i = 0; i < 2; ++i) {
    const EngineSearch& found = choices.get("broken", fail_with(Kind::fault));
    EXPECT_EQ(std::get<CudnnFailure>(found).text, "words");
  }
  EXPECT_EQ(asked, 3) << "what is installed later is found later";
  EXPECT_EQ(choices.size(), 1U);
}

TEST(EngineChoices, ForgetWhatWasChosenWithoutAllHeuristics) {
  EngineChoices choices;
  int asked = 0;
  const auto choose = [&]() -> EngineSearch {
    EngineSearch found =
        search(test::described_gpu(90), graph_of(ConvolutionPass::forward, middle, {}));
    std::get<EngineChoice>(found).lasting = ++asked > 1;
    return found;
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::holds_alternative<EngineChoice>(choices.get("layer", choose)));
  }
  EXPECT_EQ(asked, 2);
}

TEST(CudaError, ThatStaysMakesTheDeviceLost) {
  for (const cudaError_t status :
       {cudaErrorIllegalAddress, cudaErrorContextIsDestroyed, cudaErrorUnknown}) {
    EXPECT_TRUE(is_sticky(status)) << status;
    EXPECT_THROW(check(status, {"call()", "file.cpp", 7}), DeviceLost);
  }
  EXPECT_FALSE(is_sticky(cudaErrorMemoryAllocation));
  EXPECT_FALSE(is_sticky(cudaErrorNoDevice));
}

TEST(WeightGradientProducts, TakeTheSourceItselfOrPatchesThatStayInTheCache) {
  EXPECT_TRUE(source_is_patches(pointwise));
  EXPECT_FALSE(source_is_patches(strided));
  EXPECT_EQ(plan_patches(pointwise, DType::bf16), (PatchPlan{120, 256}));
  // 3 · 7 · 7 columns in rows that vector loads can take.
  EXPECT_EQ(plan_patches(first_layer, DType::bf16).row_length, 152);
  EXPECT_EQ(plan_patches(first_layer, DType::f32).row_length, 148);
  for (const ConvolutionShape& shape : {first_layer, middle, strided}) {
    const PatchPlan plan = plan_patches(shape, DType::bf16);
    const std::int64_t pixels = plan.images * shape.out_height() * shape.out_width();
    EXPECT_LE(pixels * plan.row_length * 2, 32 << 20);
    const std::int64_t parts = (shape.batch + plan.images - 1) / plan.images;
    if (parts == 1) continue;
    const std::int64_t images_in_fewer = (shape.batch + parts - 2) / (parts - 1);
    EXPECT_GT(images_in_fewer * shape.out_height() * shape.out_width() * plan.row_length * 2,
              32 << 20)
        << "fewer parts would do";
  }
  constexpr ConvolutionShape huge{3, 64, 1024, 1024, 64, 3, 1, 1, 1};
  EXPECT_EQ(plan_patches(huge, DType::f32).images, 1) << "an image at least";
}

}  // namespace
}  // namespace parbench::cuda
