// Layout of the help pages: two columns of text, 80 characters wide.
#include "bench/cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/text/text.h"

namespace parbench {
namespace {

constexpr std::size_t description_column = 30;

constexpr auto program_description =
    "Runs real kernels under different strategies of parallel execution on the devices of this "
    "machine, checks their results, and reports which strategy is fastest, by how much, and how "
    "far it is from the best possible time.";

constexpr std::string_view rows_end_group = "Output";  // group whose last row is --help

constexpr auto axes_text =
    "An axis is a parameter that a run can vary: --split 1,3,5 measures each of the three values, "
    "and several axes every combination. `parbench list SCENARIO` shows the values of an axis that "
    "is not given.";

constexpr auto program_usage =
    "parbench --scenario NAME[,NAME…]|all [FLAGS]\n"
    "  parbench COMMAND [ARGUMENTS]      (parbench help COMMAND describes them)\n"
    "  parbench help SCENARIO            (what a scenario compares, and its axes)\n";

std::string two_columns(const std::string& left, const std::string& right) {
  std::string line = "  " + left;
  const std::size_t used = report::display_width(line);
  if (used + 2 > description_column) {
    line += "\n" + std::string(description_column, ' ');
  } else {
    line += std::string(description_column - used, ' ');
  }
  return line + wrap(right, page_width - description_column, description_column) + "\n";
}

/// Returns a flag or argument with its placeholder: "--format FORMAT", "REPORT…".
std::string words_of(const FlagRow& row) {
  std::string name = spelled(row.value.name);
  if (row.placeholder.empty()) return name;
  return fmt::format("{}{}{}", name, name.starts_with('-') ? " " : "", row.placeholder);
}

std::string rows_text(const std::vector<FlagRow>& rows, std::string_view group) {
  std::string text;
  for (const FlagRow& row : rows) {
    if (row.hidden || row.group != group) continue;
    text += two_columns(words_of(row), row.value.description);
  }
  return text;
}

std::vector<std::string> groups_of(const std::vector<FlagRow>& rows) {
  std::vector<std::string> groups;
  for (const FlagRow& row : rows) {
    const bool known = std::ranges::find(groups, row.group) != groups.end();
    if (!row.hidden && !known) groups.push_back(row.group);
  }
  return groups;
}

std::string footer_of(const CommandText& text) {
  std::string footer = "\n";
  if (!text.examples.empty()) footer += fmt::format("Examples:\n{}\n", text.examples);
  return footer + wrap(fmt::format("Exit codes: {}", text.exit_codes), page_width, 0) + '\n';
}

std::string program_page(const CommandList& commands, Command& run) {
  std::string text = fmt::format("{}\n\nUsage:\n  {}\nCommands:\n",
                                 wrap(program_description, page_width, 0), program_usage);
  for (const auto& command : commands) {
    if (command->text().name == default_command) continue;
    std::string call(command->text().name);
    for (const FlagRow& row : command->flags()) {
      if (row.required) call += " " + words_of(row);
    }
    text += two_columns(call, std::string(command->text().summary));
  }
  const std::vector<FlagRow> rows = run.flags();
  for (const std::string& group : groups_of(rows)) {
    text += fmt::format("\n{}\n{}", wrap(group + ':', page_width, 2), rows_text(rows, group));
    if (group != rows_end_group) continue;
    text +=
        two_columns("--help, -h", "Print this page, or with --scenario NAME its part, and exit");
    text += '\n' + wrap(axes_text, page_width, 0) + '\n';
  }
  const std::string more =
      "Flags that take a list, such as axes, may be given several times: their lists join. Give "
      "other flags once, unless their description says otherwise. Flags that start with "
      "--benchmark_ go to Google Benchmark; --benchmark_filter=REGEX measures the cases whose "
      "names "
      "match, --benchmark_repetitions=N takes N samples of each.";
  return text + '\n' + wrap(more, page_width, 0) + '\n' + footer_of(run.text());
}

}  // namespace

std::string wrap(const std::string& text, std::size_t width, std::size_t indent) {
  return fmt::format("{}",
                     fmt::join(report::wrapped(text, width), "\n" + std::string(indent, ' ')));
}

std::string usage_of(Command& command) {
  std::string text = fmt::format("parbench {}", command.text().name);
  for (const FlagRow& row : command.flags()) {
    text += fmt::format(fmt::runtime(row.required ? " {}" : " [{}]"), words_of(row));
  }
  return text;
}

std::string help_page(const CommandList& commands, std::string_view name) {
  Command& command =
      **std::ranges::find_if(commands, [&](const auto& one) { return one->text().name == name; });
  if (name == default_command) return program_page(commands, command);
  const std::string rows = rows_text(command.flags(), "");
  return fmt::format(
      "{}\n\nUsage:\n  {}\n\n{}{}", wrap(fmt::format("{}.", command.text().summary), page_width, 0),
      wrap(usage_of(command), page_width - 4, 4),
      rows.empty() ? "It takes no flags; parbench --help shows those of a run.\n" : rows,
      footer_of(command.text()));
}

}  // namespace parbench
