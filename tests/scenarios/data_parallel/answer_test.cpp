// The answer of scenario data-parallel: strategies, memory and weak scaling.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "scenarios/framework/built_in.h"
#include "tests/scenarios/answers/rivals.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;

constexpr double mebibyte = 1 << 20;

/// A case on two devices; its speedup has an interval of 0.1.
CaseOutcome measured(const std::string& strategy, double seconds, double speedup,
                     const std::vector<double>& mebibytes,
                     const std::vector<Parameter>& parameters = {}) {
  CaseOutcome one;
  one.spec.scenario = "data-parallel";
  one.spec.strategy = strategy;
  one.spec.parameters.set("batch", std::int64_t{20});
  if (strategy != "single") one.spec.parameters.set("devices", std::int64_t{2});
  for (const Parameter& parameter : parameters)
    one.spec.parameters.set(parameter.name, parameter.value);
  one.median_seconds = seconds;
  if (speedup > 0) {
    one.speedup = {speedup, Interval{speedup - 0.05, speedup + 0.05, 0.97}};
  }
  for (const double size : mebibytes) one.memory.push_back(size * mebibyte);
  return one;
}

CaseOutcome weakly_scaling(double efficiency, const std::vector<Parameter>& parameters = {}) {
  CaseOutcome weak = measured("all-reduce", 1.25, 0, {400, 400}, parameters);
  weak.spec.parameters.set("scaling", "weak");
  weak.metrics["scaling efficiency"] = {efficiency,
                                        Interval{efficiency - 0.05, efficiency + 0.05, 0.97}};
  return weak;
}

/// Samples are known of these outcomes alone, as in a run.
Conclusion answer(const std::vector<CaseOutcome>& outcomes) {
  const PossiblyFastest decide = within(0.01);
  const auto known = [&](const std::vector<const CaseOutcome*>& some) {
    for (const CaseOutcome* one : some) {
      EXPECT_GE(one, outcomes.data());
      EXPECT_LT(one, outcomes.data() + outcomes.size());
    }
    return decide(some);
  };
  return make_data_parallel()->answer(outcomes, known);
}

TEST(DataParallelAnswer, NamesTheMemoryOfTheFullestDevice) {
  EXPECT_EQ(
      answer({measured("single", 2.0, 0, {380, 0}), measured("all-reduce", 1.0, 2.0, {400, 396}),
              measured("tower", 1.25, 1.6, {640, 390})})
          .text,
      "Use all-reduce: 2.00× as fast as one device (1.95–2.05). all-reduce holds 400 MiB on its "
      "fullest "
      "device, one device 380 MiB.");
}

TEST(DataParallelAnswer, KnowsNoFullestOfOneDevice) {
  EXPECT_THAT(
      answer({measured("single", 1.0, 0, {380, 0}), measured("all-reduce", 1.25, 0.8, {400, 396})})
          .text,
      testing::EndsWith(" One device holds 380 MiB."));
}

TEST(DataParallelAnswer, NamesTheStrategyThatNeedsLeast) {
  EXPECT_THAT(
      answer({measured("single", 2.0, 0, {380, 0}), measured("tower", 1.0, 2.0, {640, 390}),
              measured("all-reduce-buckets", 1.25, 1.6, {400, 396}, {{"bucket", std::int64_t{5}}})})
          .text,
      HasSubstr("tower holds 640 MiB on its fullest device, one device 380 MiB; least memory: "
                "all-reduce-buckets with bucket 5, 400 MiB a device in 1.25× the time."));
  EXPECT_THAT(
      answer({measured("single", 2.0, 0, {380, 0}), measured("tower", 1.0, 2.0, {440, 390}),
              measured("all-reduce-buckets", 1.25, 1.6, {400, 396}, {{"bucket", std::int64_t{5}}})})
          .text,
      testing::EndsWith("one device 380 MiB."))
      << "9% less";
}

TEST(DataParallelAnswer, DistinguishesWeakScaling) {
  const CaseOutcome weak = weakly_scaling(0.8);
  const std::string text =
      "With 20 samples on each of 2 devices, all-reduce reaches 80% (75–85%) of linear scaling.";
  const CaseOutcome single = measured("single", 1.0, 0, {380, 0});
  const Conclusion alone = answer({single, weak});
  EXPECT_EQ(alone.text, text);
  EXPECT_TRUE(alone.is_answered);
  EXPECT_THAT(answer({single, measured("tower", 0.5, 2.0, {640, 390}), weak}).text,
              testing::AllOf(HasSubstr("Use tower"), HasSubstr(text)));
}

TEST(DataParallelAnswer, ComparesAllCoresWithDivisionsOfTheSameBatchAlone) {
  const CaseOutcome single = measured("single", 1.0, 0, {380, 0});
  const CaseOutcome whole = measured("all-cores", 0.6, 1.7, {380});
  const CaseOutcome weak = weakly_scaling(0.8);
  EXPECT_EQ(answer({single, whole, weak}).text,
            "With 20 samples on each of 2 devices, all-reduce reaches 80% (75–85%) of linear "
            "scaling.");
  EXPECT_THAT(answer({single, whole}).text, HasSubstr("Use the whole GPU: 1.70×"));
  EXPECT_THAT(answer({single, whole, measured("tower", 0.5, 2.0, {640, 390}), weak}).text,
              testing::AllOf(HasSubstr("Use tower"), HasSubstr("The whole GPU: 1.70×"),
                             HasSubstr("reaches 80%")));
}

TEST(DataParallelAnswer, NamesTheWeakScalingOfEachModel) {
  EXPECT_EQ(
      answer({weakly_scaling(0.8, {{"model", "mlp"}}), weakly_scaling(0.9, {{"model", "gpt"}}),
              weakly_scaling(0.85, {{"model", "mlp"}, {"bucket", std::int64_t{5}}})})
          .text,
      "With model gpt and 20 samples on each of 2 devices, all-reduce reaches 90% (85–95%) of "
      "linear scaling. With model mlp and 20 samples on each of 2 devices, all-reduce with bucket "
      "5 "
      "reaches 85% (80–90%) of linear scaling.");
}

TEST(DataParallelAnswer, ComparesNoEqualPlans) {
  const auto of_one_sample = [](CaseOutcome one) {
    one.spec.parameters.set("batch", std::int64_t{1});
    return one;
  };
  const Conclusion made = answer({of_one_sample(measured("single", 1.0, 0, {380, 0})),
                                  of_one_sample(measured("tower", 0.9, 1.1, {380, 0}))});
  EXPECT_FALSE(made.is_answered);
  EXPECT_THAT(made.text, HasSubstr("a single sample"));
}

}  // namespace
}  // namespace parbench::test
