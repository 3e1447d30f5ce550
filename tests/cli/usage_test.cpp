// The real binary and bad input: exit code 2, one line that names flag, value and what is allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "reports/io/file.h"
#include "tests/cli/small_runs.h"
#include "tests/cli/usage.h"
#include "tests/support/widest_line.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST_F(Usage, PrintsHelpVersionAndLists) {
  const Finished help = parbench({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("--scenario"), HasSubstr("--split"), HasSubstr("Exit")));
  EXPECT_THAT(help.out, AllOf(HasSubstr("--noise X[,X…]"), HasSubstr("--slowdown X  "),
                              HasSubstr("--duration; one value")));
  EXPECT_THAT(parbench({"--version"}).out, StartsWith("parbench "));
  const Finished list = parbench({"list"});
  EXPECT_EQ(list.exit_code, 0);
  for (const char* name : {"branch", "matmul", "overlap", "pipeline", "selftest", "--split"}) {
    EXPECT_THAT(list.out, HasSubstr(name));
  }
  const Finished devices = parbench({"devices"});
  EXPECT_EQ(devices.exit_code, 0);
  EXPECT_THAT(devices.out, AllOf(HasSubstr("cpu:0"), HasSubstr("\nNVTX: ")));
  for (const char* command : {"list", "devices"}) {
    const Finished page = parbench({command, "--help"});
    EXPECT_EQ(page.exit_code, 0) << page.err;
    EXPECT_THAT(page.out, HasSubstr(std::string("parbench ") + command));
  }
}

TEST_F(Usage, DevicesNamesTheInstructionSetAndItsLimit) {
  surroundings_.environment.emplace_back("DNNL_MAX_CPU_ISA", "AVX2");
  std::string text = parbench({"devices"}).out;
  EXPECT_THAT(text, HasSubstr("\n  oneDNN instruction set AVX2\n"));
  std::ranges::replace(text, '\n', ' ');
  EXPECT_THAT(text, HasSubstr(" oneDNN with AVX2 (DNNL_MAX_CPU_ISA=AVX2) "));
}

TEST_F(Usage, HelpFitsATerminalAndDescribesAnAxisForEachScenario) {
  const std::string help = parbench({"--help"}).out;
  EXPECT_LE(widest_line(help), 80U) << help;
  EXPECT_THAT(help, HasSubstr("--model MODEL[,MODEL…]"));
  EXPECT_THAT(help, HasSubstr("--batch N[,N…]              branch: images; launch, pipeline,"));
}

TEST_F(Usage, WrapsErrorsAsColumnsSays) {
  const Words words{PARBENCH_BINARY, "inspect", "toy", "--batchs", "2"};
  EXPECT_LE(widest_line(run(words, {surroundings_.directory, {{"COLUMNS", "60"}}}).err), 60U);
  EXPECT_GT(widest_line(run(words, {surroundings_.directory, {{"COLUMNS", ""}}}).err), 80U)
      << "programs that read them get whole lines";
}

TEST_F(Usage, HelpsWithHelpItself) {
  for (const std::string command : {"help", "version"}) {
    const Finished finished = parbench({command, "--help"});
    EXPECT_EQ(finished.exit_code, 0) << command;
    EXPECT_THAT(finished.out, HasSubstr("parbench " + command));
    EXPECT_EQ(parbench({"help", command}).out, finished.out);
  }
}

TEST_F(Usage, RefusesUnknownWords) {
  EXPECT_THAT(refusal({}), AllOf(HasSubstr("--scenario"), HasSubstr("pipeline")));
  EXPECT_THAT(refusal({"--scenario", "pipelin"}), HasSubstr("did you mean 'pipeline'"));
  EXPECT_THAT(refusal({"--scenario", "pipeline", "--splits", "3"}),
              HasSubstr("did you mean '--split'"));
  EXPECT_THAT(refusal({"--scenario", "pipeline", "--strategy", "singel"}),
              HasSubstr("did you mean 'single'"));
  EXPECT_THAT(selftest_refusal({"--split", "3"}), HasSubstr("pipeline"));
  EXPECT_THAT(selftest_refusal({"--preset", "publishd"}), HasSubstr("did you mean 'published'"));
  EXPECT_THAT(refusal({"devcies"}), HasSubstr("did you mean 'devices'"));
  EXPECT_THAT(refusal({"run"}),
              HasSubstr("'run'; a run has no command word: parbench --scenario NAME"));
  EXPECT_THAT(selftest_refusal({"--benchmark_nonsense=1"}), HasSubstr("--benchmark_nonsense"));
  EXPECT_THAT(selftest_refusal({"--benchmark_filter=nothing_has_this_name"}),
              HasSubstr("nothing_has_this_name"));
}

