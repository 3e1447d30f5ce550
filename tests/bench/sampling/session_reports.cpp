// Starting the validator takes much longer than validating a report, so it is started once.
#include "tests/bench/sampling/session_reports.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "reports/io/file.h"
#include "reports/model/machine_info.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/written_reports.h"

namespace parbench::fake {
namespace {

class Reports : public testing::Environment {
 public:
  void keep(const report::Report& report) {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    // Names of tests with parameters have a '/'.
    const std::string text = std::to_string(paths_.size()) + "-" +
                             std::filesystem::path(name).filename().string() + ".json";
    paths_.push_back(folder_ / text);
    report::write_report(paths_.back(), report);
  }

  void TearDown() override { test::expect_valid(paths_); }

 private:
  test::TemporaryFolder folder_;
  std::vector<std::filesystem::path> paths_;
};

// GoogleTest owns it.
Reports& reports =
    dynamic_cast<Reports&>(*testing::AddGlobalTestEnvironment(new Reports));  // NOLINT

}  // namespace

void keep_for_validation(const report::Report& report) { reports.keep(report); }

void keep_for_validation(const std::vector<report::CaseResult>& cases) {
  report::Report report;
  report.version = "0.1.0";
  report.started_utc = "2026-01-02T03:04:05Z";
  report.machine = report::machine_info({});
  report.cases = cases;
  reports.keep(report);
}

}  // namespace parbench::fake
