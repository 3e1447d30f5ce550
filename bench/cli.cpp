// Parsing with CLI11; every error in this program's words.
#include "bench/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "bench/command_help.h"
#include "bench/command_options.h"
#include "bench/described.h"
#include "bench/flag_files.h"
#include "bench/help.h"
#include "kernels/error.h"
#include "reports/compare/paired.h"
#include "reports/io/formats/format.h"
#include "scenarios/suggest.h"

namespace parbench {
namespace {

constexpr std::string_view benchmark_prefix = "--benchmark_";

constexpr auto description =
    "Runs real kernels under different strategies of parallel execution on the devices of this\n"
    "machine, checks their results, and says which strategy is fastest, by how much, and how far "
    "it\n"
    "is from the best that is possible.\n";

constexpr auto footer =
    "Flags that start with --benchmark_ go to Google Benchmark.\n"
    "\n"
    "Examples:\n"
    "  parbench --scenario pipeline --split 1,3,5,12,20\n"
    "      Which split of the batch makes a two-device pipeline fastest?\n"
    "  parbench --scenario branch --batch 1,8 --image 8,32,128 --strategy one-stream,streams\n"
    "      From which size down do parallel branches pay?\n"
    "  parbench --scenario all --dry-run\n"
    "      What would be measured, in how much memory and time?\n"
    "  parbench html reports/runs/before.json reports/runs/after.json -o page.html\n"
    "      What they found, as a page with pictures to open in a browser.\n"
    "  parbench --rerun reports/runs/before.json --report after.json\n"
    "      The same cases again, after a change.\n"
    "  parbench compare reports/runs/before.json after.json\n"
    "      What became slower or faster, beyond chance?\n"
    "\n"
    "Exit codes: 0 all measured; 1 a case failed or was wrong; 2 bad usage; 130 interrupted.\n"
    "Commands exit 0 when they did what they were asked, whatever a report says of its cases;\n"
    "compare exits 3 when a case became slower (parbench compare --help).";

/// A command, and what it takes, as told to whoever gave it another word or another flag.
struct CommandRow {
  Command command;
  std::string_view name;
  std::string_view description;
  std::string_view takes_of_words;
  std::string_view takes_of_flags;
};

constexpr std::array commands{
    CommandRow{Command::list, "list", "Scenarios with their strategies, axes and presets",
               "no arguments", "no flags"},
    CommandRow{Command::devices, "devices", "Devices found, and why others are missing",
               "no arguments", "no flags"},
    CommandRow{Command::peaks, "peaks",
               "The best rates of the devices, measured once and kept: what later runs are held "
               "against",
               "no arguments", "no flags but its own"},
    CommandRow{Command::show, "show", "What stood at the end of the run that wrote a report",
               "no second report", "no flags but its own"},
    CommandRow{Command::export_report, "export", "A report in the format of another program",
               "no second report", "no flags but its own"},
    CommandRow{Command::html, "html", "A page of HTML from reports: answers, pictures, tables",
               "reports and -o FILE.html", "reports and -o FILE.html"},
    CommandRow{Command::dashboard, "dashboard",
               "A site from a folder of reports: every case's history, and where it changed",
               "no second folder", "no flags but its own"},
    CommandRow{Command::compare, "compare",
               "What became slower or faster from one report to another",
               "two reports, BASE and NEW", "no flags but its own"},
    CommandRow{Command::ab, "ab",
               "What is slower or faster with one command than with another, in pairs of runs",
               "no arguments", "no flags but its own"},
};

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandRow& row : commands) names.emplace_back(row.name);
  return names;
}

/// CLI11's view of the flags, and where it leaves their values.
class Parser {
 public:
  explicit Parser(const std::vector<Flag>& flags) : app_(description, "parbench") {
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.footer(footer);
    app_.allow_extras();   // unknown words are told with a suggestion
    app_.set_help_flag();  // to be added behind the others
    for (const Flag& flag : flags) add(flag);
    app_.set_help_flag("--help,-h", "Print this page and exit")->group("Output");
    for (const CommandRow& row : commands) add(row);
    app_.require_subcommand(0, 1);
  }

  /// `words` without the program's name. False when the help page was asked for.
  bool parse(std::vector<std::string> words) {
    std::ranges::reverse(words);  // as CLI11 wants them
    try {
      app_.parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
      return false;
    } catch (const CLI::ArgumentMismatch& error) {
      throw UsageError(in_own_words(error));
    } catch (const CLI::RequiredError& error) {
      const CLI::App& command = *app_.get_subcommands().front();
      throw UsageError(fmt::format("'{0}': {1}: {2}\nparbench {0} --help says more",
                                   command.get_name(), error.what(), usage_of(command)));
    } catch (const CLI::ParseError& error) {
      throw UsageError(error.what());
    }
    return true;
  }