TEST_F(Usage, RefusesValuesThatAreNotAllowed) {
  for (const char* value : {"0", "-4", "2.5", "99999999999999999999", "", "12,", "a", "+3"}) {
    EXPECT_THAT(refusal({"--scenario", "pipeline", "--split", value}), HasSubstr("--split"))
        << value;
  }
  EXPECT_THAT(selftest_refusal({"--duration", "5"}), HasSubstr("has no unit"));
  EXPECT_THAT(selftest_refusal({"--max-time", "0"}), HasSubstr("--max-time '0'"));
  EXPECT_THAT(selftest_refusal({"--dtype", "f16"}), HasSubstr("f32, tf32, bf16"));
}

TEST_F(Usage, RefusesToTuneWhereNothingCanBe) {
  EXPECT_THAT(selftest_refusal({"--devices", "cpu:0", "--autotune"}),
              AllOf(HasSubstr("--autotune"), HasSubstr("oneDNN"), HasSubstr("cuda:0")));
  EXPECT_THAT(selftest_refusal({"--devices", "cpu:0", "--round-gradients"}),
              HasSubstr("--round-gradients: weight gradients of --dtype f32 have no other type"));
  EXPECT_THAT(selftest_refusal({"--devices", "cpu:0", "--dtype", "bf16", "--round-gradients"}),
              HasSubstr("no device of the run has kernels that round"));
}

TEST_F(Usage, RefusesTf32WhereNoDeviceHasIt) {
  for (const char* scenario : {"selftest", "matmul"}) {
    EXPECT_THAT(refusal({"--scenario", scenario, "--devices", "cpu:0", "--dtype", "tf32"}),
                AllOf(HasSubstr("--dtype tf32"), HasSubstr("f32"), HasSubstr("cuda:0")));
  }
}

TEST_F(Usage, RefusesASplitAboveTheBatch) {
  EXPECT_THAT(refusal({"--scenario", "pipeline", "--batch", "4", "--split", "5"}),
              AllOf(HasSubstr("5"), HasSubstr("4")));
}

TEST_F(Usage, RefusesDevicesThatAreNotThere) {
  for (const char* count : {"100000", "99999999999999999999"}) {
    EXPECT_THAT(selftest_refusal({"--devices", count}),
                AllOf(HasSubstr(count), AnyOf(HasSubstr("more than this machine has"),
                                              HasSubstr("more than this process may use"))));
  }
  EXPECT_THAT(selftest_refusal({"--devices", "cpu:99999999999999999999"}),
              HasSubstr("does not exist"));
  EXPECT_THAT(selftest_refusal({"--devices", "tpu:0"}), HasSubstr("tpu"));
  EXPECT_THAT(selftest_refusal({"--devices", "cuda:999"}),
              AnyOf(HasSubstr("not in this build"), HasSubstr("does not exist")));
  EXPECT_THAT(refusal({"--scenario", "selftest,matmul", "--for-profiler"}),
              HasSubstr("--for-profiler takes one scenario, not 2"));
  EXPECT_THAT(selftest_refusal({"--devices", "cpu:0/1"}), HasSubstr("cpu:0/1 does not exist"));
  EXPECT_THAT(selftest_refusal({"--devices", "cpu:0/"}), HasSubstr("which is not a number"));
  EXPECT_THAT(refusal({"--scenario", "matmul", "--strategy", "concurrent", "--devices", "1"}),
              HasSubstr("--strategy concurrent needs at least two devices"));
  for (const char* value : {"0", "-1", "1.5", "cpu:", "cpu:0,", "cpu:0,cpu:0"}) {
    EXPECT_THAT(selftest_refusal({"--devices", value}), HasSubstr("devices")) << value;
  }
}

TEST_F(Usage, RefusesFilesThatAreNotWhatTheyShouldBe) {
  for (const std::string flag : {"--config", "--rerun"}) {
    const auto names = [&](const std::string& path) { return HasSubstr(flag + " " + path); };
    const std::string text = file("text.json", "no json");
    const std::string half = file("half.json", "{\"parbench\": {\"schema_ver");
    const std::string folder = folder_.path().string();
    EXPECT_THAT(refusal({flag, "missing.json"}), names("missing.json"));
    EXPECT_THAT(refusal({flag, text}), names(text));
    EXPECT_THAT(refusal({flag, half}), names(half));
    EXPECT_THAT(refusal({flag, folder}), names(folder));
  }
  EXPECT_THAT(refusal({"--config", file("key.json", R"({"scenrio": "selftest"})")}),
              HasSubstr("did you mean 'scenario'"));
  const std::string twice =
      file("twice.json", R"({"scenario": "selftest", "tasks": 1, "tasks": 2})");
  EXPECT_THAT(refusal({"--config", twice}),
              AllOf(HasSubstr("--config " + twice), HasSubstr("'tasks' twice")));
  EXPECT_THAT(refusal({"--rerun", file("old.json", R"({"parbench": {"schema_version": 99}})")}),
              HasSubstr("99"));
}

