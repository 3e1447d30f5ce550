// The command line: commands, flags, config files and errors for bad input.
#include "bench/cli/parser.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>

#include "tests/bench/cli/parsing.h"
#include "tests/support/widest_line.h"

namespace parbench {
namespace {

using test::command_of;
using test::error_of;
using test::fakes;
using test::file_with;
using test::help_of;
using test::parse;
using test::program_of;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

/// The name of the command and the values of its flags that are given or have a default.
using Parsed = std::pair<std::string, std::map<std::string, std::string>>;

Parsed parsed(const std::vector<std::string>& words) {
  const auto command = command_of(words);
  Parsed result{std::string(command->text().name), {}};
  for (const FlagRow& row : command->flags()) {
    if (const auto value = value_of(row)) result.second[row.value.name] = to_string(*value);
  }
  return result;
}

std::string name_of(const std::vector<std::string>& words) { return parsed(words).first; }

std::string value_in(const std::vector<std::string>& words, const std::string& flag) {
  return parsed(words).second[flag];
}

Value integer(std::int64_t value) { return value; }

TEST(Cli, ReadsEveryFlag) {
  const RunOptions options = parse({"--scenario",
                                    "pipe,mat",
                                    "--strategy=pipeline",
                                    "--preset",
                                    "published",
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
  EXPECT_THAT(names_of(options.scenarios), ElementsAre("pipe", "mat"));
  EXPECT_THAT(options.strategies, ElementsAre("pipeline"));
  EXPECT_EQ(options.preset, Preset::published);
  EXPECT_EQ(options.devices, "2");
  EXPECT_EQ(options.format, NumberFormat{DType::bf16});
  EXPECT_TRUE(options.graph);
  EXPECT_THAT(options.axes,
              ElementsAre(Pair("split", ElementsAre(integer(1), integer(3), integer(5)))));
  EXPECT_EQ(options.precision_percent, 0.5);
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
  const RunOptions options = parse({"--scenario", "all"});
  EXPECT_THAT(names_of(options.scenarios), ElementsAre("pipe", "mat"));
  EXPECT_EQ(options.preset, Preset::quick);
  EXPECT_FALSE(options.precision_percent.has_value());
  EXPECT_FALSE(options.min_samples.has_value());
  EXPECT_FALSE(options.dry_run);
}

TEST(Cli, KnowsCommands) {
  using Values = std::map<std::string, std::string>;
  EXPECT_EQ(parsed({"list"}), Parsed("list", {}));
  EXPECT_EQ(parsed({"devices"}), Parsed("devices", {}));
  EXPECT_EQ(parsed({"show", "r.json"}), Parsed("show", {{"REPORT", "r.json"}}));
  EXPECT_EQ(parsed({"export", "r.json", "--format", "csv", "-o", "r.csv"}),
            Parsed("export", {{"REPORT", "r.json"}, {"format", "csv"}, {"-o", "r.csv"}}));
  EXPECT_EQ(parsed({"export", "--format=csv", "r.json"}),
            Parsed("export", {{"REPORT", "r.json"}, {"format", "csv"}}));
  EXPECT_EQ(parsed({"html", "a.json", "-o", "page.html", "b.json", "c.json"}),
            Parsed("html", {{"REPORT", "a.json,b.json,c.json"}, {"-o", "page.html"}}));
  EXPECT_EQ(parsed({"compare", "a.json", "b.json", "--threshold", "5%"}),
            Parsed("compare", {{"BASE", "a.json,b.json"},
                               {"threshold", "5"},
                               {"require-decided", "0"},
                               {"format", "table"}}));
  EXPECT_EQ(parsed({"ab", "--a", "one", "--b", "two", "--seed", "7"}),
            Parsed("ab", Values{{"a", "one"},
                                {"b", "two"},
                                {"measure", "report"},
                                {"max-time", "1800"},
                                {"seed", "7"},
                                {"threshold", "2"},
                                {"require-decided", "0"},
                                {"format", "table"}}));
  EXPECT_EQ(name_of({"--help"}), "help");
  EXPECT_EQ(name_of({"-h", "--scenario", "nonsense"}), "help");
  EXPECT_EQ(name_of({"--version"}), "version");
  EXPECT_EQ(name_of({"version"}), "version");
}

TEST(Cli, PeaksTakesDevicesAndAFormat) {
  EXPECT_EQ(parsed({"peaks"}), Parsed("peaks", {{"precision", "10"}}));
  EXPECT_EQ(
      parsed({"peaks", "--devices", "cpu:0", "--dtype", "bf16", "--refresh"}),
      Parsed("peaks",
             {{"devices", "cpu:0"}, {"dtype", "bf16"}, {"precision", "10"}, {"refresh", "true"}}));
  EXPECT_THAT(error_of({"peaks", "--dtype", "f16"}), HasSubstr("--dtype 'f16'"));
  EXPECT_EQ(error_of({"peaks", "--quiet"}),
            "'peaks' does not take --quiet\nusage: parbench peaks [--devices N|NAME,NAME…] "
            "[--dtype f32|tf32|bf16] [--refresh] [--precision PERCENT] [--width COLUMNS]");
}

TEST(Cli, CommandsHaveHelpOfTheirOwn) {
  for (const std::string flag : {"--help", "-h"}) {
    EXPECT_EQ(parsed({"devices", flag}), Parsed("help", {{"COMMAND", "devices"}}));
    EXPECT_EQ(parsed({"list", flag}), Parsed("help", {{"COMMAND", "list"}}));
    EXPECT_EQ(parsed({flag}), Parsed("help", {{"COMMAND", "run"}}));
  }
  EXPECT_EQ(parsed({"help", "devices"}), Parsed("help", {{"COMMAND", "devices"}}));
  EXPECT_EQ(parsed({"help"}), Parsed("help", {{"COMMAND", "run"}}));
  EXPECT_THAT(error_of({"help", "devcies"}),
              AllOf(HasSubstr("COMMAND 'devcies'"), HasSubstr("did you mean 'devices'")));
  EXPECT_THAT(help_of("list"), AllOf(HasSubstr("Usage:\n  parbench list [NAME…]\n"),
                                     HasSubstr("axes"), Not(HasSubstr("--scenario"))));
  EXPECT_THAT(help_of("devices"),
              AllOf(HasSubstr("Usage:\n  parbench devices\n"), HasSubstr("missing")));
  EXPECT_THAT(help_of("show"),
              AllOf(HasSubstr("Usage:\n  parbench show REPORT [--calls] [--width COLUMNS]\n"),
                    HasSubstr("Exit codes")));
  EXPECT_THAT(help_of("export"),
              AllOf(HasSubstr("Usage:\n  parbench export REPORT --format FORMAT [-o FILE]\n"),
                    HasSubstr("prometheus"), HasSubstr("Exit codes")));
  EXPECT_THAT(help_of("html"), AllOf(HasSubstr("Usage:\n  parbench html REPORT… -o FILE.html\n"),
                                     HasSubstr("\n  -o FILE.html  "), HasSubstr("Exit codes")));
}

TEST(Cli, ListsAndHelpsWithAScenario) {
  EXPECT_EQ(parsed({"list", "pipe"}), Parsed("list", {{"NAME", "pipe"}}));
  EXPECT_EQ(parsed({"list", "pipe", "models"}), Parsed("list", {{"NAME", "pipe,models"}}));
  EXPECT_THAT(error_of({"list", "pip"}), HasSubstr("did you mean 'pipe'"));
  EXPECT_EQ(parsed({"help", "pipe"}), Parsed("help", {{"COMMAND", "pipe"}}));
  EXPECT_EQ(parsed({"--scenario", "pipe", "--help"}), Parsed("help", {{"COMMAND", "pipe"}}));
  EXPECT_EQ(parsed({"--scenario", "all", "--help"}), Parsed("help", {{"COMMAND", "run"}}));
}

TEST(Cli, HelpOfACommandEndsWithItsOwnExamplesAndExitCodes) {
  for (const auto& command : all_commands(program_of({}))) {
    const CommandText& text = command->text();
    if (text.name == default_command) continue;
    const std::string help = help_of(text.name);
    EXPECT_THAT(help, HasSubstr("\nExit codes: 0 "));
    EXPECT_LE(test::widest_line(help), 80U) << help;
    EXPECT_THAT(help, Not(HasSubstr("parbench --scenario pipeline"))) << "of a run: " << text.name;
    const std::string call = fmt::format("\nExamples:\n  parbench {} ", text.name);
    const bool has_arguments = std::ranges::any_of(command->flags(), &FlagRow::required);
    if (has_arguments) {
      EXPECT_THAT(help, HasSubstr(call));
    }
  }
  EXPECT_THAT(help_of("devices"),
              AllOf(HasSubstr("\nExit codes: 0 done"), Not(HasSubstr("Examples"))));
  EXPECT_THAT(help_of("peaks"), HasSubstr("\nExamples:\n  parbench peaks"));
  EXPECT_THAT(help_of("show"), Not(HasSubstr("3 a case regressed")));
  EXPECT_THAT(help_of("dashboard"), HasSubstr("--strict, a file was skipped"));
}

TEST(Cli, CommandsTakeWhatTheyNeedAndNothingElse) {
  EXPECT_EQ(error_of({"show"}),
            "'show': REPORT is required\nusage: parbench show REPORT [--calls] [--width COLUMNS]");
  EXPECT_THAT(error_of({"export", "--format", "csv"}), HasSubstr("'export': REPORT is required"));
  EXPECT_THAT(error_of({"export", "r.json"}), HasSubstr("'export': --format is required"));
  EXPECT_THAT(
      error_of({"export", "r.json", "--format", "cvs"}),
      AllOf(
          HasSubstr("--format 'cvs' is not a choice"), HasSubstr("did you mean 'csv'"),
          HasSubstr("allowed: google-benchmark, github-action-benchmark, bencher, csv, csv-calls, "
                    "prometheus, markdown")));
  EXPECT_EQ(error_of({"export", "r.json", "--format"}), "--format needs a value");
  EXPECT_EQ(error_of({"export", "r.json", "--format", "csv", "-o"}), "-o needs a value");
  EXPECT_EQ(error_of({"export", "r.json", "--format", "csv", "-o", ""}),
            "-o '' is empty; give FILE");
  EXPECT_EQ(value_in({"html", "r.json", "-o", "-"}, "-o"), "-");
  EXPECT_EQ(error_of({"dashboard", "reports", "-o", "-"}), "-o '-' is not a folder; name one");
  EXPECT_THAT(error_of({"show", ""}), HasSubstr("REPORT '' is empty"));
  EXPECT_EQ(error_of({"export", "r.json", "--format", "csv", "--format", "csv"}),
            "--format was given 2 times; give it once");
  EXPECT_THAT(error_of({"html", "-o", "page.html"}),
              HasSubstr("'html': REPORT is required\nusage: parbench html REPORT… -o FILE.html"));
  EXPECT_THAT(error_of({"html", "a.json"}), HasSubstr("'html': -o is required"));
  EXPECT_THAT(error_of({"html", "a.json", "", "-o", "page.html"}), HasSubstr("REPORT '' is empty"));
  EXPECT_EQ(error_of({"html", "a.json", "-o", "page.html", "--quiet"}),
            "'html' does not take --quiet\nusage: parbench html REPORT… -o FILE.html");
  EXPECT_EQ(error_of({"show", "a.json", "b.json"}),
            "'show' does not take b.json\nusage: parbench show REPORT [--calls] [--width COLUMNS]");
  EXPECT_THAT(error_of({"show", "r.json", "--call"}),
              HasSubstr("'show' does not take --call; did you mean '--calls'?"));
  EXPECT_THAT(error_of({"--scenario", "pipe", "show", "r.json"}),
              HasSubstr("'show' does not take --scenario"));
  EXPECT_THAT(error_of({"list", "--benchmark_filter=x"}),
              HasSubstr("'list' does not take --benchmark_filter"));
}

TEST(Cli, SuggestsWhatWasMeant) {
  EXPECT_THAT(error_of({"--scenario", "pip"}),
              AllOf(HasSubstr("--scenario 'pip'"), HasSubstr("did you mean 'pipe'")));
  EXPECT_THAT(error_of({"--scenario", "pipe", "--splt", "3"}),
              AllOf(HasSubstr("--splt"), HasSubstr("did you mean '--split'")));
  EXPECT_THAT(error_of({"--scenario", "pipe", "--preset", "publised"}),
              AllOf(HasSubstr("--preset 'publised'"), HasSubstr("did you mean 'published'")));
  EXPECT_THAT(error_of({"lst"}), AllOf(HasSubstr("'lst'"), HasSubstr("did you mean 'list'")));
  EXPECT_THAT(error_of({"--list"}),
              AllOf(HasSubstr("unknown flag --list"), HasSubstr("did you mean 'parbench list'?")));
  EXPECT_THAT(error_of({"--dashbord"}), HasSubstr("did you mean 'parbench dashboard'?"));
  EXPECT_THAT(error_of({"--hepl"}), HasSubstr("did you mean '--help'?"));
  EXPECT_THAT(error_of({"pipe"}), HasSubstr("did you mean '--scenario pipe'"));
  EXPECT_THAT(error_of({"--scenario", "xylophone"}),
              AllOf(HasSubstr("pipe, mat"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(error_of({"--scenario", "all,pipe"}),
              AllOf(HasSubstr("--scenario 'all'"), HasSubstr("give it alone")));
}

TEST(Cli, NamesScenariosThatHaveAnAxis) {
  EXPECT_THAT(
      error_of({"--scenario", "mat", "--split", "3"}),
      AllOf(HasSubstr("--split is not an axis of the chosen scenarios; leave it out, or choose one "
                      "that has it:"),
            HasSubstr("\n  --scenario pipe: "), Not(HasSubstr("--scenario mat: "))));
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
  EXPECT_THAT(with("--report", ""), HasSubstr("--report '' is empty; give PATH"));
  EXPECT_THAT(with("--devices", ""), HasSubstr("--devices '' is empty; give N|NAME,NAME…"));
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
    EXPECT_THAT(error_of(words), HasSubstr("does not take --scenario"));
  }
  EXPECT_EQ(error_of({"devices", "pipe"}), "'devices' does not take pipe\nusage: parbench devices");
}

TEST(Cli, TogglesAreTrueOrFalse) {
  EXPECT_TRUE(parse({"--scenario", "pipe", "--dry-run=true"}).dry_run);
  EXPECT_FALSE(parse({"--scenario", "pipe", "--dry-run=false"}).dry_run);
  EXPECT_FALSE(parse({"--scenario", "pipe", "--quiet", "--quiet=false"}).quiet);
  EXPECT_EQ(name_of({"--scenario", "pipe", "--version=false"}), "run");
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
  const RunOptions options = parse({"--config", path, "--seed", "4"});
  EXPECT_THAT(names_of(options.scenarios), ElementsAre("pipe"));
  EXPECT_THAT(options.axes,
              ElementsAre(Pair("split", ElementsAre(integer(1), Value(std::string("3+9"))))));
  EXPECT_EQ(options.precision_percent, 2.5);
  EXPECT_TRUE(options.quiet);
  EXPECT_EQ(options.seed, 4U);
}

TEST(Cli, RejectsBadConfigFiles) {
  EXPECT_THAT(error_of({"--config", "/nowhere/x.json"}), HasSubstr("/nowhere/x.json"));
  const auto with = [](const std::string& text) { return error_of({"--config", file_with(text)}); };
  EXPECT_THAT(with("{\"scenario\": \"pi"), HasSubstr("RejectsBadConfigFiles.json"));
  EXPECT_THAT(with("not json"), HasSubstr("RejectsBadConfigFiles.json"));
  EXPECT_THAT(with("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(with(R"({"scenari": "pipe"})"), HasSubstr("did you mean 'scenario'"));
  for (const std::string key : {"config", "rerun", "version", "confi"}) {
    EXPECT_THAT(with("{\"" + key + "\": \"pipe\"}"),
                AllOf(HasSubstr("'" + key + "'"), HasSubstr("is not a flag that a file can set"),
                      Not(HasSubstr("did you mean"))));
  }
  EXPECT_THAT(with(R"({"scenario": "pipe", "split": null})"), HasSubstr("'split'"));
  EXPECT_THAT(with(R"({"scenario": "pipe", "split": []})"), HasSubstr("empty list"));
  EXPECT_THAT(with(R"({"scenario": "pipe", "quiet": 1})"), HasSubstr("true, false"));
  EXPECT_THAT(with(R"({"scenario": "pipe", "seed": [1]})"), HasSubstr("takes one value"));
  EXPECT_THAT(with(R"({"scenario": "pipe", "devices": ["cpu:0", "cpu:1"]})"),
              HasSubstr("it takes one value, here \"cpu:0,cpu:1\""));
  const std::string file = ::testing::TempDir() + "cli_RejectsBadConfigFiles.json";
  EXPECT_THAT(with(R"({"scenario": "pipe", "seed": 1.5})"),
              StartsWith("--config '" + file + "': --seed '1.5' is not a whole number"));
  EXPECT_THAT(with(R"({"scenario": "pipe", "split": "x"})"),
              StartsWith("--config '" + file + "': --split 'x'"));
  EXPECT_THAT(with(R"({"scenario": "pip"})"), StartsWith("--config '" + file + "': --scenario"));
  EXPECT_THAT(error_of({"--config", file_with(R"({"scenario": "pipe"})"), "--seed", "1.5"}),
              StartsWith("--seed '1.5'"))
      << "which the file does not have";
}

TEST(Cli, HelpNamesEveryFlagAndFitsTheTerminal) {
  const std::string help = help_of("run");
  RunOptions options;
  for (const std::string& name : names_of(run_flags(options, fakes()))) {
    EXPECT_THAT(help, HasSubstr("--" + name));
  }
  EXPECT_LE(test::widest_line(help), 80U) << help;
  EXPECT_THAT(help, HasSubstr("Axes of pipe, mat"));
  EXPECT_THAT(help, HasSubstr("Examples"));
  EXPECT_THAT(help, ContainsRegex("given several times:[ \n]their lists"));
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 104U) << line;
}

}  // namespace
}  // namespace parbench
