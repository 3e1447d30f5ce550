// Layout of the help page.
#include "bench/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "reports/text.h"

namespace parbench {
namespace {

constexpr std::size_t page_width = 100;
constexpr std::size_t description_column = 30;

constexpr auto usage =
    "\nUsage:\n"
    "  parbench --scenario NAME[,NAME…]|all [FLAGS]\n"
    "  parbench list | devices\n"
    "  parbench show REPORT\n"
    "  parbench export REPORT --format FORMAT [-o FILE]\n";

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

std::string option_row(const CLI::Option& option) {
  std::string left = option.get_name(false, true);
  if (!option.get_option_text().empty()) left += " " + option.get_option_text();
  return row(left, option.get_description());
}

/// "REPORT --format FORMAT [-o FILE]"
std::string own_usage(const std::vector<const CLI::Option*>& options) {
  std::string text;
  for (const CLI::Option* option : options) {
    std::string word = option->get_name(true, true);
    if (!option->get_option_text().empty()) word += " " + option->get_option_text();
    text += option->get_required() ? " " + word : " [" + word + "]";
  }
  return text;
}

std::string command_page(const CLI::App& command) {
  const auto options = command.get_options(
      [&](const CLI::Option* option) { return option != command.get_help_ptr(); });
  std::string text = fmt::format("{}.\n\nUsage:\n  parbench {}{}\n\n", command.get_description(),
                                 command.get_name(), own_usage(options));
  for (const CLI::Option* option : options) text += option_row(*option);
  text += options.empty() ? "It takes no flags; parbench --help shows those of a run.\n"
                          : "\nExit codes: 0 done; 1 the output could not be written; 2 bad usage, "
                            "or a bad report.\n";
  return text;
}

}  // namespace

std::string wrap(const std::string& text, std::size_t width, std::size_t indent) {
  return fmt::format("{}",
                     fmt::join(report::wrapped(text, width), "\n" + std::string(indent, ' ')));
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  if (app->get_parent() != nullptr) return command_page(*app);
  std::string text = app->get_description() + usage + "\nCommands:\n";
  for (const CLI::App* command : app->get_subcommands({})) {
    text += row(command->get_name(), command->get_description());
  }
  for (const std::string& group : app->get_groups()) {
    const auto options =
        app->get_options([&](const CLI::Option* option) { return option->get_group() == group; });
    if (options.empty()) continue;
    text += fmt::format("\n{}:\n", group);
    for (const CLI::Option* option : options) text += option_row(*option);
  }
  return text + "\n" + app->get_footer() + "\n";
}

}  // namespace parbench
