// Traces as their readers see them.
#include "reports/io/chrome_trace.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/scenarios/plan/made_timeline.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace parbench::report {
namespace {

using nlohmann::json;

/// Two devices; a copy waits for a computation, and another device for the copy.
Timeline example() {
  MadeTimeline timeline;
  const auto compute = timeline.lane("cpu:0");
  const auto copy = timeline.lane("cpu:0", "copy");
  const auto other = timeline.lane("cpu:1");
  const auto forward = timeline.task(compute, {1'234, 10'000}, {.enqueued = 900, .flops = 5e6});
  timeline.call(forward, {10'050, 12'000}, {.enqueued = 1'100});
  const auto transfer = timeline.task(
      copy, {12'500, 15'000}, {.kind = TaskKind::copy, .after = {forward}, .enqueued = 1'500});
  timeline.task(other, {15'001, 30'000}, {.after = {transfer}, .enqueued = 1'600});
  for (TimedCall& call : timeline.made().calls) call.enqueued.begin = call.enqueued.end - 100;
  return timeline.made();
}

std::string trace_of(std::span<const TracedCase> cases) {
  std::ostringstream out;
  write_chrome_trace(out, cases);
  return out.str();
}

std::vector<json> events_of(const Timeline& timeline, std::string_view phase) {
  const std::vector<TracedCase> cases{{"scenario/strategy", &timeline, {{"cpu:1", 4096}}}};
  std::vector<json> found;
  const json trace = json::parse(trace_of(cases));
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

class ChromeTrace : public ::testing::Test {
 protected:
  /// What the script that reads traces says.
  void check(const std::string& text) {
    const auto path = folder_.write("trace.json", text);
    const auto ended = test::run({PARBENCH_PYTHON, PARBENCH_TRACE_PY, path.string()});
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  }

  test::TemporaryFolder folder_;
};

TEST_F(ChromeTrace, IsWhatAViewerDraws) {
  const Timeline timeline = example();
  const std::vector<TracedCase> cases{{"a/b", &timeline, {{"cpu:0", 1}}}, {"a/c", &timeline, {}}};
  check(trace_of(cases));
}

TEST_F(ChromeTrace, OfAGraphAndOfThreadsNestsToo) {
  Timeline graph = example();
  graph.graph.submit = SubmitMode::graph;
  for (TimedCall& call : graph.calls) call.enqueued = {0, 700};
  Timeline threads = example();
  threads.graph.submit = SubmitMode::thread_per_lane;
  for (TimedCall& call : threads.calls) call.enqueued.begin = 0;
  const std::vector<TracedCase> cases{{"a/graph", &graph, {}}, {"a/threads", &threads, {}}};
  check(trace_of(cases));
}

TEST_F(ChromeTrace, GivesMicrosecondsToTheNanosecond) {
  const auto slices = events_of(example(), "X");
  const auto first =
      std::ranges::find_if(slices, [](const json& event) { return event.at("cat") == "compute"; });
  ASSERT_NE(first, slices.end());
  EXPECT_EQ(first->at("ts").dump(), "1.234");
  EXPECT_EQ(first->at("dur").dump(), "8.766");
  EXPECT_EQ(first->at("args").at("flops"), 5e6);
}

TEST_F(ChromeTrace, MarksWhereMeasuredTimeBegins) {
  Timeline timeline = example();
  timeline.begin = 1'200;
  const auto marks = events_of(timeline, "i");
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].at("ts").dump(), "1.2");
  EXPECT_EQ(marks[0].at("name"), "measured time begins");
}

TEST_F(ChromeTrace, HasTheRatesOfTasksAndCalls) {
  const auto slices = events_of(example(), "X");
  const auto rate_of = [&](std::string_view category) {
    const auto found = std::ranges::find_if(
        slices, [&](const json& event) { return event.at("cat") == category; });
    return found->at("args").at("flops_per_second").get<double>();
  };
  EXPECT_DOUBLE_EQ(rate_of("compute"), 5e6 / 8.766e-6);
  EXPECT_DOUBLE_EQ(rate_of("task"), 5e6 / 10.766e-6) << "its second call counts nothing";
}

TEST_F(ChromeTrace, LeadsArrowsAlongDependenciesOfOtherLanes) {
  const auto starts = events_of(example(), "s");
  EXPECT_EQ(std::ranges::count(starts, "dependency", [](const json& e) { return e.at("name"); }),
            2);
  EXPECT_EQ(std::ranges::count(starts, "launch", [](const json& e) { return e.at("name"); }), 3);
}

TEST_F(ChromeTrace, LeadsArrowsFromWhereWorkIsEnqueuedWhileItBegins) {
  MadeTimeline timeline;
  const auto lane = timeline.lane("cpu:0");
  const auto task = timeline.task(lane, {1'000, 2'000}, {.enqueued = 1'400});
  timeline.call(task, {2'000, 3'000}, {.enqueued = 1'900});
  check(trace_of(std::vector<TracedCase>{{"a/b", &timeline.made(), {}}}));
  const auto starts = events_of(timeline.made(), "s");
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].at("ts").dump(), "1.0") << "the stream began before the host returned";
  const auto later = timeline.task(lane, {4'000, 5'000}, {.enqueued = 3'500});
  timeline.call(later, {5'000, 6'000}, {.enqueued = 4'500});
  EXPECT_EQ(events_of(timeline.made(), "s")[1].at("ts").dump(), "3.499") << "the first call";
}

TEST_F(ChromeTrace, HasNoArrowBackInTimeBetweenTwoClocks) {
  MadeTimeline timeline;
  const auto first = timeline.lane("cuda:0");
  const auto second = timeline.lane("cuda:1");
  const auto cause = timeline.task(first, {1'000, 2'000});
  timeline.task(second, {990, 2'500}, {.after = {cause}});
  const auto starts = events_of(timeline.made(), "s");
  EXPECT_EQ(std::ranges::count(starts, "dependency", [](const json& e) { return e.at("name"); }),
            0);
}

TEST_F(ChromeTrace, NamesTheLayerOfACall) {
  Timeline timeline = example();
  timeline.calls.front().layer = "layer1.0.conv1";
  timeline.calls.front().kernel = "brgconv:avx512_core";
  const auto slices = events_of(timeline, "X");
  const auto call =
      std::ranges::find_if(slices, [](const json& event) { return event.at("cat") == "compute"; });
  EXPECT_EQ(call->at("name"), "operation · layer1.0.conv1");
  EXPECT_EQ(call->at("args").at("layer"), "layer1.0.conv1");
  EXPECT_EQ(call->at("args").at("kernel"), "brgconv:avx512_core");
}

TEST_F(ChromeTrace, CountsBusyLanesAndMemory) {
  std::vector<std::string> counts;
  for (const json& event : events_of(example(), "C")) {
    counts.push_back(event.at("args").dump() + "@" + event.at("ts").dump());
  }
  EXPECT_THAT(counts, ::testing::ElementsAre(R"({"lanes":0}@0.0)", R"({"lanes":1}@1.234)",
                                             R"({"lanes":0}@12.0)", R"({"lanes":1}@12.5)",
                                             R"({"lanes":0}@15.0)", R"({"lanes":1}@15.001)",
                                             R"({"lanes":0}@30.0)", R"({"bytes":4096}@0.0)",
                                             R"({"bytes":4096}@30.0)"));
}

TEST_F(ChromeTrace, KeepsHostileNamesInTheirStrings) {
  Timeline timeline = example();
  timeline.graph.tasks[0].name = "\"}],\n\xff</script>";
  const std::vector<TracedCase> cases{{"a/\"b", &timeline, {}}};
  check(trace_of(cases));
}

TEST_F(ChromeTrace, OfNothingIsATrace) { check(trace_of({})); }

}  // namespace
}  // namespace parbench::report
