// `help` and --help: pages about the program, a command or a scenario.
#include "bench/cli/help.h"

#include <algorithm>
#include <iterator>

#include "bench/commands/commands.h"
#include "bench/commands/listing.h"
#include "bench/output/standard_streams.h"

namespace parbench {
namespace {

constexpr CommandText help_help{
    .name = "help",
    .summary = "The flags, examples and exit codes of a command, or a scenario",
    .examples = {},
    .exit_codes = listing_exit_codes};

class Help final : public Command {
 public:
  explicit Help(const Program& program) : Command(help_help), program_(program) {}

  std::vector<FlagRow> flags() override {
    std::vector<std::string> names;
    for (const auto& command : all_commands(program_)) names.emplace_back(command->text().name);
    std::ranges::copy(names_of(program_.scenarios), std::back_inserter(names));
    return {
        {.value = choice_rule("COMMAND", "The command, or the scenario; default: the whole program",
                              std::move(names)),
         .target = &topic_}};
  }

  ExitCode run() override {
    const bool is_scenario = std::ranges::find(program_.scenarios, topic_, [](const auto& one) {
                               return one->name();
                             }) != program_.scenarios.end();
    print(is_scenario ? scenario_listing(program_.scenarios, {topic_})
                      : help_page(all_commands(program_), topic_));
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
