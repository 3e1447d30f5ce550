// Dry runs over ranks: work of other ranks, and ranks of which one fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "bench/estimates/estimate.h"
#include "kernels/base/error.h"
#include "kernels/core/ranks/remote_device.h"
#include "kernels/machine/machine.h"
#include "scenarios/framework/prepared_case.h"
#include "tests/bench/fake_scenario.h"
#include "tests/bench/ranks/imagined_ranks.h"
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

/// A task of a lane of rank 0 ("own"), or of one of rank 1, with ("beside") or without another lane
/// of rank 0.
class WorkOfARank : public fake::FakeScenario {
 public:
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override {
    auto parts = std::make_unique<CaseParts>(context);
    if (spec.strategy == "beside") static_cast<void>(add_lane(*parts, 0, StreamKind::compute));
    const LaneId lane = add_lane(*parts, spec.strategy == "own" ? 0 : 1, StreamKind::compute);
    parts->plan.add({.name = "work", .lanes = {lane}, .work = {.flops = 1e12}}, {});
    return make_case(std::move(parts));
  }
};

TEST(EstimateOfRanks, IsAsLongForThreadsOfAnotherRankAsForThoseOfThisOne) {
  test::ImaginedRanks ranks(2);
  const Machine machine;
  std::vector<std::unique_ptr<Device>> devices = machine.open("cpu:0");
  DeviceInfo info = devices.front()->info();
  info.rank = 1;
  const std::vector<int> once = info.cores;
  for (int i = 1; i < 3; ++i) info.cores.insert(info.cores.end(), once.begin(), once.end());
  devices.push_back(std::make_unique<RemoteDevice>(info, *devices.front(), true));
  Context context(std::move(devices), {.measures = false, .ranks = &ranks});
  std::vector<CaseSpec> specs;
  for (const char* strategy : {"alone", "beside", "own"}) {
    specs.push_back(fake::FakeScenario::spec(strategy, 1));
  }
  const std::vector<CaseEstimate> cases =
      estimate(WorkOfARank(), context, specs, SamplerOptions{}).cases;
  for (const CaseEstimate& one : cases) EXPECT_EQ(one.error, "") << one.name;
  const double own = cases.at(2).execution_seconds;
  EXPECT_NEAR(cases.at(0).execution_seconds, own / 3, 1e-9 * own) << "three times the threads";
  EXPECT_NEAR(cases.at(1).execution_seconds, own / 3, 1e-9 * own);
}

TEST(EstimateOfRanks, HasTheErrorOfOneRankOnAll) {
  test::run_ranks(2, [](RankTeam& team) { expect_one_failure(team, "reference"); });
}

TEST(EstimateOfRanks, HasTheErrorOfAReferenceOnAll) {
  test::run_ranks(2, [](RankTeam& team) { expect_one_failure(team, "fails"); });
}

}  // namespace
}  // namespace parbench