TEST_F(Usage, FindsAnUnwritableReportBeforeTheRun) {
  EXPECT_THAT(selftest_refusal({"--report", "missing/folder/report.json"}),
              HasSubstr("--report missing/folder"));
  EXPECT_THAT(selftest_refusal({"--report", folder_.path().string()}),
              HasSubstr("--report " + folder_.path().string()));
  EXPECT_THAT(selftest_refusal({"--benchmark_out=missing/rows.json"}),
              HasSubstr("--benchmark_out=missing/rows.json"));
}

TEST_F(Usage, WritesNothingOverAnotherFileOfTheRun) {
  const std::string config = file("config.json", R"({"scenario": "selftest"})");
  const std::string link = (folder_ / "link.json").string();
  std::filesystem::create_symlink(config, link);
  EXPECT_THAT(refusal({"--config", config, "--report", "./config.json"}),
              AllOf(HasSubstr("--report './config.json'"), HasSubstr("--config")));
  EXPECT_THAT(refusal({"--config", link, "--report", config}), HasSubstr("--config"));
  EXPECT_THAT(refusal({"--config", config, "--benchmark_out=config.json"}),
              AllOf(HasSubstr("--benchmark_out 'config.json'"), HasSubstr("--config")));
  EXPECT_THAT(selftest_refusal({"--report", "same.json", "--benchmark_out=same.json"}),
              AllOf(HasSubstr("--benchmark_out"), HasSubstr("--report")));
  ASSERT_EQ(parbench({"--config", config, "--strategy", "spin", "--duration", "1ms",
                      "--benchmark_repetitions=1", "--report", "first.json"})
                .exit_code,
            0);
  const std::string before = text_of(folder_ / "first.json");
  EXPECT_THAT(refusal({"--rerun", "first.json", "--report", "first.json"}), HasSubstr("--rerun"));
  EXPECT_EQ(text_of(folder_ / "first.json"), before);
}

TEST_F(Usage, GivesEveryRunAReportOfItsOwn) {
  constexpr std::size_t count = 6;  // at once, so that some of them begin in the same second
  std::vector<std::unique_ptr<Process>> runs;
  for (std::size_t i = 0; i < count; ++i) {
    runs.push_back(std::make_unique<Process>(
        std::vector<std::string>{PARBENCH_BINARY, "--scenario", "selftest", "--strategy", "spin",
                                 "--devices", "cpu:0", "--duration", "100us",
                                 "--benchmark_repetitions=1"},
        Surroundings{folder_.path(), {{"PARBENCH_HOME", folder_.path().string()}}}));
  }
  std::set<std::string> reports;
  for (const auto& one : runs) {
    const Finished finished = one->wait();
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    reports.insert(report_of(finished));
  }
  EXPECT_EQ(reports.size(), count);
  for (const std::string& path : reports) EXPECT_TRUE(report::read_report(folder_ / path).complete);
}

