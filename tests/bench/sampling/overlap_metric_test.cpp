// The achieved overlap over made-up samples of the four cases that it follows from.
#include <gtest/gtest.h>

#include <vector>

#include "bench/sampling/results.h"
#include "scenarios/framework/built_in.h"

namespace parbench {
namespace {

struct OverlapMetric : testing::Test {
  std::unique_ptr<Scenario> scenario = make_overlap();

  /// A case of that strategy, whose n-th sample was taken in round `first` + n.
  void add(const std::string& strategy, const std::vector<double>& seconds, int first = 0) {
    CaseSpec spec;
    spec.scenario = "overlap";
    spec.strategy = strategy;
    spec.parameters.set("n", std::int64_t{6});
    report::CaseResult measured;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      measured.samples.push_back({seconds[i], seconds[i], 1, first + static_cast<int>(i)});
    }
    specs.push_back(std::move(spec));
    cases.push_back(std::move(measured));
  }

  [[nodiscard]] std::vector<report::Metric> metrics_of_the_first() const {
    return metrics_of(comparisons_of(*scenario, specs)[0], cases, 0);
  }

  std::vector<CaseSpec> specs;
  std::vector<report::CaseResult> cases;
};

TEST_F(OverlapMetric, NoiseOfEqualPartsDoesNotAddUp) {
  add("overlapped", {1.5, 1.5, 1.5, 1.5, 1.5});
  add("compute", {0.9, 1.1, 1.0, 0.8, 1.2});
  add("copy", {1.1, 0.9, 1.0, 1.2, 0.8});
  add("sequential", {2, 2, 2, 2, 2});
  const auto metrics = metrics_of_the_first();
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_NEAR(metrics[0].value, 0.5, 1e-12);
  ASSERT_TRUE(metrics[0].interval.has_value());
  EXPECT_LT(metrics[0].interval->low, 0.5);
}

TEST_F(OverlapMetric, IsOfThePartThatIsShorterInMostRounds) {
  add("overlapped", {1.5, 1.5, 1.5});
  add("compute", {1.0, 1.0, 1.0});
  add("copy", {0.8, 0.8, 2.0});
  add("sequential", {1.8, 1.8, 3.0});
  const auto metrics = metrics_of_the_first();
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_NEAR(metrics[0].value, 0.3 / 0.8, 1e-12);
  EXPECT_DOUBLE_EQ(metrics[0].interval->high, 1.5 / 2.0) << "of the copy there, too";
}

TEST_F(OverlapMetric, RemarksAreOfTheRoundsThatTheValueIsOf) {
  // The machine was faster after the other cases had ended.
  add("overlapped", {3, 3, 3, 1, 1, 1, 1});
  add("compute", {1, 1, 1});
  add("copy", {1, 1, 1});
  add("sequential", {2, 2, 2});
  const auto metrics = metrics_of_the_first();
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_DOUBLE_EQ(metrics[0].value, -1);
  EXPECT_EQ(metrics[0].remark, "below 0%: overlapped takes longer than one after the other");
}

TEST_F(OverlapMetric, RemarksHaveNoNumberThatContradictsTheValue) {
  // In two of three rounds overlapping takes longer, but its median is lower.
  add("overlapped", {2.1, 1.0, 1.5});
  add("compute", {1, 1, 1});
  add("copy", {1, 1, 1});
  add("sequential", {2.0, 1.6, 1.4});
  const auto metrics = metrics_of_the_first();
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_LT(metrics[0].value, 0);
  EXPECT_EQ(metrics[0].remark,
            "below 0% in half of the rounds or more; the medians of the times do not show it");
}

}  // namespace
}  // namespace parbench
