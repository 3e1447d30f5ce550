// The parts of the CUDA backend that need no GPU: layouts, sizes of partitions, what is said where
// there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "kernels/cuda/backend.h"
#include "kernels/cuda/layout.h"
#include "kernels/cuda/nap.h"
#include "kernels/cuda/partition.h"
#include "kernels/error.h"

namespace parbench::cuda {
namespace {

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
  return partition_size(gpu, parts, [&](int size) { return gpu.multiprocessors / size; });
}

TEST(CudaPartition, TakesTheLargestEqualPartsInStepsOfTheGpu) {
  const Divisibility h200{.multiprocessors = 132, .least = 8, .step = 8};
  EXPECT_EQ(largest_part(h200, 1), 128);
  EXPECT_EQ(largest_part(h200, 2), 64);
  EXPECT_EQ(largest_part(h200, 16), 8);
  EXPECT_EQ(largest_part(h200, 17), 0) << "too few for each";
  EXPECT_EQ(largest_part(h200, 0), 0);
  EXPECT_EQ(largest_part({.multiprocessors = 108, .least = 4, .step = 2}, 2), 54);
  EXPECT_EQ(largest_part({.multiprocessors = 20, .least = 4, .step = 2}, 6), 0)
      << "the least part is more than a step";
}

TEST(CudaPartition, IsSmallerWhereClustersLeaveFewerGroups) {
  const Divisibility gpu{.multiprocessors = 132, .least = 8, .step = 8};
  // Seven clusters of 18, of each of which 16 can be divided.
  const auto groups = [](int size) { return 7 * 16 / size; };
  EXPECT_EQ(partition_size(gpu, 2, groups), 56);
  EXPECT_EQ(partition_size(gpu, 14, groups), 8);
  EXPECT_EQ(partition_size(gpu, 15, groups), 0);
}

TEST(CudaPartition, StepsAreTheDriversOwn) {
  const CUdevSmResource told{.smCount = 148, .minSmPartitionSize = 16, .smCoscheduledAlignment = 4};
  EXPECT_EQ(divisibility(told, 100),
            (Divisibility{.multiprocessors = 148, .least = 16, .step = 4}));
}

TEST(CudaPartition, StepsAreTheArchitecturesWhereTheDriverDoesNotTell) {
  const auto steps_of = [](int compute_capability) {
    CUdevSmResource silent{};
    silent.smCount = 60;
    const Divisibility gpu = divisibility(silent, compute_capability);
    EXPECT_EQ(gpu.multiprocessors, 60);
    return std::pair(gpu.least, gpu.step);
  };
  EXPECT_EQ(steps_of(75), std::pair(2, 2));
  EXPECT_EQ(steps_of(86), std::pair(4, 2));
  EXPECT_EQ(steps_of(90), std::pair(8, 8));
  EXPECT_EQ(steps_of(120), std::pair(8, 8));
}

TEST(CudaNap, IsNoneInAShortWaitAndAHundredthOfALongOne) {
  using namespace std::chrono_literals;
  EXPECT_EQ(nap_after(0ns), 0ns);
  EXPECT_EQ(nap_after(4999us), 0ns);
  EXPECT_EQ(nap_after(20ms), 200us);
  EXPECT_EQ(nap_after(10min), 1ms) << "the end of a long wait is not far away either";
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
