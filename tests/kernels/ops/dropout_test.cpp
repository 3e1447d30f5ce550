// Which elements dropout keeps: their share, and that it depends on the position in the batch
// alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/base/error.h"
#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

class DropoutMask : public LaneTest {
 protected:
  /// The result for ones.
  [[nodiscard]] std::vector<double> of_ones(const Dropout& desc) const {
    Trial trial(bench(), desc);
    const auto count = static_cast<std::size_t>(element_count(desc.shape));
    return trial.run({{"source", std::vector<double>(count, 1.0)}})["destination"];
  }
};

TEST_P(DropoutMask, KeepsAndScalesTheExpectedShare) {
  const std::vector<double> got = of_ones({.shape = {40, 1000}, .probability = 0.75F, .seed = 9});
  const auto kept = std::count(got.begin(), got.end(), 4.0);
  EXPECT_EQ(std::count(got.begin(), got.end(), 0.0) + kept, 40000);
  EXPECT_NEAR(static_cast<double>(kept) / 40000, 0.25, 0.01);  // four standard deviations
}

TEST_P(DropoutMask, OfMicroBatchesIsThatOfTheBatch) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    try {
      const Dropout batch{.shape = {8, 21}, .dtype = dtype, .probability = 0.5F, .seed = 4};
      const std::vector<double> whole = of_ones(batch);
      std::vector<double> parts;
      for (const std::int64_t sample : {0, 3, 6}) {
        Dropout part = batch;
        part.shape[0] = sample == 6 ? 2 : 3;
        part.first = sample * 21;
        const std::vector<double> more = of_ones(part);
        parts.insert(parts.end(), more.begin(), more.end());
      }
      EXPECT_EQ(parts, whole);
    } catch (const Unsupported&) {
      EXPECT_EQ(dtype, DType::bf16) << "only bf16 may be missing on a machine";
    }
  }
}

TEST_P(DropoutMask, DiffersBetweenSubsequencesAndSeeds) {
  const Dropout desc{.shape = {100}, .probability = 0.5F, .seed = 4, .subsequence = 1};
  Dropout other_layer = desc;
  other_layer.subsequence = 2;
  Dropout other_seed = desc;
  other_seed.seed = 5;
  EXPECT_NE(of_ones(desc), of_ones(other_layer));
  EXPECT_NE(of_ones(desc), of_ones(other_seed));
}

INSTANTIATE_TEST_SUITE_P(Lanes, DropoutMask, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test
