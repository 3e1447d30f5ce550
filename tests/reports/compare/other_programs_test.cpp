// Verdicts on what programs with Google Benchmark have measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/compare/comparison.h"
#include "reports/compare/words.h"
#include "tests/reports/compare/made_report.h"

namespace parbench::compare {
namespace {

using report::Report;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Comparison compared_runs(const Report& base, const Report& now) {
  return compare({"before.json", base}, {"after.json", now});
}

TEST(OtherPrograms, PutsDifferentCircumstancesAheadOfTheVerdict) {
  Report base = made_report({steady(1)});
  Report now = made_report({steady(1.2)});
  base.machine.circumstances = {{"library_build_type", "release"}, {"cpu_scaling_enabled", "true"}};
  now.machine.circumstances = {
      {"library_build_type", "debug"}, {"cpu_scaling_enabled", "true"}, {"aslr_enabled", "true"}};
  const Comparison differ = compared_runs(base, now);
  EXPECT_THAT(sentence(differ), StartsWith("BASE and NEW were measured in different circumstances "
                                           "(library_build_type: release before, debug now). "
                                           "1 of 1 case regressed"));
  ASSERT_EQ(differ.notes.size(), 3U);
  EXPECT_THAT(differ.notes[0], StartsWith("NEW: Google Benchmark's library is a debug build"));
  EXPECT_THAT(differ.notes[1], StartsWith("BASE and NEW: the processor changes its clock"));
  EXPECT_THAT(differ.notes[2], StartsWith("NEW: memory has another layout in every run"));
  now.machine.circumstances = base.machine.circumstances;
  EXPECT_THAT(sentence(compared_runs(base, now)), StartsWith("1 of 1 case regressed"));
  base.machine.circumstances = {{"library_build_type", "release"}};
  now.machine.circumstances = {{"library_build_type", "release"}};
  EXPECT_THAT(compared_runs(base, now).notes, IsEmpty());
}

TEST(OtherPrograms, SaysWhatIsUnknownOfMachines) {
  Report base = made_report({steady(1)});
  Report now = base;
  base.devices.clear();
  now.devices.clear();
  now.machine.cpu_model = report::unknown_cpu;
  now.machine.cores_allowed.clear();
  now.machine.memory_bytes = 0;
  const Comparison comparison = compared_runs(base, now);
  EXPECT_EQ(comparison.rows[0].verdict(), Verdict::same);
  EXPECT_EQ(comparison.scenarios[0].machine_unknown, "CPU and number of cores unknown in NEW");
  EXPECT_THAT(facts_text(comparison.scenarios[0]),
              HasSubstr("not compared: CPU and number of cores unknown in NEW"));
  EXPECT_EQ(compared_runs(now, now).scenarios[0].machine_unknown,
            "CPU and number of cores unknown in BASE, CPU and number of cores unknown in NEW");
  EXPECT_EQ(compared_runs(base, base).scenarios[0].machine_unknown, "");
}

TEST(OtherPrograms, AKnownSpreadDecidesSingleSamples) {
  Report base = made_report({{1.0}});
  Report now = made_report({{1.29}});
  for (Report* report : {&base, &now}) report->cases[0].samples.resize(1);
  EXPECT_EQ(compared_runs(base, now).rows[0].verdict(), Verdict::undecided);
  const auto verdict = [&](double spread) {
    const Options options{.rule = {}, .known_spread = spread};
    return compare({"a", base}, {"b", now}, options).rows[0].verdict();
  };
  EXPECT_EQ(verdict(0.05), Verdict::regressed);
  EXPECT_EQ(verdict(0.2), Verdict::undecided);
}

TEST(OtherPrograms, PassesNotesOnFilesOn) {
  const Report base = made_report({steady(1)});
  Report now = base;
  now.file_notes = {{"commas were left out", "line 3", 2}};
  EXPECT_THAT(compared_runs(base, now).notes,
              ElementsAre("NEW: commas were left out: line 3 (and 1 more)."));
}

}  // namespace
}  // namespace parbench::compare
