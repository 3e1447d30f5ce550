// The parts of the CUDA backend that need no GPU: layouts, sizes of parts, choices of kernels,
// what is said where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cuda/cudnn/cudnn_graph.h"
#include "kernels/cuda/device/backend.h"
#include "kernels/cuda/device/gpu_part.h"
#include "kernels/cuda/device/nvml.h"
#include "kernels/cuda/ops/layout.h"
#include "kernels/cuda/runtime/abandon.h"
#include "kernels/cuda/runtime/backoff.h"
#include "kernels/cuda/runtime/driver.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/tuning/bounded_cache.h"
#include "kernels/cuda/tuning/tuning.h"
#include "kernels/machine/machine.h"
#include "kernels/ops/ops.h"

namespace parbench::cuda {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(CudaLayout, ChannelsAreInnermost) {
  EXPECT_THAT(strides_of(channels_last({2, 3, 4, 5}, DType::f32)), ElementsAre(60, 1, 15, 3));
  EXPECT_THAT(strides_of(canonical({2, 3, 4, 5})), ElementsAre(60, 20, 5, 1));
}

TEST(CudaLayout, WeightsOfGroupsLieOneGroupAfterTheOther) {
  const TensorDesc grouped = channels_last({2, 4, 3, 1, 5}, DType::bf16);
  EXPECT_THAT(strides_of(grouped), ElementsAre(60, 15, 1, 15, 3));
  EXPECT_EQ(grouped.bytes, 2 * 4 * 3 * 5 * 2);
}

TEST(CudaLayout, IsTheSameForTheSameOrder) {
  EXPECT_EQ(channels_last({1, 2, 3, 4}, DType::f32), channels_last({1, 2, 3, 4}, DType::f32));
  EXPECT_NE(channels_last({1, 2, 3, 4}, DType::f32), canonical({1, 2, 3, 4}));
}

TEST(CudaLayout, OfAnotherKindIsRefused) { EXPECT_THROW((void)strides_of(opaque(8)), UsageError); }

/// A GPU whose multiprocessors can be grouped without regard to clusters.
int largest_part(const Divisibility& gpu, int parts) {
  return part_size(gpu, parts, [&](int size) { return gpu.multiprocessors / size; });
}

TEST(CudaPart, TakesTheLargestEqualPartsInStepsOfTheGpu) {
  const Divisibility h200{.multiprocessors = 132, .min = 8, .multiple = 8};
  EXPECT_EQ(largest_part(h200, 1), 128);
  EXPECT_EQ(largest_part(h200, 2), 64);
  EXPECT_EQ(largest_part(h200, 16), 8);
  EXPECT_EQ(largest_part(h200, 17), 0) << "too few for each";
  EXPECT_EQ(largest_part(h200, 0), 0);
  EXPECT_EQ(largest_part({.multiprocessors = 108, .min = 4, .multiple = 2}, 2), 54);
  EXPECT_EQ(largest_part({.multiprocessors = 20, .min = 4, .multiple = 2}, 6), 0)
      << "the least part is more than that";
}

TEST(CudaPart, IsSmallerWhereClustersLeaveFewerGroups) {
  const Divisibility gpu{.multiprocessors = 132, .min = 8, .multiple = 8};
  // Seven clusters of 18, of each of which 16 can be divided.
  const auto groups = [](int size) { return 7 * 16 / size; };
  EXPECT_EQ(part_size(gpu, 2, groups), 56);
  EXPECT_EQ(part_size(gpu, 14, groups), 8);
  EXPECT_EQ(part_size(gpu, 15, groups), 0);
}

TEST(CudaPart, StepsAreTheDriversOwn) {
  const CUdevSmResource resource{
      .smCount = 148, .minSmPartitionSize = 16, .smCoscheduledAlignment = 4};
  EXPECT_EQ(divisibility(resource, 100),
            (Divisibility{.multiprocessors = 148, .min = 16, .multiple = 4}));
}

TEST(CudaPart, StepsAreTheArchitecturesWithoutTheDriversAnswer) {
  const auto steps_of = [](int compute_capability) {
    CUdevSmResource silent{};
    silent.smCount = 60;
    const Divisibility gpu = divisibility(silent, compute_capability);
    EXPECT_EQ(gpu.multiprocessors, 60);
    return std::pair(gpu.min, gpu.multiple);
  };
  EXPECT_EQ(steps_of(75), std::pair(2, 2));
  EXPECT_EQ(steps_of(86), std::pair(4, 2));
  EXPECT_EQ(steps_of(90), std::pair(8, 8));
  EXPECT_EQ(steps_of(120), std::pair(8, 8));
}

/// A driver that has green contexts and refuses to say anything of a GPU.
Driver refusing_driver() {
  Driver driver;
  driver.create_green_stream = [](CUstream*, CUgreenCtx, unsigned int, int) {
    return CUDA_ERROR_NOT_PERMITTED;
  };
  driver.device_resource = [](CUdevice, CUdevResource*, CUdevResourceType) {
    return CUDA_ERROR_NOT_PERMITTED;
  };
  return driver;
}

TEST(CudaPart, AGpuUnknownToTheDriverIsOneDevice) {
  EXPECT_EQ(max_parts_of(0, refusing_driver()), 1);
}

TEST(CudaBackoff, IsNoneInAShortWaitAndAHundredthOfALongOne) {
  using namespace std::chrono_literals;
  EXPECT_EQ(backoff_after(0ns), 0ns);
  EXPECT_EQ(backoff_after(4999us), 0ns);
  EXPECT_EQ(backoff_after(20ms), 200us);
  EXPECT_EQ(backoff_after(10min), 1ms) << "the end of a long wait is not far away either";
}

TEST(BoundedCache, MakesAValueOnceForEveryKey) {
  BoundedCache<int, std::unique_ptr<int>> cache(8);
  int made = 0;
  const auto make = [&] { return std::make_unique<int>(++made); };
  const int* first = cache.get(1, make).get();
  EXPECT_EQ(*cache.get(2, make), 2);
  EXPECT_EQ(cache.get(1, make).get(), first) << "alternating keys find what was made";
  EXPECT_EQ(made, 2);
}

TEST(BoundedCache, StaysSmallAndServesAfterwards) {
  BoundedCache<int, int> cache(3);
  for (int key = 0; key < 100; ++key) {
    EXPECT_EQ(cache.get(key, [&] { return 10 * key; }), 10 * key);
    EXPECT_LE(cache.size(), 3U);
  }
}

TEST(BoundedCache, KeepsNothingOfAFailure) {
  BoundedCache<int, int> cache(1);
  cache.get(1, [] { return 1; });
  EXPECT_THROW(cache.get(2, []() -> int { throw Error("no"); }), Error);
  EXPECT_EQ(cache.get(1, []() -> int { throw Error("made again"); }), 1);
}

/// A clock that runs only while candidates are measured.
struct TunedKernels {
  std::vector<std::vector<double>> runs;  // of each candidate: its probe, and those after it
  std::vector<std::size_t> tried = {};
  std::vector<std::size_t> repeated = {};
  double clock = 0;

