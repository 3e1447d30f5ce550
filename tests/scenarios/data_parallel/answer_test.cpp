// The answer of scenario data-parallel: strategies, memory and weak scaling.
#include "scenarios/data_parallel/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "scenarios/data_parallel/data_parallel.h"
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
    one.speedup = {speedup, report::Interval{speedup - 0.05, speedup + 0.05, 0.97}};
  }
  for (const double size : mebibytes) one.memory.push_back(size * mebibyte);
  return one;
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
  return answer_of_data_parallel(*make_data_parallel(), outcomes, known);
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

TEST(DataParallelAnswer, NamesTheStrategyThatNeedsLeast) {
  EXPECT_THAT(
      answer({measured("single", 2.0, 0, {380, 0}), measured("tower", 1.0, 2.0, {640, 390}),
              measured("all-reduce-buckets", 1.25, 1.6, {400, 396}, {{"bucket", std::int64_t{5}}})})
          .text,
      HasSubstr("tower holds 640 MiB on its fullest device, one device 380 MiB; least "
                "all-reduce-buckets with bucket 5: 400 MiB in 1.25× its time."));
}

TEST(DataParallelAnswer, DistinguishesWeakScaling) {
  CaseOutcome weak = measured("all-reduce", 1.25, 0, {400, 400}, {{"scaling", "weak"}});
  weak.metrics["scaling efficiency"] = {0.8, report::Interval{0.75, 0.85, 0.97}};
  const std::string text =
      "With 20 samples on each of 2 devices, all-reduce reaches 80% (75–85%) of linear scaling.";
  const CaseOutcome single = measured("single", 1.0, 0, {380, 0});
  const Conclusion alone = answer({single, weak});
  EXPECT_EQ(alone.text, text);
  EXPECT_TRUE(alone.is_answered);
  EXPECT_THAT(answer({single, measured("tower", 0.5, 2.0, {640, 390}), weak}).text,
              testing::AllOf(HasSubstr("Use tower"), HasSubstr(text)));
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