  [[nodiscard]] FlagValues values() const {
    FlagValues given;
    for (const auto& [name, option] : options_) {
      if (option->count() > 0) given[name] = option->results();
    }
    return given;
  }

  [[nodiscard]] Command command() const {
    for (const auto& [command, app] : subcommands_) {
      if (app->parsed()) return command;
    }
    return Command::run;
  }

  /// What the command has of its own; empty where it has none.
  [[nodiscard]] const FlagValues& command_values() const { return command_values_; }

  [[nodiscard]] std::vector<std::string> unknown_words() const { return app_.remaining(true); }
  [[nodiscard]] std::string help(Command topic) const {
    return topic == Command::run ? app_.help() : subcommands_.at(topic)->help();
  }

 private:
  void add(const Flag& flag) {
    const std::string name = "--" + flag.name;
    CLI::Option* option = nullptr;
    if (flag.kind == FlagKind::toggle) {
      option = app_.add_flag(name, flag.description);
    } else {
      option = app_.add_option(name, texts_[flag.name], flag.description);
      option->expected(1)->allow_extra_args(false);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      option->option_text(flag.placeholder);
    }
    option->group(flag.group);
    options_[flag.name] = option;
  }

  void add(const CommandRow& row) {
    CLI::App* app = app_.add_subcommand(std::string(row.name), std::string(row.description));
    app->allow_extras();
    app->footer(command_footer(row.command));  // or it would have that of the program
    subcommands_[row.command] = app;
    if (row.command == Command::peaks) add_peaks_options(*app);
    if (row.command == Command::show) add_show_options(*app);
    if (row.command == Command::export_report) add_export_options(*app);
    if (row.command == Command::html) add_html_options(*app);
    if (row.command == Command::dashboard) add_dashboard_options(*app);
    if (row.command == Command::compare) add_compare_options(*app);
    if (row.command == Command::ab) add_ab_options(*app);
  }

  void add_report(CLI::App& app) {
    add_own(app, "REPORT", "The JSON file that a run has written")->required();
  }

  void add_peaks_options(CLI::App& app) {
    add_own(app, "--devices", "As of a run; default: those that the scenarios use by default")
        ->option_text("N|NAME,NAME…");
    add_own(app, "--dtype", "Products of this format only; default: all that a device computes")
        ->option_text("f32|tf32|bf16");
    add_toggle(app, "--refresh", "Measure anew what is known");
  }

  void add_show_options(CLI::App& app) {
    add_report(app);
    add_toggle(app, "--calls",
               "Of each case, its calls: their time, their rates, and the shares "
               "of the device's peaks, where these are known");
  }

  void add_export_options(CLI::App& app) {
    add_report(app);
    add_own(app, "--format", "The format, one of:" + format_list())
        ->required()
        ->option_text("FORMAT");
    add_own(app, "-o", "Where to; standard output unless given")->option_text("FILE");
  }

  void add_html_options(CLI::App& app) {
    add_own(app, "REPORT", "JSON files that runs have written; each has its own section")
        ->required()
        ->expected(-1)  // at least one
        ->option_text("…");
    add_own(app, "-o", "Where the page goes; - is standard output")
        ->required()
        ->option_text("FILE.html");
  }

  void add_dashboard_options(CLI::App& app) {
    add_own(app, "DIR", "The folder; all files *.json in it and below are taken for reports")
        ->required();
    add_own(app, "-o", "Where the site goes, or is brought up to date: only new reports are read")
        ->required()
        ->option_text("SITE");
    add_toggle(app, "--strict", "Exit 1 when a file was skipped because it is no report");
  }

  void add_compare_options(CLI::App& app) {
    add_own(app, "BASE", "The report before the change")->required();
    add_own(app, "NEW", "The report after it")->required();
    add_comparison_options(app);
  }

  void add_ab_options(CLI::App& app) {
    add_own(app, "--a",
            "A shell command that runs parbench, the base: 'DNNL_MAX_CPU_ISA=AVX2 ./parbench "
            "--scenario selftest'. It is called with --report FILE --quiet behind it")
        ->required()
        ->option_text("COMMAND");
    add_own(app, "--b", "The command that is compared with it")->required()->option_text("COMMAND");
    add_own(app, "--max-time",
            fmt::format("Stop after this time, whatever is settled; default: 1800. Verdicts are "
                        "given after {} pairs; there are no more",
                        fmt::join(compare::PairedComparison::Plan{}.looks, ", ")))
        ->option_text("SECONDS");
    add_own(app, "--seed", "Of the order within pairs, which alternates; default: 1")
        ->option_text("N");
    add_own(app, "--keep", "A new folder for the reports of all runs")->option_text("DIR");
    add_toggle(app, "--quiet", "No progress; only the comparison and errors");
    add_comparison_options(app);
  }