  std::optional<std::size_t> choose(const TuningLimits& limits = {}) {
    const auto probe = [&](std::size_t index) -> std::optional<double> {
      tried.push_back(index);
      if (runs[index].empty()) return std::nullopt;
      clock += runs[index].front();
      return runs[index].front();
    };
    const auto repeat = [&] {
      const std::vector<double>& all = runs[tried.back()];
      repeated.push_back(tried.back());
      for (const double seconds : all) clock += seconds;
      return std::vector(all.begin() + 1, all.end());
    };
    return fastest(runs.size(), limits, [&] { return clock; }, {probe, repeat});
  }
};

TEST(Tuning, TakesTheLeastMedian) {
  EXPECT_EQ((TunedKernels{{{3, 3, 3}, {2, 1, 9}, {2.5, 2.5, 0.1}}}).choose({.seconds = 1e9}), 1U);
}

TEST(Tuning, LeavesTiesToTheHeuristicsOrder) {
  EXPECT_EQ((TunedKernels{{{1, 1.005, 1.01}, {1, 1}, {1, 1}}}).choose({.seconds = 1e9}), 0U);
  EXPECT_EQ((TunedKernels{{{1.02, 1.02}, {1.005, 1.005}, {1, 1}}}).choose({.seconds = 1e9}), 1U);
}

TEST(Tuning, PassesOverWhatCannotRun) {
  EXPECT_EQ((TunedKernels{{{}, {0.2, 0.2}, {}, {0.1, 0.1}}}).choose(), 3U);
  EXPECT_EQ((TunedKernels{{{0.1}, {0.2, 0.2}}}).choose(), 1U) << "one that fails after its probe";
  EXPECT_EQ((TunedKernels{{{}, {}}}).choose(), std::nullopt);
  EXPECT_EQ(TunedKernels{}.choose(), std::nullopt);
}

TEST(Tuning, DoesNotRepeatWhatItsProbeShowsToBeFarSlower) {
  TunedKernels kernels{{{2, 2, 2}, {50, 50, 50}, {3.1, 1, 1}, {1, 1, 1}, {1.6, 0.1, 0.1}}};
  EXPECT_EQ(kernels.choose({.seconds = 1e9}), 3U);
  EXPECT_THAT(kernels.tried, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(kernels.repeated, ElementsAre(0, 3)) << "more than 1.5 times the least so far";
}

TEST(Tuning, EndsAtItsLimits) {
  TunedKernels many{{{}, {0.3, 0.3}, {0.2, 0.2}, {0.1, 0.1}}};
  EXPECT_EQ(many.choose({.candidates = 2}), 2U);
  EXPECT_THAT(many.tried, ElementsAre(0, 1, 2)) << "what cannot run does not count";
  TunedKernels slow{{{2, 2}, {1, 1}, {0.5, 0.5}}};
  EXPECT_EQ(slow.choose({.seconds = 8}), 1U);
  EXPECT_THAT(slow.tried, ElementsAre(0, 1));
  TunedKernels one{{{5, 5}, {1, 1}}};
  EXPECT_EQ(one.choose({.seconds = 0}), 0U) << "at least one is measured";
}

TEST(Tuning, BeginsWithTheMostArithmeticWhateverThePass) {
  constexpr ConvolutionShape small{1, 8, 4, 4, 8, 3, 1, 1, 1};
  constexpr ConvolutionShape large{1, 64, 32, 32, 64, 3, 1, 1, 1};
  const std::vector<OpDesc> ordered =
      by_decreasing_work({ConvolutionForward{small}, ConvolutionBackwardWeights{small},
                          ConvolutionForward{large}, ConvolutionBackwardData{large}});
  std::vector<std::string> names;
  for (const OpDesc& desc : ordered) names.emplace_back(name_of(desc));
  EXPECT_THAT(names, ElementsAre("convolution_forward", "convolution_backward_data",
                                 "convolution_forward", "convolution_backward_weights"));
}

TEST(Tuning, HasABudgetForAllOperationsOfADevice) {
  TuningBudget budget(2.5);
  EXPECT_EQ(budget.limits().seconds, TuningLimits{}.seconds);
  budget.spend(2);
  EXPECT_FALSE(budget.exhausted());
  EXPECT_DOUBLE_EQ(budget.limits().seconds, 0.5) << "what is left";
  budget.spend(0.75);
  EXPECT_TRUE(budget.exhausted());
}

/// Counts when it is destroyed.
struct Resources {
  explicit Resources(bool& freed) : freed_(freed) {}
  ~Resources() { freed_ = true; }
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;

 private:
  bool& freed_;
};

TEST(Abandon, KeepsWhatAHangingKernelUsesAndFreesAllElse) {
  bool freed = false;
  EXPECT_EQ(run_or_abandon(std::make_unique<Resources>(freed), [](Resources&) { return 7; }), 7);
  EXPECT_TRUE(freed);
  freed = false;
  const auto fail = [](Resources&) -> int { throw Error("failed"); };
  EXPECT_THROW(run_or_abandon(std::make_unique<Resources>(freed), fail), Error);
  EXPECT_TRUE(freed);
  freed = false;
  auto hanging = std::make_unique<Resources>(freed);
  const std::unique_ptr<Resources> mine(hanging.get());  // for the test to leak nothing
  const auto hang = [](Resources&) -> int { throw TimedOut("hangs"); };
  EXPECT_THROW(run_or_abandon(std::move(hanging), hang), TimedOut);
  EXPECT_FALSE(freed);
}

TEST(LibraryChoice, DistinguishesUntunedFromUntunable) {
  EXPECT_EQ(library_choice(2, true)->index, 2U);
  EXPECT_EQ(library_choice(2, true)->by, ChosenBy::heuristics);
  EXPECT_EQ(library_choice(0, false)->by, ChosenBy::library);
  EXPECT_FALSE(library_choice(std::nullopt, true).has_value());
}

TEST(TuningChoices, AreMadeOnceForAllWhoShareThem) {
  TuningChoices choices;
  int measured = 0;
  const auto choose = [&](std::optional<std::size_t> choice) {
    return [&measured, choice] { return ++measured, choice; };
  };
  EXPECT_EQ(choices.once("gemm 64", 3, choose(2)), 2);
  EXPECT_EQ(choices.once("gemm 64", 3, choose(1)), 2) << "another device's times differ";
  EXPECT_EQ(choices.once("gemm 32", 3, choose(1)), 1);
  EXPECT_EQ(measured, 2);
}

TEST(TuningChoices, RememberThatThereIsNone) {
  TuningChoices choices;
  EXPECT_EQ(choices.once("gemm", 3, [] { return std::nullopt; }), std::nullopt);
  EXPECT_EQ(choices.once("gemm", 3, [] { return 1; }), std::nullopt)
      << "the devices before have taken the library's own";
}

TEST(TuningChoices, ForgetWhatFailed) {
  TuningChoices choices;
  EXPECT_THROW(
      (void)choices.once("gemm", 3,
                         []() -> std::optional<std::size_t> { throw DeviceLost("cuda", "lost"); }),
      DeviceLost);
  EXPECT_EQ(choices.once("gemm", 3, [] { return 1; }), 1);
}

TEST(ConvolutionEngines, MayUseTensorCoresOnlyForWhatAllowsThem) {
  EXPECT_EQ(arithmetic_of({DType::f32}), Arithmetic::f32);
  EXPECT_EQ(arithmetic_of({DType::f32, MathMode::tf32}), Arithmetic::tensor_cores);
  EXPECT_EQ(arithmetic_of({DType::bf16}), Arithmetic::tensor_cores);
}

TEST(ConvolutionEngines, HaveALimitedWorkspace) {
  constexpr std::size_t gibibyte = std::size_t{1} << 30U;
  EXPECT_EQ(workspace_limit(141 * gibibyte), gibibyte);
  EXPECT_EQ(workspace_limit(8 * gibibyte), gibibyte / 2);
}

TEST(CudaError, ACallThatNoGraphCanHoldIsUnsupported) {
  for (const cudaError_t status :
       {cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated,
        cudaErrorStreamCaptureImplicit}) {
    EXPECT_THAT(
        [&] {
          check(status, {"call()", "file.cpp", 7});
        },
        testing::ThrowsMessage<Unsupported>(
            AllOf(HasSubstr("call() at file.cpp:7"), HasSubstr("StreamCapture"))));
  }
  EXPECT_THROW(check(cudaErrorStreamCaptureUnjoined, {"call()", "file.cpp", 7}), Error);
  EXPECT_FALSE(forbids_capture(cudaErrorStreamCaptureUnjoined));
}

TEST(CudaError, WorkInProgressIsNone) {
  const CallSite query{"query()", "file.cpp", 7};
  EXPECT_TRUE(is_done(cudaSuccess, query));
  EXPECT_FALSE(is_done(cudaErrorNotReady, query));
  EXPECT_THROW((void)is_done(cudaErrorInvalidValue, query), Error);
}

TEST(CudaBackend, LoadsTheManagementLibraryOnceAndNotBeforeItIsAsked) {
  int loaded = 0;
  const auto backend = make_backend([&] {
    ++loaded;
    return Nvml::load("libthat-does-not-exist.so");
  });
  (void)backend->device_limit();
  EXPECT_EQ(loaded, 0);
  (void)backend->components();
  (void)backend->components();
  EXPECT_EQ(loaded, 1);
}

struct CudaWithoutGpu : testing::Test {
  void SetUp() override {
    if (backend->device_count() > 0) GTEST_SKIP() << "this machine has a GPU";
  }
  std::unique_ptr<Backend> backend = make_backend();
};

TEST_F(CudaWithoutGpu, SaysWhyAndWhatWouldMendIt) {
  EXPECT_EQ(backend->device_limit(), 0);
  EXPECT_THAT(backend->description(), testing::AnyOf(HasSubstr("driver"), HasSubstr("GPU")));
  EXPECT_THAT(backend->description(), HasSubstr(";")) << "a remedy after the reason";
}

TEST_F(CudaWithoutGpu, NamesItsLibraries) {
  std::vector<std::string> names;
  for (const auto& component : backend->components()) {
    names.push_back(component.name);
    EXPECT_THAT(component.version, Not(IsEmpty()));
    EXPECT_LE(component.version.size(), 60U) << "one of many in a line above each table";
  }
  EXPECT_THAT(names, ElementsAre("CUDA", "CUDA of the driver", "CUDA connections", "cuDNN",
                                 "cuBLAS", "NCCL"));
}

TEST_F(CudaWithoutGpu, IsNotTheDefaultAndRefusesWithTheReason) {
  const Machine machine;
  EXPECT_EQ(machine.backends().front()->name(), "cpu");
  try {
    (void)machine.open("cuda:0");
    FAIL() << "opened a GPU that is not there";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'cuda:0' does not exist"));
    EXPECT_THAT(error.what(), HasSubstr(backend->description()));
  }
}

}  // namespace
}  // namespace parbench::cuda
