// `help` and --help: the page of the program or of a command.
#include "bench/cli/help.h"

#include "bench/commands/commands.h"
#include "bench/output/standard_streams.h"

namespace parbench {
namespace {

constexpr CommandText help_help{.name = "help",
                                .summary = "The flags, examples and exit codes of a command",
                                .examples = {},
                                .exit_codes = listing_exit_codes};

class Help final : public Command {
 public:
  explicit Help(const Program& program) : Command(help_help), program_(program) {}

  std::vector<FlagRow> flags() override {
    std::vector<std::string> names;
    for (const auto& command : all_commands(program_)) names.emplace_back(command->text().name);
    return {{.value = choice_rule("COMMAND", "The command; default: run", std::move(names)),
             .target = &topic_}};
  }

  ExitCode run() override {
    print(help_page(all_commands(program_), topic_));
    return ExitCode::measured;
  }

 private:
  const Program& program_;
  std::string topic_{default_command};
};

}  // namespace

std::unique_ptr<Command> make_help(const Program& program) {
  return std::make_unique<Help>(program);
}

}  // namespace parbench
