// Descriptions of operations on images that make no sense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "kernels/base/error.h"
#include "kernels/ops/checks.h"

namespace parbench {
namespace {

using ::testing::HasSubstr;

std::string objection(const OpDesc& desc) {
  try {
    check(desc);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ImageChecks, RefuseWindowsThatDoNotFit) {
  EXPECT_THAT(objection(ConvolutionForward{{1, 16, 8, 8, 16, 3, 1, 0, 1, 4}}),
              HasSubstr("a kernel of 9 does not fit into the height of 8"));
  EXPECT_THAT(objection(ConvolutionForward{{1, 16, 8, 8, 16, 3, 1, 0, 1, 0}}),
              HasSubstr("dilation is 0"));
  EXPECT_THAT(objection(AveragePoolForward{{{1, 16, 8, 8}, 3, 2, 1, 2}}),
              HasSubstr("padding 1 and trailing 2 could fill a window of 3"));
  EXPECT_THAT(objection(MaxPoolForward{{{1, 16, 8, 8}, 3, 2, 1, -1}}), HasSubstr("trailing is -1"));
  EXPECT_THAT(objection(AveragePoolBackward{{{1, 16, 2, 8}, 5, 2, 1, 0}}),
              HasSubstr("does not fit into the height of 2"));
}

TEST(ImageChecks, RefuseNormsOfNoPowers) {
  EXPECT_THAT(objection(LocalResponseNormForward{.shape = {2, 16, 3, 3}, .size = 4}),
              HasSubstr("size is 4; it must be odd"));
  EXPECT_THAT(objection(LocalResponseNormBackward{.shape = {2, 16, 3, 3}, .offset = 0}),
              HasSubstr("the offset must be positive"));
  EXPECT_THAT(objection(LocalResponseNormForward{.shape = {2, 16, 3}}),
              HasSubstr("has 3 dimensions"));
}

TEST(ImageChecks, RefuseChannelsThatAreNotThere) {
  EXPECT_THAT(objection(SliceChannels{{{2, 16, 3, 3}, 10, 7}}),
              HasSubstr("7 channels from 10 on are not within the 16 channels"));
  constexpr std::int64_t huge = std::int64_t{1} << 62U;
  EXPECT_THAT(objection(InsertChannels{{{2, 16, 3, 3}, huge, huge}}),
              HasSubstr("are not within the 16 channels"));
  EXPECT_THAT(objection(InsertChannels{{{2, 16, 3, 3}, -1, 2}}), HasSubstr("first is -1"));
  EXPECT_THAT(objection(ShuffleChannels{{2, 16, 3, 3}, 3}), HasSubstr("3 groups do not divide"));
  EXPECT_EQ(objection(SliceChannels{{{2, 16, 3, 3}, 10, 6}}), "accepted");
}

TEST(ImageChecks, RefuseEdgesThatLeaveNothing) {
  EXPECT_THAT(objection(PadImage{{2, 16, 3, 5}, {-1, 0, -2, 0}}),
              HasSubstr("edges of -1, 0, -2 and 0 leave nothing of the image 2x16x3x5"));
  EXPECT_THAT(objection(PadImage{{2, 16, 3, 5}, {0, -5, 0, 9}}), HasSubstr("leave nothing"))
      << "only zeros";
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(objection(PadImage{{2, 16, 3, 5}, {0, huge, 0, 0}}), HasSubstr("an edge is"));
  EXPECT_EQ(objection(PadImage{{2, 16, 3, 5}, {-1, -2, -1, -2}}), "accepted");
}

}  // namespace
}  // namespace parbench
