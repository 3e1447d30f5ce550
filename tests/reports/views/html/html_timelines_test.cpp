// Which timelines a page carries, and that what it packs is what ran.
#include "reports/views/html/html_timelines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/model/peaks.h"
#include "reports/views/html/html_data.h"
#include "reports/views/html/html_writer.h"
#include "reports/views/html/packed_numbers.h"
#include "tests/reports/sample.h"

namespace parbench::report {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Reads packed numbers by the definition of ECMA-426, apart from the page's script.
class Reader {
 public:
  explicit Reader(std::string text) : text_(std::move(text)) {}

  std::int64_t next() {
    std::int64_t number = 0;
    for (int shift = 0;; shift += 5) {
      const auto digit = static_cast<std::int64_t>(digits.find(text_.at(at_++)));
      number |= (digit & 31) << shift;
      if (digit < 32) return number;
    }
  }
  std::int64_t next_signed() {
    const std::int64_t number = next();
    return number % 2 == 0 ? number / 2 : -(number / 2);
  }
  [[nodiscard]] bool ended() const { return at_ == text_.size(); }

 private:
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text_;
  std::size_t at_ = 0;
};

/// A task on lane 0 (compute) or 1 (copy), in nanoseconds.
struct MadeTask {
  LaneId lane = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::vector<TaskId> after = {};
};

Profile profile(const std::vector<MadeTask>& tasks, Nanoseconds length = 1'000'000) {
  Profile profile;
  profile.metrics.span = seconds_of(length);
  profile.metrics.devices = {{.device = "cpu:0",
                              .busy = 0.25 * profile.metrics.span,
                              .idle = 0.75 * profile.metrics.span,
                              .bubble = 0.5 * profile.metrics.span,
                              .waits = {}}};
  Timeline& timeline = profile.timeline.emplace();
  timeline.end = length;
  timeline.graph.add_lane({.name = "cpu:0/compute", .device = "cpu:0"});
  timeline.graph.add_lane({.name = "cpu:0/copy", .device = "cpu:0"});
  for (const MadeTask& made : tasks) {
    const TaskId task =
        timeline.graph.add_task({.name = "task " + std::to_string(timeline.graph.tasks.size()),
                                 .kind = made.lane == 0 ? TaskKind::compute : TaskKind::copy,
                                 .lanes = {made.lane},
                                 .after = made.after});
    timeline.calls.push_back({.task = task,
                              .lane = made.lane,
                              .name = {},
                              .enqueued = {0, made.begin / 2},
                              .ran = {made.begin, made.end},
                              .work = {.flops = made.lane == 0 ? 5e6 : 0, .bytes = 2e6}});
  }
  return profile;
}

Profile two_tasks() { return profile({{0, 1'000, 3'000}, {1, 4'000, 9'000, {0}}}); }

/// A baseline and two cases, of which the second is the fastest.
std::vector<CaseResult> three_cases() {
  std::vector<CaseResult> cases;
  for (const char* strategy : {"single", "slow", "fast"}) {
    cases.push_back(measured_case("demo", strategy, {}, 1, 3));
    cases.back().profile = two_tasks();
  }
  cases[1].speedup = Ratio{0.5, std::nullopt, cases[0].name};
  cases[2].speedup = Ratio{0.9, std::nullopt, cases[0].name};
  return cases;
}

Report report_of(const std::vector<CaseResult>& cases) {
  Report report;
  report.cases = cases;
  return report;
}

Json data_of(const Report& report, std::size_t room = timeline_room(3)) {
  return timelines_data(by_scenario(report), room).front();
}

Json data_of(const std::vector<CaseResult>& cases, std::size_t room = timeline_room(3)) {
  return data_of(report_of(cases), room);
}

std::vector<int> rows_of(const Json& data) {
  std::vector<int> rows;
  for (const Json& one : data["cases"]) rows.push_back(one["row"]);
  return rows;
}

/// Cases without a timeline, by row.
Json missing(const std::string& reason, const std::vector<int>& rows) {
  return {{"reason", reason}, {"count", rows.size()}, {"rows", rows}};
}

TEST(PackedNumbers, AreReadAsTheyWereWritten) {
  PackedNumbers packed;
  const std::vector<std::int64_t> numbers{0, 1, 31, 32, 1023, 1024, 10'000'000, 1LL << 62};
  for (const std::int64_t number : numbers) packed.add(static_cast<std::uint64_t>(number));
  for (const std::int64_t number : numbers) packed.add_signed(-number / 2);
  Reader reader(packed.take());
  for (const std::int64_t number : numbers) EXPECT_EQ(reader.next(), number);
  for (const std::int64_t number : numbers) EXPECT_EQ(reader.next_signed(), -number / 2);
  EXPECT_TRUE(reader.ended());
}

TEST(Timelines, ColourTasksByTheirPhaseAndNumberTheirMicroBatch) {
  std::vector<CaseResult> cases = three_cases();
  PlanGraph& graph = cases[0].profile->timeline->graph;
  graph.tasks[0].phase = "backward";
  graph.tasks[0].micro_batch = 4;
  Reader reader(data_of(cases)["cases"][0]["spans"]);
  EXPECT_EQ(reader.next(), 4) << "after three kinds and forward";
  EXPECT_EQ(reader.next(), 4 + 1);
}

TEST(Timelines, PackEveryTask) {
  const Json data = data_of(three_cases());
  EXPECT_THAT(data["names"].get<std::vector<std::string>>(), ElementsAre("task 0", "task 1"));
  const Json& one = data["cases"][0];
  EXPECT_DOUBLE_EQ(one["unit"].get<double>(), 1e-9);
  EXPECT_EQ(one["length"], 1'000'000);
  EXPECT_THAT(one["lanes"].get<std::vector<std::string>>(),
              ElementsAre("cpu:0/compute", "cpu:0/copy"));
  EXPECT_THAT(one["devices"].get<std::vector<int>>(), ElementsAre(0, 0));
  Reader reader(one["spans"]);
  EXPECT_EQ(data["work"].dump(), "[[5000000.0,2000000.0],[0.0,2000000.0]]");
  // Lane and colour, micro-batch, name, work, begin, duration, enqueued, task, dependencies.
  for (const std::int64_t number : {0, 0, 0, 0, 1000, 2000}) EXPECT_EQ(reader.next(), number);
  EXPECT_EQ(reader.next_signed(), 500);
  for (const std::int64_t number : {0, 0}) EXPECT_EQ(reader.next(), number);
  for (const std::int64_t number : {6 + 1, 0, 1, 1, 3000, 5000}) EXPECT_EQ(reader.next(), number);
  EXPECT_EQ(reader.next_signed(), 1500);
  for (const std::int64_t number : {0, 1}) EXPECT_EQ(reader.next(), number);
  EXPECT_EQ(reader.next_signed(), 1);
  EXPECT_TRUE(reader.ended());
}

TEST(Timelines, HaveThePeaksOfTheirDevices) {
  Report report = report_of(three_cases());
  EXPECT_TRUE(data_of(report)["cases"][0]["peaks"].is_null()) << "the run knew none";
  Device& device = report.devices.emplace_back();
  device.scenario = "demo";
  device.name = "cpu:0";
  device.peaks = {{gemm_peak(report.cases[0].dtype), 2e11, "FLOP/s", {}, "2026-01-02T03:04:05Z"},
                  {"copy", 4e10, "B/s", {}, "2026-01-02T03:04:05Z"}};
  // Computing, copying, communicating: FLOP/s and B/s each.
  EXPECT_EQ(data_of(report)["cases"][0]["peaks"].dump(),
            "[[[200000000000.0,null],[null,40000000000.0],[null,null]]]");
}

TEST(Timelines, TakeWorkThatIsNoNumberForNone) {
  std::vector<CaseResult> cases = three_cases();
  cases[0].profile->timeline->calls[0].work.flops = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(data_of(cases)["work"].dump(), "[[5000000.0,2000000.0],[0.0,2000000.0]]");
}

TEST(Timelines, AreCoarserWhereACaseTakesLong) {
  std::vector<CaseResult> cases = three_cases();
  cases[0].profile = profile({{0, 1'000'000'000, 12'500'000'000}}, 12'500'000'000);
  const Json data = data_of(cases);
  const Json& one = data["cases"][0];
  EXPECT_DOUBLE_EQ(one["unit"].get<double>(), 1e-5);
  EXPECT_EQ(one["length"], 1'250'000);
}

TEST(Timelines, CountFromTheBeginningOfMeasuredTime) {
  std::vector<CaseResult> cases = three_cases();
  cases[0].profile->timeline->begin = 900;
  Reader reader(data_of(cases)["cases"][0]["spans"]);
  for (const std::int64_t number : {0, 0, 0, 0, 100, 2000}) EXPECT_EQ(reader.next(), number);
  EXPECT_EQ(reader.next_signed(), 0) << "enqueued before";
}

TEST(Timelines, BeginWithTheLargestSpeedup) {
  const Json data = data_of(three_cases());
  EXPECT_THAT(rows_of(data), ElementsAre(0, 1, 2));
  EXPECT_EQ(data["first"], 2);
  EXPECT_FALSE(data["cases"][0].contains("baseline"));
  EXPECT_EQ(data["cases"][2]["baseline"], 0);
  EXPECT_THAT(data["without"], IsEmpty());
}

TEST(Timelines, OfTheFastestCaseAndItsBaselineHaveRoomFirst) {
  const std::vector<CaseResult> cases = three_cases();
  std::size_t room = data_of(cases).dump().size();
  while (rows_of(data_of(cases, room)).size() == 3) --room;
  EXPECT_THAT(rows_of(data_of(cases, room)), ElementsAre(0, 2));
  while (rows_of(data_of(cases, room)).size() == 2) --room;
  const Json data = data_of(cases, room);
  EXPECT_THAT(rows_of(data), ElementsAre(2));
  EXPECT_EQ(
      data["without"],
      Json::array({missing("the timelines of this page have reached its size limit", {0, 1})}));
}

TEST(Timelines, BeginWithTheCaseThatTheAnswerNames) {
  Report report = report_of(three_cases());
  Answer& answer = report.answers.emplace_back();
  answer.scenario = "demo";
  answer.recommendations.push_back({.gaining = LabelledCase{"slow", report.cases[1].name}});
  EXPECT_EQ(data_of(report)["first"], 1);
  std::size_t room = data_of(report).dump().size();
  while (rows_of(data_of(report, room)).size() > 1) --room;
  EXPECT_THAT(rows_of(data_of(report, room)), ElementsAre(1));
}

/// The fastest case of each scenario, then its baseline, then the others.
TEST(Timelines, ShareTheRoomOfAPage) {
  const Report report = report_of(three_cases());
  const ScenarioCases group = by_scenario(report).front();
  std::size_t room = 2 * data_of(report).dump().size();
  const auto rows_of_both = [&](std::size_t timelines) {
    while (true) {
      const std::vector<Json> both = timelines_data({group, group}, room);
      std::vector<std::vector<int>> rows{rows_of(both[0]), rows_of(both[1])};
      if (rows[0].size() + rows[1].size() <= timelines) return rows;
      --room;
    }
  };
  EXPECT_THAT(rows_of_both(6), Each(ElementsAre(0, 1, 2)));
  EXPECT_THAT(rows_of_both(4), Each(ElementsAre(0, 2)));
  EXPECT_THAT(rows_of_both(2), Each(ElementsAre(2)));
}

TEST(Timelines, SayWhyThereIsNone) {
  std::vector<CaseResult> cases = three_cases();
  cases[0].profile.reset();
  cases[1].profile->timeline.reset();
  const Json data = data_of(cases);
  EXPECT_THAT(rows_of(data), ElementsAre(2));
  const Json too_many = missing("its plan has more than 2000 tasks", {1});
  EXPECT_EQ(data["without"], Json::array({missing("it was not profiled", {0}), too_many}));
  cases[0].notes = {{"no timeline", "interrupted"}};
  EXPECT_EQ(data_of(cases)["without"], Json::array({missing("interrupted", {0}), too_many}));
  for (CaseResult& c : cases) c.profile.reset();
  EXPECT_TRUE(data_of(cases).is_null());
}

TEST(Timelines, NameThreeCasesOfAReason) {
  std::vector<CaseResult> cases = three_cases();
  for (int i = 0; i < 4; ++i) {
    cases.push_back(cases.front());
    cases.back().name += std::to_string(i);
    cases.back().profile.reset();
  }
  const Json data = data_of(cases);
  ASSERT_EQ(data["without"].size(), 1U);
  EXPECT_EQ(data["without"][0]["count"], 4);
  EXPECT_EQ(data["without"][0]["rows"], Json::array({3, 4, 5}));
}

TEST(Timelines, OfAHundredCasesLeaveAPageBelowAMegabyte) {
  Report report = sample_report();
  report.cases.clear();
  for (std::int64_t n = 0; n < 100; ++n) {
    CaseResult c = sample_report().cases[4];
    c.name += std::to_string(n);
    c.parameters.back().second = n;
    std::vector<MadeTask> tasks;
    for (int task = 0; task < 200; ++task) {
      const Nanoseconds begin = Nanoseconds{1'500'000} * task + 100 * (n * task % 977);
      tasks.push_back({task % 2, begin, begin + 1'234'567});
      if (task > 0) tasks.back().after = {task - 1};
    }
    c.profile = profile(tasks, 300'000'000);
    report.cases.push_back(std::move(c));
  }
  const std::vector<NamedReport> reports{{"run.json", report}};
  EXPECT_LT(to_html(reports, built_in_web_assets()).size(), 1'000'000U);
  const Json data = page_data(reports)[0]["timelines"];
  const std::size_t count = data["cases"].size();
  ASSERT_EQ(data["without"].size(), 1U);
  EXPECT_EQ(data["without"][0]["count"], 100 - count);
  std::size_t bytes = data["names"].dump().size() + data["work"].dump().size();
  std::size_t largest = 0;
  for (const Json& one : data["cases"]) {
    bytes += one.dump().size();
    largest = std::max(largest, one.dump().size());
  }
  const std::size_t room = 300'000 - 100 * 1'500;
  EXPECT_LT(bytes, room + 10) << "with the brackets around names and work";
  EXPECT_GT(bytes + 2 * largest, room) << "no further one has room";
}

TEST(HtmlPage, ShowsSharesOfDevicesWithoutScript) {
  Report report = sample_report();
  report.cases[0].profile = two_tasks();
  EXPECT_THAT(to_html({{"run.json", report}}, {"", ""}),
              HasSubstr("busy and idle: cpu:0 busy 25.0%, idle 75.0% (50.0% between tasks)\n"));
  DeviceMetrics& device = report.cases[0].profile->metrics.devices.front();
  device.communication = 0.1 * report.cases[0].profile->metrics.span;
  device.exposed_communication = 0.04 * report.cases[0].profile->metrics.span;
  EXPECT_THAT(to_html({{"run.json", report}}, {"", ""}),
              HasSubstr("between tasks), communicates 10.0% (4.0% without computing)\n"));
  report.cases[0].profile->metrics.bus_bandwidth = 8.25e9;
  EXPECT_THAT(to_html({{"run.json", report}}, {"", ""}),
              HasSubstr("(4.0% without computing); bus bandwidth 8.25 GB/s\n"));
}

TEST(HtmlPage, ShowsWhenAProfileIsFarFromTheSamples) {
  Report report = sample_report();
  report.cases[0].profile = two_tasks();
  EXPECT_THAT(to_html({{"run.json", report}}, {"", ""}), Not(HasSubstr("not representative: ")));
  report.cases[0].profile->deviation = -0.25;
  const std::string text =
      "cpu:0 busy 25.0%, idle 75.0% (50.0% between tasks); not representative: this run took 25% "
      "less time than the median sample";
  EXPECT_THAT(to_html({{"run.json", report}}, {"", ""}),
              HasSubstr("busy and idle: " + text + "\n"));
  EXPECT_EQ(page_data({{"run.json", report}})[0]["timelines"]["cases"][0]["shares"], text)
      << "beside the picture of the timeline";
}

TEST(HtmlPage, CarriesTimelinesOnlyWhereThereAreAny) {
  Report report = sample_report();
  EXPECT_FALSE(page_data({{"run.json", report}})[0].contains("timelines"));
  report.cases[0].profile = two_tasks();
  const Json timelines = page_data({{"run.json", report}})[0]["timelines"];
  EXPECT_THAT(rows_of(timelines), ElementsAre(0));
  EXPECT_THAT(timelines["names"].get<std::vector<std::string>>(), ElementsAre("task 0", "task 1"));
}

}  // namespace
}  // namespace parbench::report
