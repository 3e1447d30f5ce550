// A report survives its JSON, and bad JSON is refused with its path.
#include "reports/io/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernels/base/error.h"
#include "tests/reports/sample.h"

namespace parbench::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// What reading says to a file that was spoilt after writing.
std::string complaint(const std::function<void(Json&)>& spoil) {
  Json file = to_json(sample_report());
  spoil(file);
  try {
    (void)from_json(file);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

/// The least that can be read back.
Report begun() {
  Report report;
  report.started_utc = "2024-05-04T10:20:30Z";
  return report;
}

TEST(ReportJson, RoundTripIsLossless) {
  Report report = sample_report();
  report.cases[1].metrics = {{"achieved overlap", 0.5, Interval{-0.1, 0.6, 0.96}},
                             {"waste", 0.025, std::nullopt}};
  report.cases[2].graph = true;
  const std::string text = to_text(to_json(report));
  EXPECT_EQ(from_json(Json::parse(text)), report);
}

TEST(ReportJson, RoundTripOfProfilesAndFindingsIsLossless) {
  const Report report = with_profiles(sample_report());
  EXPECT_EQ(from_json(Json::parse(to_text(to_json(report)))), report);
}

TEST(ReportJson, RoundTripOfAnEmptyReport) {
  EXPECT_EQ(from_json(Json::parse(to_text(to_json(begun())))), begun());
}

TEST(ReportJson, KeepsTypesAndDigitsOfValues) {
  Report report = begun();
  report.options = {{"whole", std::int64_t{1}},
                    {"real", 1.0},
                    {"text", "1"},
                    {"largest", std::numeric_limits<std::int64_t>::max()},
                    {"third", 1.0 / 3.0},
                    {"least", std::numeric_limits<double>::denorm_min()}};
  EXPECT_EQ(from_json(Json::parse(to_text(to_json(report)))).options, report.options);
}

TEST(ReportJson, KeepsTheOrderOfParameters) {
  Report report;
  report.options = {{"zebra", std::int64_t{1}}, {"ape", std::int64_t{2}}};
  const std::string text = to_text(to_json(report));
  EXPECT_LT(text.find("zebra"), text.find("ape"));
}

TEST(ReportJson, LeavesOutWhatIsAbsent) {
  Report report = sample_report();
  report.machine.commit.reset();
  const Json file = to_json(report);
  EXPECT_FALSE(file["parbench"]["machine"].contains("commit"));
  const Json& failed = file["parbench"]["cases"][7];
  EXPECT_EQ(failed["status"], "failed");
  EXPECT_FALSE(failed.contains("statistics"));
  EXPECT_FALSE(failed.contains("samples"));
  EXPECT_EQ(failed["error"], report.cases[7].error);
}

TEST(ReportJson, NumbersThatAreNotFiniteBecomeNullEverywhere) {
  const double infinity = std::numeric_limits<double>::infinity();
  Report report = sample_report();
  report.cases[0].samples[0].seconds = std::nan("");
  report.cases[0].statistics->standard_deviation = infinity;
  report.options.emplace_back("limit", -infinity);
  report.machine.load_average = {std::nan("")};
  report.cases[1].samples[0].counters = {{"page_faults", std::nan("")}};

  const Json file = to_json(report);
  const std::function<void(const Json&)> check = [&](const Json& json) {
    if (json.is_number_float()) {
      EXPECT_TRUE(std::isfinite(json.get<double>()));
    }
    if (!json.is_structured()) return;
    for (const Json& child : json) check(child);
  };
  check(file);
  EXPECT_TRUE(file["context"]["load_avg"][0].is_null());
  EXPECT_TRUE(file["parbench"]["options"]["limit"].is_null());

  const Report read = from_json(file);
  EXPECT_TRUE(std::isnan(read.cases[0].samples[0].seconds));
  EXPECT_TRUE(std::isnan(read.cases[0].statistics->standard_deviation));
}

TEST(ReportJson, TextThatIsNotUtf8IsReplaced) {
  Report report = begun();
  report.command_line = {"caf\xE9"};
  const Json file = Json::parse(to_text(to_json(report)));
  EXPECT_EQ(from_json(file).command_line.at(0), "caf\uFFFD");
}

TEST(ReportJson, IgnoresUnknownFields) {
  EXPECT_EQ(complaint([](Json& file) { file["parbench"]["machine"]["shoe_size"] = 43; }),
            "accepted");
}

TEST(ReportJson, RefusesFilesOfOthers) {
  EXPECT_THAT(complaint([](Json& file) { file.erase("parbench"); }),
              HasSubstr("not written by parbench"));
  EXPECT_THAT(complaint([](Json& file) { file = Json::array(); }),
              HasSubstr("not written by parbench"));
}

TEST(ReportJson, RefusesOtherVersionsWithTheRemedy) {
  EXPECT_THAT(complaint([](Json& file) { file["parbench"]["schema_version"] = 3; }),
              AllOf(HasSubstr("version 3"), HasSubstr("version 2"), HasSubstr("newer")));
  EXPECT_THAT(complaint([](Json& file) { file["parbench"]["schema_version"] = 1; }),
              HasSubstr("older"));
  EXPECT_THAT(complaint([](Json& file) { file["parbench"].erase("schema_version"); }),
              HasSubstr("\"schema_version\" is missing"));
}

TEST(ReportJson, NamesThePlaceOfWhatIsWrong) {
  EXPECT_EQ(
      complaint([](Json& file) { file["parbench"]["cases"][3]["statistics"]["median"] = "fast"; }),
      "parbench.cases[3].statistics.median: expected a number, found string");
  EXPECT_EQ(complaint([](Json& file) { file["parbench"]["cases"][1].erase("strategy"); }),
            "parbench.cases[1]: \"strategy\" is missing");
  EXPECT_EQ(complaint([](Json& file) { file["parbench"]["devices"][0]["memory_bytes"] = -1; }),
            "parbench.devices[0].memory_bytes: -1 is out of range");
  EXPECT_EQ(
      complaint([](Json& file) { file["parbench"]["machine"]["cores_online"] = 5'000'000'000; }),
      "parbench.machine.cores_online: 5000000000 is out of range");
  EXPECT_EQ(complaint([](Json& file) { file["parbench"]["cases"][0]["status"] = "fine"; }),
            "parbench.cases[0].status: expected measured, failed, skipped or not_run, found "
            "string");
  EXPECT_EQ(complaint([](Json& file) {
              file["parbench"]["options"]["seed"] = {1, 2};
            }),
            "parbench.options.seed: expected a number, found array");
}

TEST(ReportJson, RefusesTimesThatNoClockMeasures) {
  const auto with_median = [](double seconds) {
    return
        [seconds](Json& file) { file["parbench"]["cases"][3]["statistics"]["median"] = seconds; };
  };
  EXPECT_EQ(complaint(with_median(-1)),
            "parbench.cases[3].statistics.median: -1 is not a valid time in seconds");
  EXPECT_THAT(complaint(with_median(1e300)), HasSubstr("is not a valid time in seconds"));
  EXPECT_THAT(
      complaint([](Json& file) { file["parbench"]["cases"][3]["samples"][0]["seconds"] = -0.5; }),
      HasSubstr("parbench.cases[3].samples: -0.5"));
}

TEST(ReportJson, RefusesABeginningThatIsNoTime) {
  for (const std::string text : {"yesterday", "", "2024-05-04", "2024-05-04T10:20:31Z and more",
                                 "2024-02-31T10:20:30Z", "2024-5-4T10:20:30Z"}) {
    EXPECT_EQ(complaint([&](Json& file) { file["parbench"]["started_utc"] = text; }),
              "parbench.started_utc: '" + text +
                  "' is not a valid time such as 2026-11-21T19:57:32Z; correct it");
  }
}

TEST(ReportJson, RefusesTwoCasesOfOneName) {
  EXPECT_THAT(complaint([](Json& file) {
                Json& cases = file["parbench"]["cases"];
                cases[4]["name"] = cases[2]["name"];
              }),
              AllOf(HasSubstr("parbench.cases[4].name: '"), HasSubstr("of cases[2] as well")));
}

TEST(ReportJson, RefusesCasesThatNoTableHolds) {
  const auto with_parameters = [](int of_each) {
    return [of_each](Json& file) {
      Json& cases = file["parbench"]["cases"];
      for (std::size_t i = 0; i < cases.size(); ++i) {
        for (int k = 0; k < of_each; ++k) {
          cases[i]["parameters"][std::to_string(i) + "-" + std::to_string(k)] = 1;
        }
      }
    };
  };
  EXPECT_EQ(complaint(with_parameters(80)), "accepted");
  EXPECT_THAT(complaint(with_parameters(120)),
              AllOf(HasSubstr("parbench.cases: 10 cases name 12"), HasSubstr("at most 1000")));
  EXPECT_THAT(complaint([](Json& file) {
                for (int i = 0; i < 1200; ++i) {
                  file["parbench"]["cases"][i % 10]["notes"]["n" + std::to_string(i)] = "a note";
                }
              }),
              AllOf(HasSubstr("parbench.cases: 10 cases name 12"), HasSubstr("notes")));
  EXPECT_THAT(complaint([](Json& file) {
                Json& cases = file["parbench"]["cases"];
                Json some = cases[9];
                cases = Json::array();
                for (int i = 0; i < 12'000; ++i) {
                  some["name"] = "a/" + std::to_string(i);
                  some["parameters"] = {{"p" + std::to_string(i % 900), 1}};
                  cases.push_back(some);
                }
              }),
              HasSubstr("10000000 cells"));
}

TEST(ReportJson, QuotesLongNamesShortly) {
  const std::string name(100'000, 'x');
  EXPECT_LT(complaint([&](Json& file) { file["parbench"]["options"][name] = {1}; }).size(), 400U);
  EXPECT_LT(complaint([&](Json& file) {
              Json& cases = file["parbench"]["cases"];
              cases[4]["name"] = cases[2]["name"] = name;
            }).size(),
            400U);
}

}  // namespace
}  // namespace parbench::report
