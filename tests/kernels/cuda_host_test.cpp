// The parts of the CUDA backend that need no GPU: layouts, sizes of partitions, what is said where
// there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cuda/backend.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/layout.h"
#include "kernels/cuda/partition.h"
#include "kernels/error.h"

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

TEST(CudaPartition, TakesEqualPartsInStepsOfTheArchitecture) {
  EXPECT_EQ(partition_size(132, 2, 8), 64) << "H200: 132 multiprocessors in steps of 8";
  EXPECT_EQ(partition_size(108, 2, 4), 52);
  EXPECT_EQ(partition_size(132, 1, 8), 128);
  EXPECT_EQ(partition_size(132, 16, 8), 8);
  EXPECT_EQ(partition_size(132, 17, 8), 0) << "too few for each";
  EXPECT_EQ(partition_size(132, 0, 8), 0);
}

TEST(CudaPartition, StepsGrowWithTheArchitecture) {
  EXPECT_EQ(partition_granularity(75), 2);
  EXPECT_EQ(partition_granularity(86), 4);
  EXPECT_EQ(partition_granularity(90), 8);
  EXPECT_EQ(partition_granularity(120), 8);
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

struct CudaWithoutGpu : testing::Test {
  void SetUp() override {
    if (backend->device_count() > 0) GTEST_SKIP() << "this machine has a GPU";
  }
  std::unique_ptr<Backend> backend = make_backend();
};

TEST_F(CudaWithoutGpu, SaysWhyAndWhatWouldMendIt) {
  EXPECT_EQ(backend->device_limit(), 0);
  EXPECT_THAT(backend->description(), testing::AnyOf(HasSubstr("driver"), HasSubstr("GPU")));
  EXPECT_THAT(backend->description(), HasSubstr(";")) << "a remedy behind the reason";
}

TEST_F(CudaWithoutGpu, NamesItsLibraries) {
  std::vector<std::string> names;
  for (const auto& component : backend->components()) {
    names.push_back(component.name);
    EXPECT_THAT(component.version, Not(IsEmpty()));
  }
  EXPECT_THAT(names,
              ElementsAre("CUDA", "CUDA of the driver", "CUDA connections", "cuDNN", "cuBLAS"));
}

TEST_F(CudaWithoutGpu, IsNotTheDefaultAndRefusesWithTheReason) {
  const Machine machine;
  EXPECT_EQ(machine.backends().front()->name(), "cpu");
  try {
    (void)machine.open("cuda:0", false);
    FAIL() << "opened a GPU that is not there";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'cuda:0' does not exist"));
    EXPECT_THAT(error.what(), HasSubstr(backend->description()));
  }
}

}  // namespace
}  // namespace parbench::cuda
