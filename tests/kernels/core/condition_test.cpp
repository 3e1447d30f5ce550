// The sensors of a GPU (clock, temperature, power), its facts and links, by the driver's real
// library.
#include "kernels/core/condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/machine/machine.h"
#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

const Lane gpu{"cuda:0"};

// Names end in the lane's, so that a selection of the GPU's tests has them too.
TEST(Condition, IsComplete_cuda_0) {
  std::string why;
  const auto bench = Bench::open(gpu, why);
  if (!bench) SKIP_WITHOUT_DEVICES(gpu.device, why);
  const Condition condition = bench->device().condition();
  EXPECT_GT(condition.clock_mhz.value_or(0), 0);
  EXPECT_GT(condition.temperature_celsius.value_or(0), 0);
  EXPECT_GT(condition.power_watts.value_or(0), 0);
  EXPECT_THAT(bench->device().info().facts,
              AllOf(Contains(Pair("host link", HasSubstr("PCIe"))),
                    Contains(Pair("PCI bus", HasSubstr(":"))),
                    Not(Contains(Pair("clocks and throttling", testing::_)))));
}

TEST(Links, OfPartitionsAreOneGpu_cuda_0) {
  std::string why;
  if (!Bench::open(gpu, why)) SKIP_WITHOUT_DEVICES(gpu.device, why);
  const auto links = links_of(Machine().open("cuda:0/0,cuda:0/1"));
  ASSERT_THAT(links, SizeIs(1));
  EXPECT_EQ(links[0].kind, "same GPU");
}

}  // namespace
}  // namespace parbench::test
