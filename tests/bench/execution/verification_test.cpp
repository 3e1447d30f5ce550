// Verification finds every way in which a result can be wrong, and says where.
#include "bench/execution/verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"

namespace parbench {
namespace {

using testing::HasSubstr;

constexpr Tolerance one_percent{0.01, 0.0};

report::Verification compare(const OutputValues& got, const OutputValues& want,
                             const Tolerance& tolerance) {
  return parbench::compare(as_outputs(got), want, tolerance);
}

TEST(Compare, EqualOutputsPass) {
  const OutputValues values{{"loss", {1.5F}}, {"weights", {1.0F, -2.0F}}};
  const report::Verification result = compare(values, values, one_percent);
  EXPECT_TRUE(result.passed);
  EXPECT_DOUBLE_EQ(result.largest_error, 0);
  EXPECT_THAT(result.detail, HasSubstr("3 values of 2 outputs"));
}

TEST(Compare, ErrorIsRelativeToTheTolerance) {
  const auto result = compare({{"y", {100.5F}}}, {{"y", {100.0F}}}, one_percent);
  EXPECT_TRUE(result.passed);
  EXPECT_NEAR(result.largest_error, 0.5, 1e-4);
}

TEST(Compare, TooLargeAnErrorFailsAndSaysWhere) {
  const auto result =
      compare({{"y", {1.0F, 1.0F, 1.3F}}}, {{"y", {1.0F, 1.0F, 1.0F}}}, one_percent);
  EXPECT_FALSE(result.passed);
  EXPECT_NEAR(result.largest_error, 30, 0.01);
  EXPECT_THAT(result.detail, HasSubstr("y[2] is 1.3"));
}

TEST(Compare, SmallElementsAreMeasuredAgainstTheTensor) {
  // 0.05 off at an element of zero, in a tensor whose root mean square is 10/√2.
  const OutputValues want{{"y", {10.0F, 0.0F}}};
  EXPECT_TRUE(compare({{"y", {10.0F, 0.05F}}}, want, one_percent).passed);
  EXPECT_FALSE(compare({{"y", {10.0F, 0.08F}}}, want, one_percent).passed);
}

TEST(Compare, WhatOtherRoundingsChangeIsAccepted) {
  const OutputValues want = {{"y", {3, 4, 0, 0}}};
  Sensitivities sensitivities;
  sensitivities["y"].add(std::vector<float>{3, 4.3F, 0, 0}, want.at("y"));
  const auto compared = [&](std::vector<float> got) {
    return parbench::compare(as_outputs({{"y", std::move(got)}}), want, one_percent, sensitivities);
  };
  EXPECT_FALSE(compare({{"y", {3, 4, 0.5F, 0}}}, want, one_percent).passed);
  EXPECT_TRUE(compared({3, 4, 0.5F, 0}).passed) << "of a block, the norm counts: twice 0.3";
  const auto far = compared({3, 4, 0.5F, 0.5F});
  EXPECT_FALSE(far.passed);
  EXPECT_THAT(far.detail, HasSubstr("y[2] is 0.5, the reference has 0"));
  EXPECT_FALSE(compared({3, 4, 0, std::numeric_limits<float>::quiet_NaN()}).passed);
}

TEST(Compare, RoundingsCountInTheBlockThatTheyChange) {
  const OutputValues want = {{"y", std::vector<float>(2 * Sensitivity::size, 1.0F)}};
  std::vector<float> first = want.at("y");
  first[10] = 2;
  std::vector<float> second = want.at("y");
  second[Sensitivity::size] = 2;
  Sensitivities sensitivities;
  sensitivities["y"].add(first, want.at("y"));
  const auto passes = [&](const std::vector<float>& got) {
    return parbench::compare(as_outputs({{"y", got}}), want, one_percent, sensitivities).passed;
  };
  EXPECT_TRUE(passes(first));
  EXPECT_FALSE(passes(second));
}

TEST(Compare, WithoutToleranceOnlyEqualPasses) {
  const OutputValues want{{"y", {0.0F}}};
  const Tolerance exact{0, 0};
  EXPECT_TRUE(compare(want, want, exact).passed);
  const auto result = compare({{"y", {1e-30F}}}, want, exact);
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(std::isfinite(result.largest_error));
  EXPECT_EQ(result.detail, "y[0] is 1e-30, the reference has 0; both must be equal");
  Sensitivities sensitivities;
  sensitivities["y"].add(std::vector{1.0F}, want.at("y"));
  EXPECT_FALSE(parbench::compare(as_outputs({{"y", {1e-30F}}}), want, exact, sensitivities).passed);
}

TEST(Compare, NotANumberFailsOnEitherSide) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {nan, infinity, -infinity}) {
    const auto got = compare({{"y", {1.0F, bad}}}, {{"y", {1.0F, 1.0F}}}, one_percent);
    EXPECT_FALSE(got.passed);
    EXPECT_TRUE(std::isfinite(got.largest_error));
    EXPECT_THAT(got.detail, HasSubstr("y[1]"));
    EXPECT_FALSE(compare({{"y", {1.0F}}}, {{"y", {bad}}}, one_percent).passed);
    EXPECT_FALSE(compare({{"y", {bad}}}, {{"y", {bad}}}, one_percent).passed);
  }
}

