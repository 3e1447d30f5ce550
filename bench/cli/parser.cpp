// Splits the command line into flags and values with CLI11. No other file of the program includes
// CLI11, because its header takes long to compile.
#include "bench/cli/parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "bench/cli/help.h"
#include "kernels/base/error.h"
#include "scenarios/framework/suggest.h"

namespace parbench {
namespace {

constexpr std::string_view benchmark_prefix = "--benchmark_";

class Parser {
 public:
  Parser(const ScenarioList& scenarios, CommandList commands)
      : scenarios_(scenarios), commands_(std::move(commands)) {
    app_.set_help_flag("--help,-h");
    app_.require_subcommand(0, 1);
    for (const auto& command : commands_) {
      const bool is_default = command->text().name == default_command;
      CLI::App* app = is_default ? &app_ : app_.add_subcommand(std::string(command->text().name));
      app->allow_extras();  // unknown words are reported with a suggestion
      for (const FlagRow& row : command->flags()) add(*app, row);
    }
  }

  /// `words`: the arguments without the program's name.
  std::unique_ptr<Command> operator()(std::vector<std::string> words,
                                      const std::vector<std::string>& benchmark_flags) {
    std::ranges::reverse(words);  // the order that CLI11 expects
    try {
      app_.parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
      const std::string name = topic_of_help();  // before `take("help")`, which may remove it
      std::unique_ptr<Command> help = take("help");
      help->read({{"COMMAND", {name}}}, {});
      return help;
    } catch (const CLI::ArgumentMismatch& error) {
      const std::string text = error.what();  // "--split: 1 required TEXT missing"
      throw UsageError(text.substr(0, text.find(':')) + " needs a value");
    } catch (const CLI::RequiredError& error) {
      throw UsageError(fmt::format("'{}': {}\nusage: {}", chosen_name(), error.what(),
                                   usage_of(find(chosen_name()))));
    } catch (const CLI::ParseError& error) {
      throw UsageError(error.what());
    }
    return read(benchmark_flags);
  }

 private:
  void add(CLI::App& app, const FlagRow& row) {
    const std::string name = spelled(row.value.name);
    if (row.kind == FlagKind::toggle) {
      options_[&app][row.value.name] = app.add_flag(name);
      return;
    }
    CLI::Option* option = app.add_option(name, unread_);
    if (row.kind == FlagKind::many) {
      option->expected(-1);
    } else {
      option->expected(1)->allow_extra_args(false);
    }
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->required(row.required);
    options_[&app][row.value.name] = option;
  }

  std::unique_ptr<Command> read(const std::vector<std::string>& benchmark_flags) {
    FlagTexts texts = given_to(app_);
    const std::string_view name = chosen_name();
    if (name == default_command) {
      if (const auto unknown = app_.remaining(); !unknown.empty()) reject_unknown(unknown.front());
      if (is_on(texts, "version")) return take("version");
    } else {
      std::vector<std::string> unknown = app_.remaining(true);
      for (const auto& [flag, values] : texts) unknown.push_back("--" + flag);
      std::ranges::copy(benchmark_flags, std::back_inserter(unknown));
      if (!unknown.empty()) reject_word(find(name), unknown.front());
      texts = given_to(*app_.get_subcommands().front());
    }
    std::unique_ptr<Command> command = take(name);
    command->read(texts, benchmark_flags);
    return command;
  }

  [[nodiscard]] FlagTexts given_to(const CLI::App& app) const {
    FlagTexts given;
    const auto options = options_.find(&app);
    if (options == options_.end()) return given;
    for (const auto& [name, option] : options->second) {
      if (option->count() > 0) given[name] = option->results();
    }
    return given;
  }

  [[nodiscard]] std::string_view chosen_name() const {
    const std::vector<CLI::App*> chosen = app_.get_subcommands();
    return chosen.empty() ? default_command : find(chosen.front()->get_name()).text().name;
  }