TEST_F(Usage, MeasuresNothingInADryRun) {
  const Finished finished = parbench({"--scenario", "all", "--dry-run"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, AllOf(HasSubstr("selftest/"), HasSubstr("estimated time")));
  EXPECT_THAT(finished.out, Not(HasSubstr("cannot run")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "reports"));
}

TEST_F(Usage, NamesStrategiesThatTakeNoPart) {
  const Finished finished =
      parbench({"--scenario", "branch", "--devices", "cpu:0", "--graph", "--dry-run"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(
      finished.out,
      HasSubstr("branch: strategies threads, graph-chain, graph-one-stream, graph-streams "
                "left\nout: the strategy defines how work is launched; leave out --graph\n"));
}

TEST_F(Usage, ReportsHowAndOnWhatEachScenarioWasMeasured) {
  const Finished finished = parbench(
      {"--scenario", "selftest,matmul", "--strategy", "spin,alone", "--duration", "100us", "--n",
       "8", "--count", "2", "--max-time", "2", "--precision", "50", "--report", "report.json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const report::Report report = report::read_report(folder_ / "report.json");
  ASSERT_THAT(report.sampling, SizeIs(2));
  for (const report::Sampling& sampling : report.sampling) {
    EXPECT_EQ(sampling.precision, 0.5);
    EXPECT_EQ(sampling.max_seconds, 2.0);
    EXPECT_FALSE(sampling.total_seconds.has_value()) << "--max-time lifts the total limit";
  }
  EXPECT_EQ(report.sampling[0].scenario, "selftest");
  EXPECT_EQ(report.sampling[1].scenario, "matmul");
  EXPECT_THAT(report.devices, Contains(Field(&report::Device::scenario, "selftest")));
  EXPECT_THAT(report.devices, Contains(Field(&report::Device::scenario, "matmul")));
}

TEST_F(Usage, LeavesOutCasesByNameWhereTheTimeOfTheRunDoesNotSuffice) {
  const Finished finished =
      parbench({"--scenario", "selftest", "--strategy", "spin", "--tasks", "1", "--duration",
                "1000ms,1001ms,1002ms,1003ms,1004ms,1005ms", "--max-total-time", "10", "--report",
                "report.json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("not measured: out of time"));
  const report::Report report = report::read_report(folder_ / "report.json");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.sampling.front().total_seconds, 10);
  EXPECT_EQ(report.cases.front().status, report::CaseStatus::measured);
  const report::CaseResult& last = report.cases.back();
  EXPECT_TRUE(report::is_left_out_of_time(last));
  EXPECT_THAT(finished.err, HasSubstr(last.name + " not measured: out of time"));
}

TEST_F(Usage, TheDefaultTimeIsThatOfTheScenariosThatHaveCases) {
  const Finished finished = parbench(
      {"--scenario", "selftest,matmul", "--devices", "cpu:0", "--duration", "100us", "--precision",
       "50", "--benchmark_filter=selftest/spin", "--report", "report.json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const report::Report report = report::read_report(folder_ / "report.json");
  ASSERT_THAT(report.sampling, SizeIs(1));
  EXPECT_EQ(report.sampling.front().total_seconds, 150);
}

TEST_F(Usage, ReportsWhatJoinsTheDevicesOfAScenario) {
  require_two_cores();
  if (IsSkipped()) return;
  const Finished finished = parbench({"--scenario", "matmul", "--strategy", "concurrent", "--n",
                                      "32", "--count", "2", "--devices", "cpu:0,cpu:1",
                                      "--benchmark_repetitions=1", "--report", "report.json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const report::Report report = report::read_report(folder_ / "report.json");
  ASSERT_EQ(report.links.size(), 1U);
  EXPECT_EQ(report.links[0].scenario, "matmul");
  EXPECT_EQ(report.links[0].from, "cpu:0");
  EXPECT_EQ(report.links[0].to, "cpu:1");
  EXPECT_THAT(report.links[0].kind, HasSubstr("shared memory"));
}

TEST_F(Usage, DisplaysAggregatesAloneAndKeepsTheRowsInTheFile) {
  const Finished finished =
      parbench({"--scenario", "selftest", "--strategy", "spin", "--duration", "100us",
                "--benchmark_repetitions=3", "--benchmark_display_aggregates_only=true",
                "--benchmark_format=csv", "--benchmark_out=rows.json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::string name = "\"selftest/spin/tasks:10/duration:100us/noise:0";
  EXPECT_THAT(finished.out, HasSubstr(name + "_median\""));
  EXPECT_THAT(finished.out, Not(HasSubstr(name + "\"")));
  std::size_t repetitions = 0;
  const report::Json file = report::read_json(folder_ / "rows.json");
  for (const report::Json& row : file.at("benchmarks")) {
    if (row.at("run_type") == "iteration") ++repetitions;
  }
  EXPECT_EQ(repetitions, 3U);
}

TEST_F(Usage, RefusesOnceAFormatThatTheProcessorLacks) {
  surroundings_.environment.emplace_back("ONEDNN_MAX_CPU_ISA", "AVX2");
  for (const std::string scenario : {"all", "branch"}) {
    const std::string text =
        refusal({"--scenario", scenario, "--devices", "cpu:0", "--dtype", "bf16"});
    EXPECT_THAT(text, AllOf(HasSubstr("--dtype bf16: bf16 needs a processor with AVX-512 BF16"),
                            HasSubstr("use f32")));
    EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "reports"));
}

TEST_F(Usage, RefusesDevicesThatInterOpWouldNotUse) {
  EXPECT_THAT(refusal({"--scenario", "inter-op", "--devices", "cpu:0,cpu:1"}),
              AllOf(HasSubstr("--devices: 2 devices are named"), HasSubstr("name one")));
  const Finished listed = parbench(
      {"--scenario", "inter-op,selftest", "--devices", "cpu:0,cpu:1", "--benchmark_list_tests"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
}

TEST_F(Usage, RefusesSizesThatAGraphDoesNotHave) {
  EXPECT_THAT(refusal({"--scenario", "graph", "--dag", "mlp", "--model", "resnet18"}),
              HasSubstr("--model applies to --dag network only, not to --dag mlp"));
  EXPECT_THAT(refusal({"--scenario", "graph", "--dag", "network", "--nodes", "56"}),
              HasSubstr("--nodes does not apply to --dag network"));
  EXPECT_THAT(refusal({"--scenario", "graph", "--dag", "network", "--model", "none.onnx"}),
              AllOf(HasSubstr("--model 'none.onnx': no such file"), HasSubstr("check the path")));
  EXPECT_THAT(refusal({"--scenario", "graph", "--model", "resnet18", "--hidden", "64"}),
              HasSubstr("--hidden is not a size of model resnet18"));
}

TEST_F(Usage, NamesTheDevicesThatAPipelineNeeds) {
  EXPECT_THAT(refusal({"--scenario", "pipeline", "--devices", "cpu:0"}),
              AllOf(HasSubstr("--scenario pipeline needs at least two devices, and this run has 1"),
                    HasSubstr("--strategy single")));
  for (const std::vector<std::string>& chosen :
       {std::vector<std::string>{"--scenario", "pipeline", "--strategy", "single"},
        {"--scenario", "pipeline,selftest"}}) {
    std::vector<std::string> words = chosen;
    words.insert(words.end(), {"--model", "toy", "--devices", "cpu:0", "--benchmark_list_tests"});
    const Finished listed = parbench(words);
    EXPECT_EQ(listed.exit_code, 0) << listed.err;
    EXPECT_THAT(listed.out, HasSubstr("pipeline/single/"));
  }
}

TEST_F(Usage, NamesTheScenariosOfARunThatHaveNoCase) {
  const Finished planned =
      parbench({"--scenario", "selftest,collectives", "--devices", "cpu:0", "--dry-run"});
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_THAT(planned.out,
              HasSubstr("scenario collectives left out: it needs at least two devices"));
  const Finished chosen = parbench(
      {"--scenario", "selftest,matmul,branch", "--strategy", "spin", "--dry-run", "--width", "99"});
  EXPECT_EQ(chosen.exit_code, 0) << chosen.err;
  EXPECT_THAT(chosen.out,
              HasSubstr("scenarios matmul, branch left out: no matching name in --strategy"));
}

TEST_F(Usage, WritesNoReportToStandardOutput) {
  EXPECT_THAT(selftest_refusal({"--report", "-"}),
              AllOf(HasSubstr("--report '-' is not a file"), HasSubstr("./-")));
  EXPECT_THAT(selftest_refusal({"--trace", "-"}), HasSubstr("--trace '-' is not a file"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "-"));
}

TEST_F(Usage, SuggestsTheWordOfAnAxisThatWasMeant) {
  EXPECT_THAT(refusal({"--scenario", "pipeline", "--partition", "balancd"}),
              AllOf(HasSubstr("'balancd'"), HasSubstr("did you mean 'balanced'?")));
  EXPECT_THAT(refusal({"--scenario", "pipeline", "--schedule", "gpip"}),
              AllOf(HasSubstr("'gpip'"), HasSubstr("did you mean 'gpipe'?")));
}

// As `| head -1` does; here the reader is gone before anything is written.
TEST_F(Usage, AReaderThatHasSeenEnoughIsNoError) {
  const std::vector<std::vector<std::string>> questions{
      {"--help"}, {"list"}, {"devices"}, {"--scenario", "selftest", "--dry-run"}};
  for (const std::vector<std::string>& words : questions) {
    SCOPED_TRACE(words.back());
    std::filesystem::remove(folder_ / "pipe");
    std::vector<std::string> command{
        "sh", "-c", "mkfifo pipe; : <pipe & exec 3>pipe; wait; \"$@\" >&3", "sh", PARBENCH_BINARY};
    command.insert(command.end(), words.begin(), words.end());
    const Finished finished = run(command, {folder_.path(), {}});
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_THAT(finished.err, IsEmpty());
  }
}

}  // namespace
}  // namespace parbench::test
