// The ranges that a tool sees of a run, as a library that NVTX loads into the process sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "reports/io/file.h"
#include "tests/cli/small_runs.h"
#include "tests/support/process.h"

namespace parbench::test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;

struct Seen {
  std::map<std::string, std::vector<long long>> payloads;  // by "outer > inner"
  std::vector<std::string> open;                           // at the end
  std::vector<std::string> domains;
};

Seen read(const std::string& text) {
  Seen seen;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string action;
    std::string domain;
    std::string name;
    long long payload = 0;
    std::getline(fields, action, '\t');
    std::getline(fields, domain, '\t');
    std::getline(fields, name, '\t');
    fields >> payload;
    seen.domains.push_back(domain);
    if (action == "pop") {
      seen.open.pop_back();
      continue;
    }
    seen.open.push_back(seen.open.empty() ? name : seen.open.back() + " > " + name);
    seen.payloads[seen.open.back()].push_back(payload);
  }
  return seen;
}

TEST(Ranges, NestTasksInSamplesInTheirCase) {
  const TemporaryFolder folder;
  const std::string list = (folder / "ranges.txt").string();
  const std::string report = (folder / "report.json").string();
  const Finished finished = run(
      {PARBENCH_BINARY, "--scenario", "selftest", "--strategy", "spin", "--devices", "cpu:0",
       "--duration", "100us", "--benchmark_repetitions=20", "--report", report},
      {folder.path(), {{"NVTX_INJECTION64_PATH", RANGE_LISTENER}, {"RANGE_LISTENER_FILE", list}}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;

  const Seen seen = read(text_of(list));
  const std::string name = "selftest/spin/tasks:10/duration:100us/noise:0";
  EXPECT_THAT(seen.domains, Each("parbench"));
  EXPECT_THAT(seen.open, IsEmpty());
  EXPECT_THAT(seen.payloads, Contains(Key(name + " > prepare")));
  EXPECT_THAT(seen.payloads, Contains(Key(name + " > task-costs")));
  ASSERT_THAT(seen.payloads, Contains(Key(name + " > sample")));
  const std::vector<long long>& rounds = seen.payloads.at(name + " > sample");
  const report::Report written = report::read_report(report);
  ASSERT_THAT(written.cases, SizeIs(1));
  ASSERT_THAT(written.cases[0].samples, SizeIs(rounds.size()));
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    EXPECT_EQ(written.cases[0].samples[i].round, rounds[i]);
  }
  // Ten tasks of one cost, in the order of the plan, each time the plan runs.
  const std::string task = name + " > sample > spin";
  ASSERT_THAT(seen.payloads, Contains(Key(task)));
  const std::vector<long long>& tasks = seen.payloads.at(task);
  std::size_t executions = 0;
  for (const report::Sample& sample : written.cases[0].samples) {
    executions += static_cast<std::size_t>(sample.iterations);
  }
  ASSERT_THAT(tasks, SizeIs(10 * executions));
  for (std::size_t i = 0; i < tasks.size(); ++i)
    EXPECT_EQ(tasks[i], static_cast<long long>(i % 10));
}

TEST(Ranges, AReplayIsOneAndItsTasksAreThoseOfTheCapture) {
  const TemporaryFolder folder;
  const std::string list = (folder / "ranges.txt").string();
  const Finished finished = run(
      {PARBENCH_BINARY, "--scenario", "selftest", "--strategy", "spin", "--devices", "cpu:0",
       "--duration", "100us", "--graph", "--benchmark_repetitions=3", "--report",
       (folder / "report.json").string()},
      {folder.path(), {{"NVTX_INJECTION64_PATH", RANGE_LISTENER}, {"RANGE_LISTENER_FILE", list}}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;

  const Seen seen = read(text_of(list));
  const std::string name = "selftest/spin/tasks:10/duration:100us/noise:0/graph:true";
  ASSERT_THAT(seen.payloads, Contains(Key(name + " > sample > graph")));
  EXPECT_THAT(seen.payloads.at(name + " > sample > graph"), Each(10)) << "the number of tasks";
  EXPECT_THAT(seen.payloads, Not(Contains(Key(name + " > sample > spin"))));
  EXPECT_THAT(seen.payloads, Contains(Key(name + " > prepare > capture > spin")));
}

class RangesOfScenarios : public ::testing::TestWithParam<SmallRun> {
 protected:
  void SetUp() override { require_two_cores(); }
};

TEST_P(RangesOfScenarios, NameEveryTaskOfEveryCaseOrItsKind) {
  const TemporaryFolder folder;
  const std::string list = (folder / "ranges.txt").string();
  const std::string report = (folder / "report.json").string();
  Words words = GetParam().words();
  words.insert(words.end(), {"--report", report});
  const Finished finished = run(
      words,
      {folder.path(), {{"NVTX_INJECTION64_PATH", RANGE_LISTENER}, {"RANGE_LISTENER_FILE", list}}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;

  const Seen seen = read(text_of(list));
  EXPECT_THAT(seen.open, IsEmpty());
  int profiled = 0;
  for (const report::CaseResult& one : report::read_report(report).cases) {
    if (!one.profile || !one.profile->timeline) continue;
    ++profiled;
    for (const Task& task : one.profile->timeline->graph.tasks) {
      const std::string& name = task.cost_key.empty() ? task.name : task.cost_key;
      EXPECT_THAT(seen.payloads, Contains(Key(one.name + " > sample > " + name)));
    }
  }
  EXPECT_GT(profiled, 1);
}

INSTANTIATE_TEST_SUITE_P(OfSeveralDevices, RangesOfScenarios, ::testing::ValuesIn(small_runs()),
                         name_of);

TEST(Ranges, AreNotNeededToRun) {
  const TemporaryFolder folder;
  const Finished finished =
      run({PARBENCH_BINARY, "--scenario", "selftest", "--strategy", "spin", "--devices", "cpu:0",
           "--duration", "100us", "--benchmark_repetitions=1", "--report",
           (folder / "report.json").string()},
          {folder.path(), {{"NVTX_INJECTION64_PATH", "/does/not/exist.so"}}});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
}

}  // namespace
}  // namespace parbench::test
