// Division of a batch and of gradients.
#include "scenarios/plan/schedules/data_parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

namespace parbench {
namespace {

using ::testing::ElementsAre;

TEST(DividedBatch, IsThatOfTorchChunk) {
  EXPECT_THAT(divided_batch(30, 4), ElementsAre(8, 8, 8, 6));
  EXPECT_THAT(divided_batch(30, 1), ElementsAre(30));
  EXPECT_THAT(divided_batch(24, 2), ElementsAre(12, 12));
  EXPECT_THAT(divided_batch(5, 4), ElementsAre(2, 2, 1)) << "a fourth part would be empty";
  EXPECT_THAT(divided_batch(3, 8), ElementsAre(1, 1, 1));
  EXPECT_THAT(divided_batch(1, 1), ElementsAre(1));
}

TEST(DividedBatch, KeepsAllSamplesAndIsNeverLongerThanAskedFor) {
  for (std::int64_t samples = 1; samples < 40; ++samples) {
    for (int parts = 1; parts < 12; ++parts) {
      const std::vector<std::int64_t> divided = divided_batch(samples, parts);
      EXPECT_EQ(std::accumulate(divided.begin(), divided.end(), std::int64_t{0}), samples);
      EXPECT_LE(divided.size(), static_cast<std::size_t>(parts));
      for (const std::int64_t part : divided) {
        EXPECT_GE(part, 1);
        EXPECT_LE(part, divided.front());
      }
    }
  }
}

TEST(DividedBatch, NeedsASampleAndAPart) {
  EXPECT_THROW(static_cast<void>(divided_batch(0, 2)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(divided_batch(2, 0)), std::invalid_argument);
}

TEST(GradientBuckets, EndWithTheGradientThatFillsThem) {
  using Buckets = std::vector<GradientBucket>;
  const std::vector<std::size_t> offsets{0, 100, 130, 200};
  EXPECT_EQ(gradient_buckets(offsets, 240, 60), (Buckets{{130, 240}, {0, 130}}))
      << "40, then 110; 30, then 130";
  EXPECT_EQ(gradient_buckets(offsets, 240, 1),
            (Buckets{{200, 240}, {130, 200}, {100, 130}, {0, 100}}));
  EXPECT_EQ(gradient_buckets(offsets, 240, 240), (Buckets{{0, 240}}));
  EXPECT_EQ(gradient_buckets(offsets, 240, 1000), (Buckets{{0, 240}}));
  EXPECT_EQ(gradient_buckets(offsets, 240, 110), (Buckets{{130, 240}, {0, 130}}));
}

}  // namespace
}  // namespace parbench