  void add_comparison_options(CLI::App& app) {
    add_own(app, "--threshold", "The least change of a case's time that counts, in percent (2)")
        ->option_text("PERCENT");
    add_toggle(app, "--allow-different-machine", "Compare although the hardware differs");
    add_own(app, "--format", "One of: table (the default), markdown (for a pull request), json")
        ->option_text("FORMAT");
    add_own(app, "-o", "Where to; standard output unless given")->option_text("FILE");
  }

  void add_toggle(CLI::App& app, const std::string& name, const std::string& text) {
    app.add_flag_callback(
        name, [this, name] { command_values_[name] = {"true"}; }, text);
  }

  CLI::Option* add_own(CLI::App& app, const std::string& name, const std::string& text) {
    CLI::Option* option = app.add_option(name, command_values_[name], text);
    option->expected(1)->allow_extra_args(false);
    return option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  static std::string format_list() {
    std::string text;
    for (const report::Format& format : report::formats()) {
      text += fmt::format("\n{}: {}", format.name, format.description);
    }
    return text;
  }

  static std::string in_own_words(const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();  // "--split: 1 required TEXT missing"
    const std::string flag = text.substr(0, text.find(':'));
    return flag + " needs a value";
  }

  CLI::App app_;
  std::map<Command, CLI::App*> subcommands_;
  FlagValues command_values_;
  std::map<std::string, CLI::Option*> options_;
  std::map<std::string, std::vector<std::string>> texts_;
};

/// A flag in the place of a value means that the value was forgotten.
void check_values_are_there(const FlagValues& values) {
  for (const auto& [flag, texts] : values) {
    for (const std::string& text : texts) {
      if (text.starts_with("--")) throw UsageError(fmt::format("--{} needs a value", flag));
    }
  }
}

[[noreturn]] void reject_unknown(const std::string& word, const std::vector<Flag>& flags,
                                 const ScenarioList& scenarios) {
  if (word.starts_with('-')) {
    const std::string name =
        word.substr(word.find_first_not_of('-') == std::string::npos ? word.size()
                                                                     : word.find_first_not_of('-'));
    const std::string bare = name.substr(0, name.find('='));
    std::vector<std::string> known = names_of(flags);
    known.emplace_back("help");
    throw UsageError(fmt::format("unknown flag {}{}\nparbench --help shows all flags",
                                 word.substr(0, word.find('=')), did_you_mean(bare, known, "--")));
  }
  const std::vector<std::string> names = names_of(scenarios);
  if (const auto scenario = closest(word, names)) {
    throw UsageError(
        fmt::format("unknown command '{}'; did you mean '--scenario {}'?", word, *scenario));
  }
  throw UsageError(fmt::format("unknown command '{}'{}\nthe commands are: {}", word,
                               did_you_mean(word, command_names()),
                               fmt::join(command_names(), ", ")));
}

void check_rerun_conflicts(const FlagValues& given, const ScenarioList& scenarios) {
  const auto conflict = [](std::string_view flag) {
    throw UsageError(
        fmt::format("--{} cannot be combined with --rerun: the cases are those of the "
                    "report",
                    flag));
  };
  for (const std::string_view flag : {"scenario", "strategy", "preset", "dtype", "graph"}) {
    if (given.contains(flag)) conflict(flag);
  }
  for (const auto& scenario : scenarios) {
    for (const Axis& axis : scenario->axes()) {
      if (axis.identity && given.contains(axis.name)) conflict(axis.name);
    }
  }
}

const std::string& only_path(const FlagValues& values, std::string_view flag) {
  const std::vector<std::string>& texts = values.find(flag)->second;
  if (texts.size() > 1) throw UsageError(fmt::format("--{} takes one file", flag));
  if (texts.front().empty()) throw UsageError(fmt::format("--{} '' names no file", flag));
  return texts.front();
}

/// What `--config` and `--rerun` bring beside flags.
struct Files {
  std::string config_path;
  std::string rerun_path;
  std::vector<std::string> cases;            // of a rerun
  std::vector<std::string> benchmark_flags;  // of a rerun
};

/// Adds the flags in the files; those that were given win.
Files merge_files(FlagValues& values, const std::vector<Flag>& flags,
                  const ScenarioList& scenarios) {
  Files files;
  if (values.contains("config")) {
    files.config_path = only_path(values, "config");
    values.merge(read_config(files.config_path, flags));
    values.erase("config");
  }
  if (values.contains("rerun")) {
    check_rerun_conflicts(values, scenarios);
    files.rerun_path = only_path(values, "rerun");
    Rerun rerun = read_rerun(files.rerun_path, scenarios);
    // These are adaptive sampling, which a fixed number of samples would override.
    if (values.contains("precision") || values.contains("min-samples")) {
      std::erase_if(rerun.benchmark_flags, [](const std::string& flag) {
        return flag.starts_with("--benchmark_repetitions=");
      });
      rerun.flags.erase("profile");
    }
    if (is_on(values, "profile")) {
      rerun.flags.erase("precision");
      rerun.flags.erase("min-samples");
      rerun.flags.erase("launches");
    }
    values.merge(rerun.flags);
    values.erase("rerun");
    files.cases = std::move(rerun.cases);
    files.benchmark_flags = std::move(rerun.benchmark_flags);
  }
  return files;
}

void require_scenario(const Options& options, const ScenarioList& scenarios) {
  if (!options.scenarios.empty()) return;
  std::string text = "no scenario chosen: give --scenario NAME[,NAME…] or --scenario all";
  for (const auto& scenario : scenarios) {
    text += fmt::format("\n{:<10} {}", scenario->name(), scenario->question());
  }
  throw UsageError(text + "\nparbench --help shows all flags");
}

void add_scenarios_of_cases(Options& options) {
  for (const std::string& name : options.only_cases) {
    const std::string scenario = scenario_of(name);
    if (std::ranges::find(options.scenarios, scenario) == options.scenarios.end()) {
      options.scenarios.push_back(scenario);
    }
  }
}

/// A process of another run measures what the report of that says.
void check_launch(const Options& options) {
  if (!options.launch) return;
  if (!options.rerun_path.empty() && *options.launch < options.launches) return;
  throw UsageError("--launch is for the processes that --launches starts by itself; leave it out");
}

/// A command takes only what is its own; anything else would have no effect.
void check_alone(Command command, const FlagValues& values,
                 const std::vector<std::string>& unknown) {
  std::string word;
  if (!values.empty()) word = "--" + values.begin()->first;
  if (!unknown.empty()) word = unknown.front();
  if (word.empty()) return;
  const CommandRow& row = *std::ranges::find(commands, command, &CommandRow::command);
  throw UsageError(fmt::format("'{}' takes {}, but {} was given", row.name,
                               word.starts_with('-') ? row.takes_of_flags : row.takes_of_words,
                               word));
}

Options with_command(Command command) {
  Options options;
  options.command = command;
  return options;
}

Options parse_words(const std::vector<std::string>& words, const ScenarioList& scenarios) {
  const std::vector<Flag> flags = all_flags(scenarios);
  Parser parser(flags);
  if (!parser.parse(words)) {
    Options options = with_command(Command::help);
    options.help_topic = parser.command();
    return options;
  }
  FlagValues values = parser.values();
  const std::vector<std::string> unknown = parser.unknown_words();
  if (parser.command() != Command::run) check_alone(parser.command(), values, unknown);
  if (!unknown.empty()) reject_unknown(unknown.front(), flags, scenarios);
  check_values_are_there(values);
  if (is_on(values, "version")) return with_command(Command::version);
  if (parser.command() != Command::run) {
    return command_options(parser.command(), parser.command_values());
  }
  Files files = merge_files(values, flags, scenarios);
  Options options = options_from(values, scenarios);
  options.config_path = std::move(files.config_path);
  options.rerun_path = std::move(files.rerun_path);
  options.only_cases = std::move(files.cases);
  options.benchmark_flags = std::move(files.benchmark_flags);
  check_launch(options);
  add_scenarios_of_cases(options);
  require_scenario(options, scenarios);
  return options;
}

}  // namespace

Options parse_command_line(const std::vector<std::string>& arguments,
                           const ScenarioList& scenarios) {
  std::vector<std::string> words;
  std::vector<std::string> benchmark_flags;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      throw UsageError(fmt::format("{} needs a value", word.substr(0, word.size() - 1)));
    }
    (word.starts_with(benchmark_prefix) ? benchmark_flags : words).push_back(word);
  }
  Options options = parse_words(words, scenarios);
  // Behind those of a rerun, so that they win.
  options.benchmark_flags.insert(options.benchmark_flags.end(), benchmark_flags.begin(),
                                 benchmark_flags.end());
  options.command_line = arguments;
  return options;
}

std::string help_text(const ScenarioList& scenarios, Command topic) {
  return Parser(all_flags(scenarios)).help(topic);
}

}  // namespace parbench