/// Long enough for several blocks, with a rest; every value differs from its neighbours.
std::vector<float> long_tensor() {
  std::vector<float> values(5000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0F + static_cast<float>(i % 7);
  return values;
}

TEST(Compare, FindsTheLargestErrorOfALongTensorWhereverItIs) {
  const OutputValues want{{"y", long_tensor()}};
  for (const std::size_t index : {0U, 1023U, 1024U, 3000U, 4999U}) {
    OutputValues got = want;
    for (const std::size_t smaller : {100U, 2500U, 4998U}) got["y"][smaller] += 0.01F;
    got["y"][index] += 1.0F;
    const auto result = compare(got, want, one_percent);
    EXPECT_FALSE(result.passed);
    EXPECT_THAT(result.detail, HasSubstr("y[" + std::to_string(index) + "] is"));
    EXPECT_GT(result.largest_error, 10);
  }
}

TEST(Compare, FindsWhatIsNoNumberInALongTensor) {
  const OutputValues want{{"y", long_tensor()}};
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    OutputValues one = want;
    one["y"][0] += 0.05F;  // an error from which on the others are measured
    one["y"][4100] = bad;
    EXPECT_THAT(compare(one, want, one_percent).detail, HasSubstr("y[4100]"));
    EXPECT_THAT(compare(want, one, one_percent).detail, HasSubstr("y[4100]"));
    EXPECT_FALSE(compare(one, one, one_percent).passed);
  }
}

TEST(Compare, MissingUnexpectedAndMissizedOutputsFail) {
  const OutputValues want{{"a", {1.0F}}, {"b", {2.0F, 3.0F}}};
  EXPECT_THAT(compare({{"a", {1.0F}}}, want, {}).detail, HasSubstr("b is missing"));
  EXPECT_THAT(compare({{"a", {1.0F}}, {"b", {2.0F}}}, want, {}).detail,
              HasSubstr("b has 1 values, the reference has 2"));
  EXPECT_THAT(compare({{"a", {1.0F}}, {"b", {2.0F, 3.0F}}, {"c", {}}}, want, {}).detail,
              HasSubstr("c is not in the reference"));
  EXPECT_FALSE(compare({}, want, {}).passed);
}

TEST(Compare, AReferenceWithoutOutputsVerifiesNothing) { EXPECT_FALSE(compare({}, {}, {}).passed); }

TEST(Compare, AnOutputWithoutValuesVerifiesNothing) {
  const OutputValues values{{"a", {1.0F}}, {"b", {}}};
  const auto result = compare(as_outputs(values), values, {});
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(result.detail, HasSubstr("output b has no values"));
}

