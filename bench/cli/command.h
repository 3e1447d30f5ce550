// Interface of the program's commands, one class for each.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/flag.h"
#include "bench/output/exit_code.h"

namespace parbench {

/// Data that commands need. Outlives the commands.
struct Program {
  const ScenarioList& scenarios;
  std::vector<std::string> arguments;  // argv
};

struct CommandText {
  std::string_view name;
  std::string_view summary;
  std::string_view examples;  // lines of the help page; empty: no examples
  std::string_view exit_codes;
};

/// Help text: exit codes of commands that read one report.
inline constexpr std::string_view report_exit_codes =
    "0 done, whatever a report says of its cases; 1 the output could not be written to its "
    "end (a full disk); 2 bad usage, a bad report, or a path that cannot be written.";

/// Help text: exit codes of commands that read no file.
inline constexpr std::string_view listing_exit_codes =
    "0 done; 1 the output could not be written to its end; 2 bad usage.";

/// A command with its options, in which its flags store their values.
class Command {
 public:
  explicit Command(const CommandText& text) : text_(text) {}
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  [[nodiscard]] const CommandText& text() const { return text_; }

  /// Returns the command's flags and arguments in the order of the help page.
  [[nodiscard]] virtual std::vector<FlagRow> flags() { return {}; }

  /// Reads the options from the given flags. Throws UsageError.
  virtual void read(const FlagTexts& texts,
                    [[maybe_unused]] const std::vector<std::string>& benchmark_flags) {
    read_flags(flags(), texts);
  }

  /// Runs the command. Throws UsageError for exit code 2, other exceptions for exit code 1.
  [[nodiscard]] virtual ExitCode run() = 0;

 private:
  CommandText text_;
};

using CommandList = std::vector<std::unique_ptr<Command>>;

/// The command that runs if none is named.
inline constexpr std::string_view default_command = "run";

}  // namespace parbench
