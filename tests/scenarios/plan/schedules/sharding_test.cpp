// Shards of buckets, and when buckets are in memory.
#include "scenarios/plan/schedules/sharding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "scenarios/plan/schedules/bucket_pool.h"

namespace parbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Two buckets of 5 and 3 numbers, the last one first, as backward passes complete them.
ShardLayout small_layout(std::size_t devices) {
  return {{{.begin = 12, .end = 32}, {.begin = 0, .end = 12}}, devices};
}

TEST(ShardBuckets, AreThoseOfGradientsWhereNoneFillsABucketAlone) {
  const std::vector<std::size_t> offsets{0, 40, 80, 120, 160};
  EXPECT_EQ(shard_buckets(offsets, 200, 100), gradient_buckets(offsets, 200, 100));
}

TEST(ShardBuckets, DoNotAddToALargeParameter) {
  EXPECT_THAT(shard_buckets({0, 500, 540, 580}, 1000, 100),
              ElementsAre(GradientBucket{.begin = 580, .end = 1000},
                          GradientBucket{.begin = 500, .end = 580},
                          GradientBucket{.begin = 0, .end = 500}));
}

TEST(ShardBuckets, AddMuchSmallerOnes) {
  EXPECT_THAT(shard_buckets({0, 400, 410, 810}, 820, 100),
              ElementsAre(GradientBucket{.begin = 410, .end = 820},
                          GradientBucket{.begin = 0, .end = 410}));
}

TEST(ShardLayout, HasABlockOfEveryBucketOnEachDevice) {
  const ShardLayout layout = small_layout(2);
  EXPECT_EQ(layout.block(0, 0).bytes, 12);
  EXPECT_EQ(layout.block(1, 0).begin, 12);
  EXPECT_EQ(layout.block(1, 0).bytes, 8);
  EXPECT_EQ(layout.block(0, 1).in_shard, 12) << "after the block of the first bucket";
  EXPECT_EQ(layout.shard_bytes(0), 20);
  EXPECT_EQ(layout.shard_bytes(1), 12);
  EXPECT_THROW(small_layout(0), std::invalid_argument);
}

TEST(ShardLayout, HasNothingOfABucketOnDevicesBeyondItsNumbers) {
  const ShardLayout layout = small_layout(4);
  EXPECT_EQ(layout.block(3, 1).bytes, 0);
  EXPECT_EQ(layout.shard_bytes(3), 4);
}

