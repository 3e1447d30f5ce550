// What the program can be asked to do: one class for each command.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/flag.h"
#include "bench/output/exit_code.h"

namespace parbench {

/// What every command may need. Outlives the commands.
struct Program {
  const ScenarioList& scenarios;
  std::vector<std::string> arguments;  // argv
};

/// What the help says of a command.
struct CommandText {
  std::string_view name;
  std::string_view summary;
  std::string_view examples;  // lines of the help page; empty: none
  std::string_view exit_codes;
};

/// Exit codes of the commands that read one report.
inline constexpr std::string_view report_exit_codes =
    "0 done, whatever a report says of its cases; 1 the output could not be written to its "
    "end (a full disk); 2 bad usage, a bad report, or a place that cannot be written.";

/// Exit codes of the commands that read no file.
inline constexpr std::string_view listing_exit_codes =
    "0 done; 1 the output could not be written to its end; 2 bad usage.";

/// A command with its own options, to which its flags are bound.
class Command {
 public:
  explicit Command(const CommandText& text) : text_(text) {}
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  [[nodiscard]] const CommandText& text() const { return text_; }

  /// Returns the flags and arguments that it takes, in the order of the help page.
  [[nodiscard]] virtual std::vector<FlagRow> flags() { return {}; }

  /// Reads what was given. Throws UsageError.
  virtual void read(const FlagTexts& texts,
                    [[maybe_unused]] const std::vector<std::string>& benchmark_flags) {
    read_flags(flags(), texts);
  }

  /// Does what was asked. Throws as the program ends: UsageError with exit code 2, others with 1.
  [[nodiscard]] virtual ExitCode run() = 0;

 private:
  CommandText text_;
};

using CommandList = std::vector<std::unique_ptr<Command>>;

/// The command that runs where no other is named.
inline constexpr std::string_view default_command = "run";

}  // namespace parbench
