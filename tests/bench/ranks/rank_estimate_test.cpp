// Dry runs over ranks of which one fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "bench/estimates/estimate.h"
#include "kernels/base/error.h"
#include "tests/bench/fake_scenario.h"
#include "tests/bench/ranks/linked_ranks.h"
#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// Cases whose plans need what rank 0 measures; planning some of them fails on rank 1.
class FailingOnRankOne : public fake::FakeScenario {
 public:
  explicit FailingOnRankOne(int rank) : rank_(rank) {
    reference_strategy = "reference";
    for (const char* strategy : {"reference", "fails", "works", "base"}) behaviours[strategy] = {};
  }
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override {
    if (spec.strategy == "fails" && rank_ == 1) throw Error("planted");
    (void)context.measured("costs of " + spec.name(), 0, [] { return std::vector{1.0}; });
    return FakeScenario::prepare(spec, context);
  }

 private:
  int rank_;
};

void expect_one_failure(RankTeam& team, const std::string& reference) {
  FailingOnRankOne scenario(team.rank());
  scenario.reference_strategy = reference;
  Context context = test::fake_context(1, {.measures = false, .ranks = &team});
  test::fake(context, 0).computes_nothing = true;
  const std::vector<CaseSpec> specs{fake::FakeScenario::spec("works", 1),
                                    fake::FakeScenario::spec("fails", 1),
                                    fake::FakeScenario::spec("base", 1)};
  const RunEstimate run = estimate(scenario, context, specs, SamplerOptions{}, 1, false,
                                   [&](const std::function<void()>& work) { team.together(work); });
  ASSERT_THAT(run.cases, SizeIs(3));
  const bool fails_all = reference == "fails";
  EXPECT_THAT(run.cases[1].error, HasSubstr("planted")) << "rank " << team.rank();
  for (const std::size_t other : {0U, 2U}) {
    EXPECT_EQ(!run.cases[other].error.empty(), fails_all) << run.cases[other].error;
  }
}

TEST(EstimateOfRanks, HasTheErrorOfOneRankOnAll) {
  test::run_ranks(2, [](RankTeam& team) { expect_one_failure(team, "reference"); });
}

TEST(EstimateOfRanks, HasTheErrorOfAReferenceOnAll) {
  test::run_ranks(2, [](RankTeam& team) { expect_one_failure(team, "fails"); });
}

}  // namespace
}  // namespace parbench
