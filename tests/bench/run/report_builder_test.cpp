// What a report says of the devices of a scenario.
#include "bench/run/report_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "reports/io/file.h"
#include "reports/io/peak_cache.h"
#include "reports/model/fingerprint.h"
#include "tests/bench/fake_scenario.h"
#include "tests/bench/sampling/session_reports.h"
#include "tests/scenarios/fake_device.h"
#include "tests/support/control_groups.h"
#include "tests/support/temporary_folder.h"

namespace parbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(ReportBuilder, TakesPeaksFromTheCacheAndNamesDamagedFiles) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::make_unique<test::FakeDevice>(0));
  devices.push_back(std::make_unique<test::FakeDevice>(1));
  fake::FakeScenario scenario;
  ReportBuilder report_builder("unused.json", {}, Machine(std::vector<std::unique_ptr<Backend>>{}),
                               {}, {});
  report_builder.add_devices(scenario, devices);
  const report::Report& report = report_builder.report();

  const test::TemporaryFolder folder;
  const report::PeakCache cache(folder / "peaks");
  EXPECT_THAT(report_builder.add_peaks(cache), IsEmpty());
  EXPECT_THAT(report.devices[0].peaks, IsEmpty());

  const report::Fingerprint alone = report::fingerprint(report.machine, report.devices[0]);
  const report::Peak peak{"memory", 2e10, "B/s", {}, "2026-01-02T03:04:05Z"};
  cache.check_writable(alone);
  cache.keep(alone, {peak});
  EXPECT_THAT(report_builder.add_peaks(cache), IsEmpty());
  EXPECT_THAT(report.devices[0].peaks, ElementsAre(peak));
  EXPECT_THAT(report.devices[1].peaks, ElementsAre(peak)) << "a device of the same kind";
  fake::keep_for_validation(report);

  report::write_file(cache.file_of(alone), "{");
  EXPECT_THAT(report_builder.add_peaks(cache),
              ElementsAre(HasSubstr(cache.file_of(alone).string())))
      << "once for both devices";
  EXPECT_THAT(report.devices[0].peaks, IsEmpty());
}

/// Of a run that began a second before, with a quota.
ReportBuilder builder_of(const test::MadeControlGroups& groups, const RunOptions& options) {
  return {"unused.json",
          options,
          Machine(std::vector<std::unique_ptr<Backend>>{}),
          {},
          {},
          steady_seconds() - 1,
          CpuQuota(groups.root())};
}

TEST(ReportBuilder, NamesTheQuotaAndWhatItWithheldOfTheWholeRun) {
  test::MadeControlGroups groups;
  groups.make_job(0.5);
  groups.set_core_time(100, 100);
  ReportBuilder builder = builder_of(groups, {});
  EXPECT_EQ(builder.report().machine.cpu_quota, 0.5);
  groups.set_core_time(101, 103);
  builder.refresh(true);
  EXPECT_DOUBLE_EQ(builder.report().quota_lost, 0.75);
  fake::keep_for_validation(builder.report());

  RunOptions resuming;
  report::Report earlier;
  earlier.duration_seconds = 1e9;  // so that the time of this part does not count
  earlier.quota_lost = 0.25;
  resuming.resumed = std::make_shared<const report::Report>(earlier);
  ReportBuilder second = builder_of(groups, resuming);
  groups.set_core_time(102, 106);
  second.refresh(true);
  EXPECT_NEAR(second.report().quota_lost, 0.25, 1e-6);

  groups.make_job(1e6);
  EXPECT_FALSE(builder_of(groups, {}).report().machine.cpu_quota) << "without effect";
}

TEST(ReportBuilder, SaysWhichProjectIsMeasured) {
  const auto report_of = [](const ProjectOptions& project) {
    RunOptions options;
    options.project = project;
    return ReportBuilder("unused.json", options, Machine(std::vector<std::unique_ptr<Backend>>{}),
                         {}, {})
        .report();
  };
  ::setenv("PARBENCH_COMMIT", "0123abc", 1);
  ::setenv("PARBENCH_DIRTY", "1", 1);
  ::setenv("PARBENCH_COMMIT_SUBJECT", "Of parbench", 1);
  const report::Report own = report_of({{"branch=main", "runner=a=b"}, {}, {}, {}});
  EXPECT_THAT(own.labels, ElementsAre(Pair("branch", "main"), Pair("runner", "a=b")));
  EXPECT_EQ(own.machine.commit, "0123abc");
  EXPECT_EQ(own.machine.commit_subject, "Of parbench");
  const report::Report given = report_of({{}, "4567def", {}, "A. Author"});
  EXPECT_EQ(given.machine.commit, "4567def");
  EXPECT_FALSE(given.machine.dirty);
  EXPECT_FALSE(given.machine.commit_subject) << "that of another commit";
  EXPECT_EQ(given.machine.commit_author, "A. Author");
  fake::keep_for_validation(own);
  fake::keep_for_validation(given);
  for (const char* name : {"PARBENCH_COMMIT", "PARBENCH_DIRTY", "PARBENCH_COMMIT_SUBJECT"}) {
    ::unsetenv(name);
  }
}