class CheckedCase : public Case {
 public:
  explicit CheckedCase(std::optional<std::string> verdict, std::string checked = "the sum")
      : verdict_(std::move(verdict)), checked_(std::move(checked)) {}
  [[nodiscard]] const Plan& plan() const override { return plan_; }
  void reset() override {}
  std::vector<Output> outputs() override {
    std::vector<Output> outputs;
    for (const std::string& name : names) {
      outputs.push_back({name, [] { return std::vector<float>{4.0F}; }});
    }
    return outputs;
  }
  std::optional<std::string> check() override { return verdict_; }
  [[nodiscard]] std::string checked() const override { return checked_; }
  [[nodiscard]] Amount amount() const override { return {}; }

  std::vector<std::string> names = {"y"};

 private:
  Plan plan_;
  std::optional<std::string> verdict_;
  std::string checked_;
};

TEST(ReadOutputs, ByName) {
  CheckedCase subject(std::nullopt);
  EXPECT_EQ(read_outputs(subject), (OutputValues{{"y", {4.0F}}}));
}

TEST(Compare, TwoOfOneNameAreAnError) {
  const OutputValues values{{"a", {1.0F}}};
  std::vector<Output> outputs = as_outputs(values);
  outputs.push_back(outputs.front());
  const auto result = compare(outputs, values, {});
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(result.detail, HasSubstr("two outputs are named 'a'"));
}

TEST(ReadOutputs, TwoOfOneNameAreAnError) {
  CheckedCase subject(std::nullopt);
  subject.names = {"x", "y", "y"};
  try {
    static_cast<void>(read_outputs(subject));
    FAIL() << "one of the two is not compared";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("two outputs are named 'y'"));
  }
}

TEST(ReadOutputs, IntoMemoryThatIsThereAlready) {
  CheckedCase subject(std::nullopt);
  OutputValues former{{"y", {1.0F, 2.0F, 3.0F}}, {"z", {1.0F}}};
  const float* const address = former["y"].data();
  const OutputValues values = read_outputs(subject, std::move(former));
  EXPECT_EQ(values, (OutputValues{{"y", {4.0F}}}));
  EXPECT_EQ(values.at("y").data(), address);
}

TEST(WithCheck, IsTheWholeVerdictWithoutAReference) {
  CheckedCase good(std::nullopt);
  CheckedCase bad("sum is 3, not 4");
  const auto passed = with_check(good, {});
  EXPECT_TRUE(passed.passed);
  EXPECT_EQ(passed.against, "the sum");
  const auto failed = with_check(bad, {});
  EXPECT_FALSE(failed.passed);
  EXPECT_EQ(failed.detail, "sum is 3, not 4");
}

TEST(WithCheck, NeitherReferenceNorCheckVerifiesNothing) {
  CheckedCase subject(std::nullopt, "");
  const auto result = with_check(subject, {});
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(result.detail, HasSubstr("neither a reference nor a check"));
}

TEST(WithCheck, SaysWhatWasCheckedBesideTheComparison) {
  CheckedCase good(std::nullopt);
  EXPECT_EQ(with_check(good, {"a/b", true, 0.25, "compared"}).detail,
            "compared; also checked: the sum");
  CheckedCase without(std::nullopt, "");
  const auto compared_only = with_check(without, {"a/b", true, 0.25, "compared"});
  EXPECT_TRUE(compared_only.passed);
  EXPECT_EQ(compared_only.detail, "compared");
}

TEST(WithCheck, TurnsAPassedComparisonIntoAFailure) {
  CheckedCase bad("sum is 3, not 4");
  const auto result = with_check(bad, {"a/b", true, 0.25, "compared"});
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.against, "a/b");
  EXPECT_EQ(result.detail, "sum is 3, not 4");
}

TEST(WithCheck, KeepsWhyTheComparisonFailed) {
  CheckedCase bad("sum is 3, not 4");
  const auto result = with_check(bad, {"a/b", false, 7, "y[0] is 4"});
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.detail, "y[0] is 4");
}

}  // namespace
}  // namespace parbench
