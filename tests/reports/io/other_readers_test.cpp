// Programs of others read our files: a JSON Schema validator and Google Benchmark's compare.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "reports/io/file.h"
#include "reports/io/json.h"
#include "tests/reports/sample.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace parbench::report {
namespace {

using parbench::test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Standard output of a program; fails the test when it does not end with 0.
std::string output_of(const std::vector<std::string>& words) {
  const parbench::test::Finished finished = parbench::test::run(words);
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  return finished.out;
}

/// The validator's line for each file.
std::vector<std::string> verdicts(const TemporaryFolder& directory,
                                  const std::vector<Json>& files) {
  std::vector<std::string> command{PARBENCH_PYTHON, "-B", PARBENCH_VALIDATE_PY, PARBENCH_SCHEMA};
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto path = directory.path() / (std::to_string(i) + ".json");
    write_file(path, to_text(files[i]));
    command.push_back(path.string());
  }
  std::istringstream lines(output_of(command));
  std::vector<std::string> result;
  for (std::string line; std::getline(lines, line);) result.push_back(line);
  EXPECT_EQ(result.size(), files.size());
  result.resize(files.size());
  return result;
}

/// The sample as a run leaves it, which is not complete with a case that failed.
Report finished_report() {
  Report report = sample_report();
  report.complete = false;
  return report;
}

/// Without the cases that failed or were skipped.
Report complete_report() {
  Report report = sample_report();
  std::erase_if(report.cases, [](const CaseResult& c) { return c.status != CaseStatus::measured; });
  return report;
}

/// The second case has a metric.
Report with_metric(Report report) {
  report.cases[1].metrics = {{"achieved overlap", -0.02, Interval{-0.1, 0.05, 0.96}}};
  return report;
}

Report interrupted(Report report) {
  report.complete = false;
  report.cases[5].stopped_because = "unfinished";
  report.cases[6] = CaseResult{};
  report.cases[6].name = "pipeline/pipeline/split:20";
  report.cases[6].scenario = "pipeline";
  report.cases[6].strategy = "pipeline";
  report.cases[6].dtype = "f32";
  report.answers.clear();
  return report;
}

TEST(Schema, AcceptsWhatIsWritten) {
  const Report full = finished_report();
  Report nothing_measured = full;
  nothing_measured.cases.erase(nothing_measured.cases.begin(), nothing_measured.cases.begin() + 7);
  Report bare = full;
  bare.cases.clear();
  bare.machine.commit.reset();
  bare.machine.dirty.reset();
  bare.machine.cpu_mhz.reset();
  bare.machine.governor.reset();
  Report wrong_result = full;
  wrong_result.cases[7].verification->largest_error = std::numeric_limits<double>::infinity();
  Report captured = full;
  captured.cases[0].graph = true;
  Report lost = full;
  lost.cases[5].stopped_because = "device lost";
  Report left_out = complete_report();
  for (const std::string_view reason : {total_time, equal_plan}) {
    CaseResult& one = left_out.cases.emplace_back();
    one.scenario = "pipeline";
    one.strategy = "pipeline";
    one.name = "pipeline/pipeline/" + std::string(reason);
    one.dtype = "f32";
    one.status = CaseStatus::not_run;
    one.stopped_because = reason;
  }
  Report one_sample = full;
  one_sample.cases[0] = measured_case("pipeline", "single", {}, 1.0, 1);

  const TemporaryFolder directory;
  const std::vector<std::string> lines = verdicts(
      directory, {to_json(full), to_json(full), to_json(nothing_measured), to_json(bare),
                  to_json(wrong_result), to_json(one_sample), to_json(captured), to_json(lost),
                  to_json(interrupted(full)), to_json(complete_report()), to_json(left_out),
                  to_json(with_metric(full)), to_json(with_profiles(full))});
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i], "valid") << "report " << i;
}