  /// Returns the topic of --help: the command, or the scenario of a run (`--scenario pipeline
  /// --help`).
  [[nodiscard]] std::string topic_of_help() const {
    std::string name(chosen_name());
    if (name != default_command) return name;
    const FlagTexts texts = given_to(app_);
    const auto given = texts.find("scenario");
    const std::vector<std::string> known = names_of(scenarios_);
    const bool is_one =
        given != texts.end() && std::ranges::find(known, given->second.back()) != known.end();
    return is_one ? given->second.back() : name;
  }

  [[nodiscard]] Command& find(std::string_view name) const {
    return **std::ranges::find_if(commands_,
                                  [&](const auto& one) { return one->text().name == name; });
  }

  std::unique_ptr<Command> take(std::string_view name) {
    return std::move(*std::ranges::find_if(
        commands_, [&](const auto& one) { return one->text().name == name; }));
  }

  /// Throws UsageError for a word that the command does not take, because it would have no effect.
  [[noreturn]] static void reject_word(Command& command, const std::string& word) {
    const std::string flag = word.substr(0, word.find('='));
    const bool is_flag = flag.starts_with("--");
    throw UsageError(fmt::format(
        "'{}' does not take {}{}\nusage: {}", command.text().name, is_flag ? flag : word,
        is_flag ? did_you_mean(flag.substr(2), names_of(command.flags()), "--") : std::string(),
        usage_of(command)));
  }

  [[noreturn]] void reject_unknown(const std::string& word) const {
    std::vector<std::string> names;
    for (const auto& command : commands_) names.emplace_back(command->text().name);
    std::erase(names, default_command);
    if (word.starts_with('-')) {
      const std::string flag = word.substr(0, word.find('='));
      throw UsageError(fmt::format("unknown flag {}{}\nparbench --help shows all flags", flag,
                                   meant_by_flag(flag, names)));
    }
    if (word == "run") {
      throw UsageError(
          "unknown command 'run'; a run has no command word: parbench --scenario NAME");
    }
    if (const auto scenario = closest(word, names_of(scenarios_))) {
      throw UsageError(
          fmt::format("unknown command '{}'; did you mean '--scenario {}'?", word, *scenario));
    }
    throw UsageError(fmt::format("unknown command '{}'{}\nthe commands are: {}", word,
                                 did_you_mean(word, names), fmt::join(names, ", ")));
  }

  /// Suggests the command that has the flag's name, or else the closest flag or command.
  [[nodiscard]] std::string meant_by_flag(const std::string& flag,
                                          const std::vector<std::string>& commands) const {
    constexpr std::string_view call = "parbench ";
    const std::string name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
    std::string text = did_you_mean(name, commands, call);
    if (std::ranges::find(commands, name) != commands.end()) return text;
    std::vector<std::string> known = names_of(find(default_command).flags());
    known.emplace_back("help");
    const std::string of_flags = did_you_mean(name, known, "--");
    return of_flags.empty() ? text : of_flags;
  }

  CLI::App app_;
  std::vector<std::string> unread_;  // target that CLI11 requires; never read
  std::map<const CLI::App*, std::map<std::string, CLI::Option*>> options_;
  const ScenarioList& scenarios_;
  CommandList commands_;
};

}  // namespace

std::unique_ptr<Command> parse_command_line(const Program& program, CommandList commands) {
  std::vector<std::string> words;
  std::vector<std::string> benchmark_flags;
  for (std::size_t i = 1; i < program.arguments.size(); ++i) {
    const std::string& word = program.arguments[i];
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      throw UsageError(fmt::format("{} needs a value", word.substr(0, word.size() - 1)));
    }
    (word.starts_with(benchmark_prefix) ? benchmark_flags : words).push_back(word);
  }
  return Parser(program.scenarios, std::move(commands))(std::move(words), benchmark_flags);
}

}  // namespace parbench
