// Layout of the help page.
#include "bench/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "reports/text/text.h"

namespace parbench {
namespace {

constexpr std::size_t page_width = 100;
constexpr std::size_t description_column = 30;

constexpr auto usage =
    "\nUsage:\n"
    "  parbench --scenario NAME[,NAME…]|all [FLAGS]\n"
    "  parbench list | devices\n"
    "  parbench peaks [--devices N|NAME,NAME…] [--refresh]\n"
    "  parbench show REPORT [--calls]\n"
    "  parbench export REPORT --format FORMAT [-o FILE]\n"
    "  parbench html REPORT… -o FILE.html\n"
    "  parbench compare BASE NEW [--threshold PERCENT]\n"
    "  parbench ab --a COMMAND --b COMMAND [--max-time SECONDS]\n"
    "  parbench dashboard DIR -o SITE\n";

std::string row(const std::string& left, const std::string& right) {
  std::string line = "  " + left;
  const std::size_t used = report::display_width(line);
  if (used + 2 > description_column) {
    line += "\n" + std::string(description_column, ' ');
  } else {
    line += std::string(description_column - used, ' ');
  }
  return line + wrap(right, page_width - description_column, description_column) + "\n";
}

/// "--format FORMAT", "REPORT…"
std::string words_of(const CLI::Option& option) {
  std::string words = option.get_name(option.get_positional(), true);
  if (!option.get_positional() && !option.get_option_text().empty()) words += ' ';
  return words + option.get_option_text();
}

std::string option_row(const CLI::Option& option) {
  return row(words_of(option), option.get_description());
}

/// Of a command, without --help, which all have.
std::vector<const CLI::Option*> own_options(const CLI::App& command) {
  return command.get_options(
      [&](const CLI::Option* option) { return option != command.get_help_ptr(); });
}

std::string command_page(const CLI::App& command) {
  const auto options = own_options(command);
  std::string text =
      fmt::format("{}.\n\nUsage:\n  {}\n\n", command.get_description(), usage_of(command));
  for (const CLI::Option* option : options) text += option_row(*option);
  if (options.empty()) text += "It takes no flags; parbench --help shows those of a run.\n";
  return text + '\n' + command.get_footer() + '\n';
}

}  // namespace

std::string wrap(const std::string& text, std::size_t width, std::size_t indent) {
  return fmt::format("{}",
                     fmt::join(report::wrapped(text, width), "\n" + std::string(indent, ' ')));
}

std::string usage_of(const CLI::App& command) {
  std::string text = "parbench " + command.get_name();
  for (const CLI::Option* option : own_options(command)) {
    const std::string words = words_of(*option);
    text += option->get_required() ? " " + words : " [" + words + "]";
  }
  return text;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  if (app->get_parent() != nullptr) return command_page(*app);
  std::string text = app->get_description() + usage + "\nCommands:\n";
  for (const CLI::App* command : app->get_subcommands({})) {
    text += row(command->get_name(), command->get_description());
  }
  for (const std::string& group : app->get_groups()) {
    if (group.empty()) continue;  // CLI11 hides these itself
    const auto options =
        app->get_options([&](const CLI::Option* option) { return option->get_group() == group; });
    if (options.empty()) continue;
    text += fmt::format("\n{}:\n", group);
    for (const CLI::Option* option : options) text += option_row(*option);
  }
  return text + "\n" + app->get_footer() + "\n";
}

}  // namespace parbench
