// The command line: flags to options, config and rerun files, and what is said of bad input.
#include "bench/cli.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/described.h"
#include "reports/io/file.h"
#include "tests/bench/described_scenarios.h"

namespace parbench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::TempDir;

const ScenarioList& fakes() {
  static const ScenarioList list = testing::described_scenarios();
  return list;
}

Options parse(std::vector<std::string> words) {
  words.insert(words.begin(), "parbench");
  return parse_command_line(words, fakes());
}

/// The message of the error that the words cause.
std::string error_of(const std::vector<std::string>& words) {
  try {
    (void)parse(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::string file_with(const std::string& text) {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string path = TempDir() + "cli_" + info->name() + ".json";
  std::ofstream(path) << text;
  return path;
}

TEST(Cli, ReadsEveryFlag) {
  const Options options = parse({"--scenario",
                                 "pipe,mat",
                                 "--strategy=single",
                                 "--preset",
                                 "seed",
                                 "--devices",
                                 "2",
                                 "--dtype",
                                 "bf16",
                                 "--graph",
                                 "--split",
                                 "1,3",
                                 "--split",
                                 "5",
                                 "--precision",
                                 "0.5",
                                 "--min-samples",
                                 "9",
                                 "--max-time",
                                 "2.5",
                                 "--seed",
                                 "7",
                                 "--report",
                                 "out.json",
                                 "--dry-run",
                                 "--quiet",
                                 "--benchmark_filter=x"});
  EXPECT_EQ(options.command, Command::run);
  EXPECT_THAT(options.scenarios, ElementsAre("pipe", "mat"));
  EXPECT_THAT(options.strategies, ElementsAre("single"));
  EXPECT_EQ(options.preset, "seed");
  EXPECT_EQ(options.devices, "2");
  EXPECT_EQ(options.format, NumberFormat{DType::bf16});
  EXPECT_TRUE(options.graph);
  EXPECT_THAT(options.axes, ElementsAre(Pair("split", ElementsAre("1", "3", "5"))));
  EXPECT_EQ(options.precision_percent, 0.5);
  EXPECT_TRUE(options.precision_given);
  EXPECT_EQ(options.min_samples, 9);
  EXPECT_EQ(options.max_time_seconds, 2.5);
  EXPECT_EQ(options.seed, 7U);
  EXPECT_EQ(options.report_path, "out.json");
  EXPECT_TRUE(options.dry_run);
  EXPECT_TRUE(options.quiet);
  EXPECT_THAT(options.benchmark_flags, ElementsAre("--benchmark_filter=x"));
  EXPECT_EQ(options.command_line.front(), "parbench");
}

TEST(Cli, HasDefaults) {
  const Options options = parse({"--scenario", "all"});
  EXPECT_THAT(options.scenarios, ElementsAre("pipe", "mat"));
  EXPECT_EQ(options.preset, "quick");
  EXPECT_FALSE(options.precision_given);
  EXPECT_FALSE(options.min_samples.has_value());
  EXPECT_FALSE(options.dry_run);
}

TEST(Cli, KnowsCommands) {
  EXPECT_EQ(parse({"list"}).command, Command::list);
  EXPECT_EQ(parse({"devices"}).command, Command::devices);
  EXPECT_EQ(parse({"show", "r.json"}).command, Command::show);
  EXPECT_THAT(parse({"show", "r.json"}).input_paths, ElementsAre("r.json"));
  const Options exported = parse({"export", "r.json", "--format", "csv", "-o", "r.csv"});
  EXPECT_EQ(exported.command, Command::export_report);
  EXPECT_THAT(exported.input_paths, ElementsAre("r.json"));
  EXPECT_EQ(exported.export_format, "csv");
  EXPECT_EQ(exported.output_path, "r.csv");
  EXPECT_EQ(parse({"export", "--format=csv", "r.json"}).output_path, "");
  const Options page = parse({"html", "a.json", "-o", "page.html", "b.json", "c.json"});
  EXPECT_EQ(page.command, Command::html);
  EXPECT_THAT(page.input_paths, ElementsAre("a.json", "b.json", "c.json"));
  EXPECT_EQ(page.output_path, "page.html");
  EXPECT_EQ(parse({"--help"}).command, Command::help);
  EXPECT_EQ(parse({"-h", "--scenario", "nonsense"}).command, Command::help);
  EXPECT_EQ(parse({"--version"}).command, Command::version);
}

TEST(Cli, PeaksTakesDevicesAndAFormat) {
  const Options all = parse({"peaks"});
  EXPECT_EQ(all.command, Command::peaks);
  EXPECT_FALSE(all.format_given);
  EXPECT_FALSE(all.refresh);
  const Options some = parse({"peaks", "--devices", "cpu:0", "--dtype", "bf16", "--refresh"});
  EXPECT_EQ(some.devices, "cpu:0");
  EXPECT_TRUE(some.format_given);
  EXPECT_EQ(to_string(some.format), "bf16");
  EXPECT_TRUE(some.refresh);
  EXPECT_THAT(error_of({"peaks", "--dtype", "f16"}), HasSubstr("--dtype 'f16'"));
  EXPECT_EQ(error_of({"peaks", "--quiet"}),
            "'peaks' takes no flags but its own, but --quiet was given");
}

TEST(Cli, CommandsHaveHelpOfTheirOwn) {
  for (const std::string flag : {"--help", "-h"}) {
    const Options options = parse({"devices", flag});
    EXPECT_EQ(options.command, Command::help);
    EXPECT_EQ(options.help_topic, Command::devices);
    EXPECT_EQ(parse({"list", flag}).help_topic, Command::list);
    EXPECT_EQ(parse({flag}).help_topic, Command::run);
  }
  EXPECT_THAT(help_text(fakes(), Command::list),
              AllOf(HasSubstr("Usage:\n  parbench list\n"), HasSubstr("axes"),
                    Not(HasSubstr("--scenario"))));
  EXPECT_THAT(help_text(fakes(), Command::devices),
              AllOf(HasSubstr("Usage:\n  parbench devices\n"), HasSubstr("missing")));
  EXPECT_THAT(
      help_text(fakes(), Command::show),
      AllOf(HasSubstr("Usage:\n  parbench show REPORT [--calls]\n"), HasSubstr("Exit codes")));
  EXPECT_THAT(help_text(fakes(), Command::export_report),
              AllOf(HasSubstr("Usage:\n  parbench export REPORT --format FORMAT [-o FILE]\n"),
                    HasSubstr("prometheus"), HasSubstr("Exit codes")));
  EXPECT_THAT(help_text(fakes(), Command::html),
              AllOf(HasSubstr("Usage:\n  parbench html REPORT… -o FILE.html\n"),
                    HasSubstr("\n  -o FILE.html  "), HasSubstr("Exit codes")));
}

TEST(Cli, HelpOfACommandEndsWithItsOwnExamplesAndExitCodes) {
  const std::vector<std::pair<Command, std::string>> all{
      {Command::peaks, "parbench peaks"},
      {Command::show, "parbench show "},
      {Command::export_report, "parbench export "},
      {Command::html, "parbench html "},
      {Command::dashboard, "parbench dashboard "},
      {Command::compare, "parbench compare "},
      {Command::ab, "parbench ab "}};
  for (const auto& [command, call] : all) {
    const std::string help = help_text(fakes(), command);
    EXPECT_THAT(help, AllOf(HasSubstr("\nExamples:\n  " + call), HasSubstr("\nExit codes: 0 ")));
    EXPECT_THAT(help, Not(HasSubstr("parbench --scenario pipeline"))) << "of a run: " << call;
    std::istringstream lines(help.substr(help.find("Examples")));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 104U) << line;
  }
  for (const Command command : {Command::list, Command::devices}) {
    EXPECT_THAT(help_text(fakes(), command),
                AllOf(HasSubstr("\nExit codes: 0 done"), Not(HasSubstr("Examples"))));
  }
  EXPECT_THAT(help_text(fakes(), Command::show), Not(HasSubstr("3 a case regressed")));
  EXPECT_THAT(help_text(fakes(), Command::dashboard), HasSubstr("with --strict, a file"));
}

TEST(Cli, CommandsTakeWhatTheyNeedAndNothingElse) {
  EXPECT_THAT(error_of({"show"}),
              AllOf(HasSubstr("'show': REPORT is required"), HasSubstr("parbench show --help")));
  EXPECT_THAT(error_of({"export", "--format", "csv"}), HasSubstr("'export': REPORT is required"));
  EXPECT_THAT(error_of({"export", "r.json"}), HasSubstr("'export': --format is required"));
  EXPECT_THAT(error_of({"export", "r.json", "--format", "cvs"}),
              AllOf(HasSubstr("--format 'cvs' does not exist; did you mean 'csv'"),
                    HasSubstr("there are: google-benchmark, github-action-benchmark, bencher, csv, "
                              "prometheus, markdown")));
  EXPECT_EQ(error_of({"export", "r.json", "--format"}), "--format needs a value");
  EXPECT_EQ(error_of({"export", "r.json", "--format", "csv", "-o"}), "-o needs a value");
  EXPECT_EQ(error_of({"export", "r.json", "--format", "csv", "-o", ""}), "-o '' is empty");
  EXPECT_EQ(parse({"export", "r.json", "--format", "csv", "-o", "-"}).output_path, "")
      << "standard output";
  EXPECT_EQ(parse({"html", "r.json", "-o", "-"}).output_path, "");
  EXPECT_EQ(error_of({"dashboard", "reports", "-o", "-"}), "-o '-' is no folder; name one");
  EXPECT_EQ(error_of({"show", ""}), "REPORT '' is empty");
  EXPECT_EQ(error_of({"export", "r.json", "--format", "csv", "--format", "csv"}),
            "--format was given 2 times; give it once");
  EXPECT_THAT(error_of({"html", "-o", "page.html"}),
              HasSubstr("'html': REPORT is required: parbench html REPORT… -o FILE.html"));
  EXPECT_THAT(error_of({"html", "a.json"}), HasSubstr("'html': -o is required"));
  EXPECT_EQ(error_of({"html", "a.json", "", "-o", "page.html"}), "REPORT '' is empty");
  EXPECT_EQ(error_of({"html", "a.json", "-o", "page.html", "--quiet"}),
            "'html' takes reports and -o FILE.html, but --quiet was given");
  EXPECT_EQ(error_of({"show", "a.json", "b.json"}),
            "'show' takes no second report, but b.json was given");
  EXPECT_EQ(error_of({"show", "r.json", "--quiet"}),
            "'show' takes no flags but its own, but --quiet was given");
  EXPECT_EQ(error_of({"export", "r.json", "--format", "csv", "--quiet"}),
            "'export' takes no flags but its own, but --quiet was given");
  EXPECT_EQ(error_of({"--scenario", "pipe", "show", "r.json"}),
            "'show' takes no flags but its own, but --scenario was given");
}

TEST(Cli, SuggestsWhatWasMeant) {
  EXPECT_THAT(error_of({"--scenario", "pip"}),
              AllOf(HasSubstr("--scenario 'pip'"), HasSubstr("did you mean 'pipe'")));
  EXPECT_THAT(error_of({"--scenario", "pipe", "--splt", "3"}),
              AllOf(HasSubstr("--splt"), HasSubstr("did you mean '--split'")));
  EXPECT_THAT(error_of({"--scenario", "pipe", "--preset", "sed"}),
              AllOf(HasSubstr("--preset 'sed'"), HasSubstr("did you mean 'seed'")));
  EXPECT_THAT(error_of({"lst"}), AllOf(HasSubstr("'lst'"), HasSubstr("did you mean 'list'")));
  EXPECT_THAT(error_of({"pipe"}), HasSubstr("did you mean '--scenario pipe'"));
  EXPECT_THAT(error_of({"--scenario", "xylophone"}),
              AllOf(HasSubstr("pipe, mat"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(error_of({"--scenario", "all,pipe"}),
              AllOf(HasSubstr("--scenario 'all'"), HasSubstr("give it alone")));
}

TEST(Cli, SaysWhatScenariosThereAre) {
  EXPECT_THAT(error_of({}), AllOf(HasSubstr("--scenario"), HasSubstr("pipe"), HasSubstr("mat")));
}

TEST(Cli, RejectsBadValuesByFlagValueAndRange) {
  const std::vector<std::string> good{"--scenario", "pipe"};
  const auto with = [&](const std::string& flag, const std::string& value) {
    return error_of({"--scenario", "pipe", flag, value});
  };
  EXPECT_THAT(with("--precision", "0"), AllOf(HasSubstr("--precision '0'"), HasSubstr("0.01")));
  EXPECT_THAT(with("--precision", "nan"), HasSubstr("'nan' is not a number"));
  EXPECT_THAT(with("--precision", "1%"), HasSubstr("'1%'"));
  EXPECT_THAT(with("--min-samples", "0"), HasSubstr("'0' is too small"));
  EXPECT_THAT(with("--min-samples", "-3"), HasSubstr("'-3' is too small"));
  EXPECT_THAT(with("--min-samples", "2.5"), HasSubstr("not a whole number"));
  EXPECT_THAT(with("--min-samples", "99999999999999999999"), HasSubstr("too large"));
  EXPECT_THAT(with("--max-time", "-1"), HasSubstr("--max-time '-1'"));
  EXPECT_THAT(with("--seed", "1e3"), HasSubstr("not a whole number"));
  EXPECT_THAT(with("--dtype", "f64"), AllOf(HasSubstr("'f64'"), HasSubstr("f32, tf32, bf16")));
  EXPECT_THAT(with("--split", ""), HasSubstr("empty item"));
  EXPECT_THAT(with("--split", "1,,3"), HasSubstr("empty item"));
  EXPECT_THAT(with("--split", "1,3,"), HasSubstr("empty item"));
  EXPECT_THAT(with("--split", "1,3,1"), HasSubstr("'1' twice"));
  EXPECT_THAT(with("--report", ""), HasSubstr("--report '' is empty; allowed: the path of a file"));
  EXPECT_THAT(with("--devices", ""), HasSubstr("--devices '' is empty; allowed: a count"));
  EXPECT_EQ(parse({"--scenario", "pipe", "--report=a="}).report_path, "a=");
  EXPECT_EQ(error_of({"--scenario", "pipe", "--split="}), "--split needs a value");
  EXPECT_EQ(error_of({"--scenario", "pipe", "--split"}), "--split needs a value");
  EXPECT_EQ(error_of({"--scenario", "pipe", "--split", "--quiet"}), "--split needs a value");
  EXPECT_THAT(error_of({"--scenario", "pipe", "--seed", "1", "--seed", "2"}),
              HasSubstr("--seed was given 2 times"));
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"list", "--scenario"},
                                             {"--scenario", "pipe", "list"},
                                             {"devices", "--scenario=pipe"}}) {
    EXPECT_THAT(error_of(words), AllOf(HasSubstr("takes no flags"), HasSubstr("--scenario")));
  }
  EXPECT_EQ(error_of({"list", "pipe"}), "'list' takes no arguments, but pipe was given");
}

TEST(Cli, TogglesAreTrueOrFalse) {
  EXPECT_TRUE(parse({"--scenario", "pipe", "--dry-run=true"}).dry_run);
  EXPECT_FALSE(parse({"--scenario", "pipe", "--dry-run=false"}).dry_run);
  EXPECT_FALSE(parse({"--scenario", "pipe", "--quiet", "--quiet=false"}).quiet);
  EXPECT_EQ(parse({"--scenario", "pipe", "--version=false"}).command, Command::run);
  for (const std::string flag : {"--dry-run", "--quiet", "--version"}) {
    for (const std::string value : {"1", "yes", "ture", "maybe", "TRUE"}) {
      EXPECT_THAT(error_of({"--scenario", "pipe", flag + "=" + value}),
                  AllOf(HasSubstr(flag + " '" + value + "'"), HasSubstr(flag + "=false")));
    }
  }
}

TEST(Cli, TakesFlagsFromAFileAndLetsFlagsWin) {
  const std::string path = file_with(
      R"({"scenario": "pipe", "split": [1, "3+9"], "precision": 2.5, "quiet": true, "seed": 3})");
  const Options options = parse({"--config", path, "--seed", "4"});
  EXPECT_THAT(options.scenarios, ElementsAre("pipe"));
  EXPECT_THAT(options.axes, ElementsAre(Pair("split", ElementsAre("1", "3+9"))));
  EXPECT_EQ(options.precision_percent, 2.5);
  EXPECT_TRUE(options.quiet);
  EXPECT_EQ(options.seed, 4U);
}

TEST(Cli, RejectsBadConfigFiles) {
  EXPECT_THAT(error_of({"--config", "/nowhere/x.json"}), HasSubstr("/nowhere/x.json"));
  const auto with = [](const std::string& text) { return error_of({"--config", file_with(text)}); };
  EXPECT_THAT(with("{\"scenario\": \"pi"), HasSubstr("RejectsBadConfigFiles.json"));
  EXPECT_THAT(with("not json"), HasSubstr("RejectsBadConfigFiles.json"));
  EXPECT_THAT(with("[1]"), HasSubstr("no object"));
  EXPECT_THAT(with(R"({"scenari": "pipe"})"), HasSubstr("did you mean 'scenario'"));
  for (const std::string key : {"config", "rerun", "version", "confi"}) {
    EXPECT_THAT(with("{\"" + key + "\": \"pipe\"}"),
                AllOf(HasSubstr("'" + key + "'"), HasSubstr("is no flag that a file can set"),
                      Not(HasSubstr("did you mean"))));
  }
  EXPECT_THAT(with(R"({"scenario": "pipe", "split": null})"), HasSubstr("'split'"));
  EXPECT_THAT(with(R"({"scenario": "pipe", "split": []})"), HasSubstr("empty list"));
  EXPECT_THAT(with(R"({"scenario": "pipe", "quiet": 1})"), HasSubstr("true, false"));
  EXPECT_THAT(with(R"({"scenario": "pipe", "seed": [1]})"), HasSubstr("takes one value"));
  EXPECT_THAT(with(R"({"scenario": "pipe", "devices": ["cpu:0", "cpu:1"]})"),
              HasSubstr("it takes one value, here \"cpu:0,cpu:1\""));
  EXPECT_THAT(with(R"({"scenario": "pipe", "seed": 1.5})"), HasSubstr("--seed '1.5'"));
}

report::Report report_of(const Options& options, const std::vector<std::string>& cases) {
  report::Report report;
  report.version = "0";
  report.started_utc = "2020-01-01T00:00:00Z";
  report.options = named_values(flags_from(options));
  for (const std::string& name : cases) {
    report::CaseResult known;
    known.name = name;
    known.scenario = name.substr(0, name.find('/'));
    known.strategy = "single";
    known.dtype = "f32";
    report.cases.push_back(known);
  }
  return report;
}

TEST(Cli, RunsTheCasesOfAReportAgain) {
  const Options first = parse({"--scenario", "pipe", "--preset", "seed", "--split", "2", "--seed",
                               "9", "--devices", "2", "--slowdown", "5", "--autotune"});
  const std::string path = TempDir() + "cli_rerun.json";
  report::write_report(path, report_of(first, {"pipe/single/batch:12", "mat/alone/n:64"}));
  const Options again = parse({"--rerun", path, "--max-time", "3"});
  EXPECT_THAT(again.only_cases, ElementsAre("pipe/single/batch:12", "mat/alone/n:64"));
  EXPECT_THAT(again.scenarios, ElementsAre("pipe", "mat"));
  EXPECT_EQ(again.preset, "seed");
  EXPECT_FALSE(again.precision_given) << "the published number of samples must stay";
  EXPECT_EQ(again.seed, 9U);
  EXPECT_EQ(again.devices, "2");
  EXPECT_TRUE(again.autotune);
  EXPECT_FALSE(parse({"--rerun", path, "--autotune=false"}).autotune);
  EXPECT_EQ(again.max_time_seconds, 3);
  EXPECT_THAT(again.axes, ElementsAre(Pair("slowdown", ElementsAre("5"))));
  EXPECT_THAT(error_of({"--rerun", path, "--split", "3"}),
              AllOf(HasSubstr("--split"), HasSubstr("--rerun")));
  EXPECT_THAT(error_of({"--rerun", path, "--scenario", "pipe"}), HasSubstr("--scenario"));
  EXPECT_THAT(error_of({"--rerun", path, "--graph"}), HasSubstr("--graph cannot be combined"));
  EXPECT_FALSE(again.graph);
}

TEST(Cli, KeepsThatARunCapturesGraphs) {
  const Options first = parse({"--scenario", "pipe", "--graph"});
  const std::string path = TempDir() + "cli_graph.json";
  report::write_report(path, report_of(first, {"pipe/single/batch:12/graph:true"}));
  EXPECT_TRUE(parse({"--rerun", path}).graph);
  EXPECT_TRUE(parse({"--config", file_with(R"({"scenario": "pipe", "graph": true})")}).graph);
}

TEST(Cli, RepeatsAProfileAsAProfile) {
  const std::string profiled = TempDir() + "cli_profile.json";
  report::write_report(
      profiled, report_of(parse({"--scenario", "pipe", "--profile"}), {"pipe/single/batch:12"}));
  EXPECT_TRUE(parse({"--rerun", profiled}).profile);
  EXPECT_FALSE(parse({"--rerun", profiled, "--profile=false"}).profile);
  EXPECT_FALSE(parse({"--rerun", profiled, "--precision", "2"}).profile);
  const std::string sampled = TempDir() + "cli_no_profile.json";
  report::write_report(sampled, report_of(parse({"--scenario", "pipe", "--precision", "2"}),
                                          {"pipe/single/batch:12"}));
  EXPECT_TRUE(parse({"--rerun", sampled, "--profile"}).profile);
}

TEST(Cli, RefusesWhatAProfileWouldNotHeed) {
  EXPECT_THAT(error_of({"--scenario", "pipe", "--profile", "--precision", "1"}),
              HasSubstr("--precision has no effect with --profile"));
  EXPECT_THAT(error_of({"--scenario", "pipe", "--profile", "--min-samples", "50"}),
              HasSubstr("--min-samples has no effect with --profile"));
}

TEST(Cli, RerunsWithTheSameFlagsOfGoogleBenchmark) {
  report::Report report = report_of(parse({"--scenario", "pipe"}), {"pipe/single/batch:12"});
  report.options.emplace_back("benchmark_repetitions", std::int64_t{7});
  report.options.emplace_back("benchmark_min_time", 0.25);
  const std::string path = TempDir() + "cli_repetitions.json";
  report::write_report(path, report);
  EXPECT_THAT(parse({"--rerun", path, "--benchmark_repetitions=3"}).benchmark_flags,
              ElementsAre("--benchmark_repetitions=7", "--benchmark_min_time=0.25",
                          "--benchmark_repetitions=3"))
      << "the last one counts";
  EXPECT_THAT(parse({"--rerun", path, "--precision", "2"}).benchmark_flags,
              ElementsAre("--benchmark_min_time=0.25"))
      << "a fixed number of samples would leave the precision without effect";
}

TEST(Cli, RejectsReportsThatCannotBeRunAgain) {
  EXPECT_THAT(error_of({"--rerun", "/nowhere/r.json"}), HasSubstr("/nowhere/r.json"));
  EXPECT_THAT(error_of({"--rerun", file_with("{\"context\": {")}), HasSubstr("Rejects"));
  EXPECT_THAT(error_of({"--rerun", file_with("{}")}), HasSubstr("Rejects"));
  const Options options = parse({"--scenario", "pipe"});
  const std::string empty = TempDir() + "cli_empty.json";
  report::write_report(empty, report_of(options, {}));
  EXPECT_THAT(error_of({"--rerun", empty}), HasSubstr("no cases"));
  const std::string foreign = TempDir() + "cli_foreign.json";
  report::write_report(foreign, report_of(options, {"gone/single"}));
  EXPECT_THAT(error_of({"--rerun", foreign}), HasSubstr("gone/single"));
}

TEST(Cli, RejectsReportsOfAnotherSchemaVersion) {
  const Options options = parse({"--scenario", "pipe"});
  report::Json file = report::to_json(report_of(options, {"pipe/single/batch:12"}));
  file["parbench"]["schema_version"] = report::schema_version + 1;
  EXPECT_THAT(error_of({"--rerun", file_with(file.dump())}), HasSubstr("schema"));
}

TEST(Cli, HelpNamesEveryFlagAndFitsTheTerminal) {
  const std::string help = help_text(fakes());
  for (const Flag& flag : all_flags(fakes())) {
    EXPECT_THAT(help, HasSubstr("--" + flag.name));
  }
  EXPECT_THAT(help, HasSubstr("Axes of pipe, mat"));
  EXPECT_THAT(help, HasSubstr("Examples"));
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 104U) << line;
}

TEST(Cli, SpreadsARunOverLaunches) {
  EXPECT_EQ(parse({"--scenario", "pipe"}).launches, 1);
  const Options options = parse({"--scenario", "pipe", "--launches", "5"});
  EXPECT_EQ(options.launches, 5);
  const std::string path = TempDir() + "cli_launches.json";
  report::write_report(path, report_of(options, {"pipe/single/batch:12"}));
  EXPECT_EQ(parse({"--rerun", path}).launches, 5);
  EXPECT_EQ(parse({"--rerun", path, "--launches", "2"}).launches, 2);
  EXPECT_EQ(parse({"--rerun", path, "--profile"}).launches, 1) << "a profile is one process";
  const std::string config = file_with("{\"scenario\": \"pipe\", \"launches\": 3}");
  EXPECT_EQ(parse({"--config", config}).launches, 3);
  for (const char* value : {"0", "-1", "2.5", "many", "1001"}) {
    EXPECT_THAT(error_of({"--scenario", "pipe", "--launches", value}),
                HasSubstr(fmt::format("--launches '{}'", value)));
  }
  EXPECT_THAT(error_of({"--scenario", "pipe", "--profile", "--launches", "2"}),
              HasSubstr("--launches cannot be combined with --profile"));
}

TEST(Cli, OneOfSeveralLaunchesIsNothingToAskFor) {
  EXPECT_THAT(help_text(fakes()), Not(HasSubstr("--launch ")));
  EXPECT_THAT(error_of({"--scenario", "pipe", "--launch", "0"}),
              HasSubstr("--launch is for the processes that --launches starts"));
  EXPECT_THAT(error_of({"--config", file_with("{\"scenario\": \"pipe\", \"launch\": 0}")}),
              HasSubstr("no flag that a file can set; did you mean 'launches'?"));
  const std::string path = TempDir() + "cli_launch.json";
  report::write_report(
      path, report_of(parse({"--scenario", "pipe", "--launches", "3"}), {"pipe/single/batch:12"}));
  EXPECT_EQ(parse({"--rerun", path, "--launch", "2"}).launch, 2);
  EXPECT_THAT(error_of({"--rerun", path, "--launch", "3"}), HasSubstr("--launch is for"));
}

}  // namespace
}  // namespace parbench