TEST(Schema, RefusesWhatMustNotBe) {
  using Spoil = std::function<void(Json&)>;
  const auto parbench = [](auto change) {
    return Spoil([change](Json& file) { change(file["parbench"]); });
  };
  const auto measured = [](auto change) {
    return Spoil([change](Json& file) { change(file["parbench"]["cases"][0]); });
  };
  const auto failed = [](auto change) {
    return Spoil([change](Json& file) { change(file["parbench"]["cases"][7]); });
  };
  const auto row = [](auto change) {
    return Spoil([change](Json& file) { change(file["benchmarks"][0]); });
  };
  const std::vector<std::pair<std::string, Spoil>> spoilt{
      {"no parbench object", [](Json& file) { file.erase("parbench"); }},
      {"no context", [](Json& file) { file.erase("context"); }},
      {"a stranger beside it", [](Json& file) { file["other"] = 1; }},
      {"another version", parbench([](Json& p) { p["schema_version"] = 1; })},
      {"an unknown field", parbench([](Json& p) { p["colour"] = "red"; })},
      {"a local time", parbench([](Json& p) { p["started_utc"] = "4 May 2024"; })},
      {"a negative duration", parbench([](Json& p) { p["duration_seconds"] = -1; })},
      {"no machine", parbench([](Json& p) { p.erase("machine"); })},
      {"dirty without commit", parbench([](Json& p) { p["machine"].erase("commit"); })},
      {"a core twice", parbench([](Json& p) {
         p["devices"][0]["cores"] = {1, 1};
       })},
      {"measured without statistics", measured([](Json& c) { c.erase("statistics"); })},
      {"measured without samples", measured([](Json& c) { c.erase("samples"); })},
      {"measured with an error", measured([](Json& c) { c["error"] = "but"; })},
      {"measured but wrong", measured([](Json& c) { c["verification"]["passed"] = false; })},
      {"a median that is null", measured([](Json& c) { c["statistics"]["median"] = nullptr; })},
      {"a sample without round", measured([](Json& c) { c["samples"][0].erase("round"); })},
      {"a throttle without samples",
       parbench([](Json& p) { p["cases"][5]["throttling"]["marked_samples"] = 0; })},
      {"a condition of no device",
       parbench([](Json& p) { p["cases"][5]["samples"][3]["conditions"][0].erase("device"); })},
      {"an amount without unit", measured([](Json& c) { c.erase("amount_unit"); })},
      {"an unknown status", measured([](Json& c) { c["status"] = "fine"; })},
      {"an interval with certainty above 1",
       measured([](Json& c) { c["statistics"]["median_interval"]["confidence"] = 95; })},
      {"failed without error", failed([](Json& c) { c.erase("error"); })},
      {"failed with a number",
       [](Json& file) {
         Json& cases = file["parbench"]["cases"];
         cases[7]["statistics"] = cases[0]["statistics"];
       }},
      {"failed with a speedup",
       [](Json& file) {
         Json& cases = file["parbench"]["cases"];
         cases[7]["speedup"] = cases[1]["speedup"];
       }},
      {"failed with a metric",
       [](Json& file) {
         file = to_json(with_metric(finished_report()));
         Json& cases = file["parbench"]["cases"];
         cases[7]["metrics"] = cases[1]["metrics"];
       }},
      {"a metric that is null",
       [](Json& file) {
         file = to_json(with_metric(finished_report()));
         file["parbench"]["cases"][1]["metrics"][0]["value"] = nullptr;
       }},
      {"complete with a case that failed", parbench([](Json& p) { p["complete"] = true; })},
      {"complete with a case that did not run",
       [](Json& file) {
         file = to_json(complete_report());
         file["parbench"]["cases"][0] = to_json(sample_report())["parbench"]["cases"][7];
         file["parbench"]["cases"][0]["status"] = "not_run";
       }},
      {"a device of no scenario", parbench([](Json& p) { p["devices"][0].erase("scenario"); })},
      {"no sampling", parbench([](Json& p) { p.erase("sampling"); })},
      {"sampling without end", parbench([](Json& p) { p["sampling"][0].erase("precision"); })},
      {"a row without time", row([](Json& r) { r.erase("real_time"); })},
      {"a row without number", row([](Json& r) { r["real_time"] = nullptr; })},
      {"a row in another unit", row([](Json& r) { r["time_unit"] = "ms"; })},
      {"a repetition that is an aggregate", row([](Json& r) { r["run_type"] = "aggregate"; })},
  };
  std::vector<Json> files;
  for (const auto& [what, spoil] : spoilt) spoil(files.emplace_back(to_json(finished_report())));

  const TemporaryFolder directory;
  const std::vector<std::string> lines = verdicts(directory, files);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_THAT(lines[i], StartsWith("invalid")) << spoilt[i].first;
  }
}

TEST(ComparePy, ComparesTwoReports) {
  const Report before = sample_report();
  Report after = before;
  CaseResult& slower = after.cases[2];
  for (Sample& sample : slower.samples) sample.seconds *= 1.25;
  slower.statistics->median *= 1.25;
  slower.statistics->mean *= 1.25;

  const TemporaryFolder directory;
  write_report(directory.path() / "before.json", before);
  write_report(directory.path() / "after.json", after);
  const std::string output = output_of({PARBENCH_PYTHON, "-B", PARBENCH_COMPARE_PY, "--no-color",
                                        "benchmarks", (directory.path() / "before.json").string(),
                                        (directory.path() / "after.json").string()});

  EXPECT_THAT(output, HasSubstr("U Test, Repetitions: 14 vs 14"));
  EXPECT_THAT(output, HasSubstr("OVERALL_GEOMEAN"));
  std::istringstream lines(output);
  int medians = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("_median ") == std::string::npos) continue;
    ++medians;
    const bool changed = line.starts_with(slower.name + "_median");
    EXPECT_THAT(line, HasSubstr(changed ? "+0.2500" : "+0.0000"));
  }
  EXPECT_EQ(medians, 7);
}

}  // namespace
}  // namespace parbench::report
