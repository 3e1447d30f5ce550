// Which cases belong together, and what is said of the others.
#include "reports/compare/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/reports/compare/made_report.h"

namespace parbench::compare {
namespace {

using report::CaseStatus;
using report::Report;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Report one_case() { return made_report({{1.0, 1.01}}); }

/// The only match of two reports.
Match only(const Report& base, const Report& now, bool allow_different_machine = false) {
  const std::vector<Match> matches = match(base, now, allow_different_machine);
  EXPECT_THAT(matches, SizeIs(1));
  return matches.empty() ? Match{} : matches.front();
}

TEST(Match, PairsCasesOfOneIdentity) {
  const Report base = made_report({{1}, {2}});
  Report now = made_report({{1}, {2}});
  std::swap(now.cases[0], now.cases[1]);
  const std::vector<Match> matches = match(base, now);
  ASSERT_THAT(matches, SizeIs(2));
  for (const Match& found : matches) {
    EXPECT_EQ(found.state, MatchState::comparable);
    EXPECT_EQ(found.base->name, found.now->name);
    EXPECT_THAT(found.reason, IsEmpty());
  }
}

TEST(Match, DoesNotAskForHiddenParametersNamesOrOrder) {
  const Report base = one_case();
  Report now = one_case();
  now.cases[0].hidden_parameters = {{"slowdown", 5.0}};
  std::swap(now.cases[0].parameters[0], now.cases[0].parameters[1]);
  now.cases[0].name = "made/one/another order";
  EXPECT_EQ(only(base, now).state, MatchState::comparable);
}

TEST(Match, RefusesNamesakesAndSaysWhyTheyDiffer) {
  struct Change {
    void (*make)(report::CaseResult&);
    std::string message;
  };
  const std::vector<Change> changes{
      {[](report::CaseResult& c) { c.dtype = "bf16"; }, "dtype: f32 before, bf16 now"},
      {[](report::CaseResult& c) { c.graph = true; }, "captured into a graph: no before, yes now"},
      {[](report::CaseResult& c) { c.strategy = "two"; }, "strategy: one before, two now"},
      {[](report::CaseResult& c) { c.scenario = "other"; }, "scenario: made before, other now"},
      {[](report::CaseResult& c) { c.parameters[1].second = std::string("fancy"); },
       R"(parameter kind: "plain" before, "fancy" now)"},
      {[](report::CaseResult& c) { c.parameters[0].second = 0.0; },
       "parameter n: 0 before, 0.0 now"},
      {[](report::CaseResult& c) { c.parameters.pop_back(); },
       R"(parameter kind: "plain" before, none now)"},
      {[](report::CaseResult& c) { c.parameters.emplace_back("more", 0.5); },
       "parameter more: none before, 0.5 now"},
  };
  for (const Change& change : changes) {
    Report now = one_case();
    change.make(now.cases[0]);
    const Report base = one_case();
    const Match found = only(base, now);
    EXPECT_EQ(found.state, MatchState::not_comparable) << change.message;
    EXPECT_EQ(found.reason, change.message);
  }
}

TEST(Match, StatesTheOtherFormatOfACaseThatItsNameHasToo) {
  const Report base = made_report({{1}, {2}});
  Report now = made_report({{1}, {2}});
  for (report::CaseResult& c : now.cases) {
    c.dtype = "bf16";
    c.name += "/dtype:bf16";
  }
  now.cases.push_back(made_case(1, {1}));  // the same as the second of BASE
  const std::vector<Match> matches = match(base, now);
  ASSERT_THAT(matches, SizeIs(3));
  EXPECT_EQ(matches[0].state, MatchState::not_comparable);
  EXPECT_EQ(matches[0].reason, "dtype: f32 before, bf16 now");
  EXPECT_EQ(matches[0].now, now.cases.data());
  EXPECT_EQ(matches[1].state, MatchState::comparable);
  EXPECT_EQ(matches[2].state, MatchState::only_now) << "the other is taken";
}

TEST(Match, PairsACaseWithItsEqualOnlyEvenIfAnotherHasItsName) {
  const Report base = made_report({{1}, {2}});
  Report now = one_case();
  now.cases[0].name = base.cases[1].name;
  const std::vector<Match> matches = match(base, now);
  ASSERT_THAT(matches, SizeIs(2));
  EXPECT_EQ(matches[0].state, MatchState::comparable);
  EXPECT_EQ(matches[0].now, now.cases.data());
  EXPECT_EQ(matches[1].state, MatchState::only_base);
}

TEST(Match, ListsCasesOfOneSide) {
  const Report base = made_report({{1}, {2}});
  Report now = made_report({{1}, {2}, {3}});
  now.cases.erase(now.cases.begin());
  const std::vector<Match> matches = match(base, now);
  ASSERT_THAT(matches, SizeIs(3));
  EXPECT_EQ(matches[0].state, MatchState::only_base);
  EXPECT_EQ(matches[0].any().name, "made/one/n:0");
  EXPECT_EQ(matches[1].state, MatchState::comparable);
  EXPECT_EQ(matches[2].state, MatchState::only_now);
  EXPECT_EQ(matches[2].any().name, "made/one/n:2");
}

TEST(Match, RefusesAnotherMachineUnlessItIsAllowed) {
  const Report base = one_case();
  Report now = one_case();
  now.machine.cores_allowed = {0, 1, 2, 3};
  EXPECT_EQ(only(base, now).state, MatchState::not_comparable);
  EXPECT_EQ(
      only(base, now).reason,
      "another machine (--allow-different-machine compares): number of cores: 2 before, 4 now");
  EXPECT_EQ(only(base, now, true).state, MatchState::comparable);
  now.machine = base.machine;
  now.machine.host = "renamed";
  EXPECT_EQ(only(base, now).state, MatchState::comparable);
}

TEST(Match, RefusesRunsForAProfiler) {
  Report profile = one_case();
  profile.options = {{"for-profiler", std::string("true")}};
  EXPECT_EQ(only(one_case(), profile).state, MatchState::not_comparable);
  EXPECT_THAT(only(one_case(), profile).reason, HasSubstr("NEW was measured for a profiler"));
  EXPECT_THAT(only(profile, one_case()).reason, HasSubstr("BASE was measured for a profiler"));
  profile.options.front().second = std::string("false");
  EXPECT_EQ(only(one_case(), profile).state, MatchState::comparable);
}

TEST(Match, SaysWhichSideHasNoTime) {
  struct Trouble {
    CaseStatus status;
    std::string word;
  };
  for (const auto& [status, word] : {Trouble{CaseStatus::failed, "failed"},
                                     {CaseStatus::skipped, "skipped"},
                                     {CaseStatus::not_run, "not run"}}) {
    Report without = one_case();
    without.cases[0].status = status;
    without.cases[0].error = "a reason";
    EXPECT_EQ(only(without, one_case()).state, MatchState::not_measured);
    EXPECT_EQ(only(without, one_case()).reason, word + " in BASE: a reason");
    const bool failed = status == CaseStatus::failed;
    EXPECT_EQ(only(one_case(), without).state,
              failed ? MatchState::failed_now : MatchState::not_measured);
    EXPECT_EQ(only(one_case(), without).reason, word + " in NEW: a reason");
  }
}

TEST(Match, SaysWhyACaseWasNotRun) {
  Report without = one_case();
  report::CaseResult& c = without.cases[0];
  c.status = CaseStatus::not_run;
  const auto reason = [&](std::string_view stopped_because) {
    c.stopped_because = stopped_because;
    return only(one_case(), without).reason;
  };
  EXPECT_EQ(reason(report::total_time),
            "not run in NEW: the time limit of the run was reached (--max-total-time)");
  EXPECT_EQ(reason(report::equal_plan), "not run in NEW: another case has the same plan");
  EXPECT_EQ(reason("device lost"), "not run in NEW: a device was lost in another case");
  EXPECT_EQ(reason(""), "not run in NEW: the run ended before");
}

TEST(Match, AFailureInTheNewerReportGoesBeforeEverythingElse) {
  Report failed = one_case();
  failed.cases[0].status = CaseStatus::failed;
  failed.machine.cpu_model = "another";
  EXPECT_EQ(only(one_case(), failed).state, MatchState::failed_now);
  EXPECT_EQ(only(failed, failed).state, MatchState::failed_now) << "though it failed before";
  failed.cases[0].dtype = "bf16";
  EXPECT_EQ(only(one_case(), failed).state, MatchState::failed_now);
  EXPECT_EQ(only(made_report({}), failed).state, MatchState::failed_now);
}

TEST(Match, TimesThatHaveNoLogarithmAreNone) {
  for (const double seconds : {0.0, -1.0, std::nan("")}) {
    const Report broken = made_report({{1.0, seconds}});
    EXPECT_EQ(only(one_case(), broken).state, MatchState::not_measured);
    EXPECT_EQ(only(one_case(), broken).reason, "a process without a usable time in NEW");
  }
  Report empty = one_case();
  empty.cases[0].samples.clear();
  EXPECT_EQ(only(empty, one_case()).reason, "no samples in BASE");
}

TEST(UniteProgram, LetsTwoProgramsWithGoogleBenchmarkHaveTwoNames) {
  Report base = made_report({steady(1)});
  Report now = base;
  base.cases[0].scenario = "old_bench";
  unite_programs(base, now);
  EXPECT_EQ(base.cases[0].scenario, "old_bench") << "scenarios of parbench differ";
  base.measured_by = now.measured_by = "Google Benchmark";
  unite_programs(base, now);
  EXPECT_EQ(base.cases[0].scenario, "made");
  Report two = now;
  two.cases.push_back(two.cases[0]);
  two.cases[1].scenario = "another_bench";
  unite_programs(two, now);
  EXPECT_EQ(two.cases[1].scenario, "another_bench") << "which of the two is the other's?";
  now.cases.clear();
  unite_programs(base, now);
  EXPECT_EQ(base.cases[0].scenario, "made");
}

}  // namespace
}  // namespace parbench::compare