TEST(ShardLayout, FindsThePartsOfARange) {
  const ShardLayout layout = small_layout(2);
  const auto parts = layout.parts_of(4, 24);  // numbers 1 to 6: two of bucket 1, four of bucket 0
  std::vector<std::size_t> devices;
  std::vector<std::size_t> begins;
  std::vector<std::size_t> sizes;
  std::vector<std::size_t> in_shards;
  for (const ShardLayout::Block& part : parts) {
    devices.push_back(part.device);
    begins.push_back(part.begin);
    sizes.push_back(part.bytes);
    in_shards.push_back(part.in_shard);
  }
  EXPECT_THAT(devices, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(begins, ElementsAre(4, 8, 0, 12));
  EXPECT_THAT(sizes, ElementsAre(4, 4, 12, 4));
  EXPECT_THAT(in_shards, ElementsAre(16, 8, 0, 0));
  EXPECT_THROW(static_cast<void>(layout.bucket_at(32)), std::out_of_range);
}

TEST(Holdings, ArriveWhenNeededWithoutPrefetching) {
  EXPECT_THAT(holdings_of({{0}, {1}, {0}}, 0),
              ElementsAre(Holding{.bucket = 0, .begin = 0, .first = 0, .last = 0},
                          Holding{.bucket = 1, .begin = 1, .first = 1, .last = 1},
                          Holding{.bucket = 0, .begin = 2, .first = 2, .last = 2}));
}

TEST(Holdings, StayWhereTheNextStepNeedsThemAgain) {
  EXPECT_THAT(holdings_of({{0}, {1}, {1}, {0}}, 0),
              ElementsAre(Holding{.bucket = 0, .begin = 0, .first = 0, .last = 0},
                          Holding{.bucket = 1, .begin = 1, .first = 1, .last = 2},
                          Holding{.bucket = 0, .begin = 3, .first = 3, .last = 3}));
}

TEST(Holdings, ArriveAsManyStepsEarlierAsArePrefetched) {
  EXPECT_THAT(holdings_of({{0}, {1}, {2}, {2}, {1}, {0}}, 1),
              ElementsAre(Holding{.bucket = 0, .begin = 0, .first = 0, .last = 0},
                          Holding{.bucket = 1, .begin = 0, .first = 1, .last = 1},
                          Holding{.bucket = 2, .begin = 1, .first = 2, .last = 3},
                          Holding{.bucket = 1, .begin = 3, .first = 4, .last = 4},
                          Holding{.bucket = 0, .begin = 4, .first = 5, .last = 5}));
  EXPECT_THAT(holdings_of({{0}, {1}, {0}}, 1),
              ElementsAre(Holding{.bucket = 0, .begin = 0, .first = 0, .last = 2},
                          Holding{.bucket = 1, .begin = 0, .first = 1, .last = 1}))
      << "it would arrive again by the segment after the one that needs it";
}

TEST(Holdings, ArriveAgainWhereTheyDoNotStay) {
  EXPECT_THAT(holdings_of({{0}, {1}, {0}, {0}}, 2, false),
              ElementsAre(Holding{.bucket = 0, .begin = 0, .first = 0, .last = 0},
                          Holding{.bucket = 1, .begin = 0, .first = 1, .last = 1},
                          Holding{.bucket = 0, .begin = 1, .first = 2, .last = 3}));
}

TEST(Holdings, OfStepsThatNeedNothingAreNone) { EXPECT_THAT(holdings_of({{}, {}}, 2), IsEmpty()); }

/// Parameters of 64 bytes by bucket, each needed in one segment.
std::vector<PooledBucket> one_bucket_a_segment(int count, int prefetch) {
  std::vector<std::vector<std::size_t>> needed;
  for (int segment = 0; segment < count; ++segment)
    needed.push_back({static_cast<std::size_t>(segment)});
  std::vector<PooledBucket> buckets;
  for (const Holding& when : holdings_of(needed, prefetch)) {
    buckets.push_back({.when = when, .bytes = 64});
  }
  return buckets;
}

TEST(BucketPool, HasRoomForBucketsThatArriveEarly) {
  const std::vector<PooledBucket> buckets = one_bucket_a_segment(4, 1);
  const BucketPool pool = bucket_pool(buckets, buckets, {.wished = 128, .max = 256});
  EXPECT_EQ(pool.bytes, 128);
  for (const PooledBucket& one : pool.buckets) {
    EXPECT_EQ(one.when.begin, one.when.first == 0 ? 0 : one.when.first - 1);
  }
}

TEST(BucketPool, LetsParametersArriveWhenNeededWhereTheyWouldNotFit) {
  const std::vector<PooledBucket> buckets = one_bucket_a_segment(4, 1);
  const BucketPool pool = bucket_pool(buckets, buckets, {.wished = 128, .max = 64});
  EXPECT_EQ(pool.bytes, 64);
  for (const PooledBucket& one : pool.buckets) EXPECT_EQ(one.when.begin, one.when.first);
}

TEST(BucketPool, KeepsGradientsForAStepAfterTheOneThatCompletesThem) {
  std::vector<PooledBucket> gradients = one_bucket_a_segment(3, 0);
  for (PooledBucket& one : gradients) one.has_gradients = true;
  EXPECT_EQ(bucket_pool(gradients, gradients, {.wished = 128, .max = 256}).bytes, 128);
  EXPECT_EQ(bucket_pool(gradients, gradients, {.wished = 64, .max = 256}).bytes, 64);
}

TEST(BucketPool, HasLeavingBucketsWhereStayingOnesExceedIt) {
  const std::vector<std::vector<std::size_t>> needed{{0}, {1}, {0}};
  const auto buckets = [&](bool stays) {
    std::vector<PooledBucket> all;
    for (const Holding& when : holdings_of(needed, 1, stays)) {
      all.push_back({.when = when, .bytes = 64});
    }
    return all;
  };
  const PoolSize half{.wished = 128, .max = 64};
  EXPECT_EQ(bucket_pool(buckets(true), buckets(false), half).bytes, 64);
  EXPECT_EQ(bucket_pool(buckets(true), buckets(true), half).bytes, 128) << "one stays";
}

}  // namespace
}  // namespace parbench