TEST(ReportBuilder, OfAResumedRunKeepsWhatIsKnownOfTheProject) {
  const auto machine = [] { return Machine(std::vector<std::unique_ptr<Backend>>{}); };
  RunOptions options;
  options.project = {{"branch=main"}, "4567def", "A subject", "A. Author"};
  options.resumed = std::make_shared<report::Report>(
      ReportBuilder("unused.json", options, machine(), {}, {}).report());
  options.project = {};
  const auto report_of = [&] {
    return ReportBuilder("unused.json", options, machine(), {}, {}).report();
  };
  EXPECT_EQ(report_of().labels, options.resumed->labels);
  EXPECT_EQ(report_of().machine.commit, "4567def");
  EXPECT_EQ(report_of().machine.commit_subject, "A subject");
  EXPECT_EQ(report_of().machine.commit_author, "A. Author");
  EXPECT_FALSE(report_of().machine.dirty);
  options.project.labels = {"branch=other"};
  EXPECT_THAT(report_of().labels, ElementsAre(Pair("branch", "other")));

  report::Report own = *options.resumed;
  own.machine.dirty = false;  // of parbench's own sources
  options.resumed = std::make_shared<report::Report>(own);
  ::setenv("PARBENCH_COMMIT", "0123abc", 1);
  EXPECT_EQ(report_of().machine.commit, "0123abc");
  ::unsetenv("PARBENCH_COMMIT");
}

TEST(ReportBuilder, OfAResumedRunBeginsWithItsAnswersAndTimes) {
  report::Report before;
  before.answers = {{"fake", "which?", "that one"}};
  before.duration_seconds = 100;
  before.sampling_seconds = 50;
  RunOptions options;
  options.resumed = std::make_shared<report::Report>(before);
  ReportBuilder report_builder("unused.json", options,
                               Machine(std::vector<std::unique_ptr<Backend>>{}), {}, {},
                               steady_seconds() - 10);
  report_builder.refresh(false);
  const report::Report& report = report_builder.report();
  EXPECT_EQ(report.answers, before.answers);
  EXPECT_EQ(report.sampling_seconds, 50);
  EXPECT_GE(report.duration_seconds, 110) << "from the begin of the run";
  EXPECT_LT(report.duration_seconds, 200);
  fake::keep_for_validation(report);
}

TEST(ReportBuilder, KeepsWhatParametersSet) {
  class WithRoles : public fake::FakeScenario {
   public:
    [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }

   private:
    std::vector<Axis> axes_{{.name = "free", .description = "", .quick = {}, .published = {}},
                            {.name = "cut",
                             .description = "",
                             .quick = {},
                             .published = {},
                             .role = Role::partition,
                             .advised = "even"}};
  };
  ReportBuilder report_builder("unused.json", {}, Machine(std::vector<std::unique_ptr<Backend>>{}),
                               {}, {});
  report_builder.plan(WithRoles(), {}, {});
  EXPECT_THAT(report_builder.report().roles,
              ElementsAre(report::ParameterRole{"fake", "cut", Role::partition, "even"}));
  fake::keep_for_validation(report_builder.report());
}

TEST(ReportBuilder, KeepsTheFactsAndLinksOfDevices) {
  std::vector<std::unique_ptr<Device>> devices;
  auto first = std::make_unique<test::FakeDevice>(0);
  first->add_fact("compute capability", "9.0");
  devices.push_back(std::move(first));
  auto second = std::make_unique<test::FakeDevice>(1);
  second->link = "NVLink 4.0 × 18";  // known to the second only
  devices.push_back(std::move(second));

  fake::FakeScenario scenario;
  ReportBuilder report_builder("unused.json", {}, Machine(std::vector<std::unique_ptr<Backend>>{}),
                               {}, {});
  report_builder.add_devices(scenario, devices);

  const report::Report& report = report_builder.report();
  ASSERT_THAT(report.devices, SizeIs(2));
  EXPECT_THAT(report.devices[0].facts, ElementsAre(Pair("compute capability", "9.0")));
  EXPECT_THAT(report.devices[1].facts, IsEmpty());
  EXPECT_THAT(report.links,
              ElementsAre(report::Link{"fake", "fake:0", "fake:1", "NVLink 4.0 × 18"}));
  fake::keep_for_validation(report);
}

}  // namespace
}  // namespace parbench
