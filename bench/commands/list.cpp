// `list`: the scenarios.
#include "bench/commands/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/cli/help.h"
#include "bench/commands/commands.h"
#include "bench/output/standard_streams.h"

namespace parbench {
namespace {

/// As --AXIS takes them; with spaces where a line of `width` has no room for all.
std::string values_text(const std::vector<Value>& values, std::size_t width) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(to_string(value));
  std::string text = fmt::format("{}", fmt::join(texts, ","));
  return text.size() <= width ? text : fmt::format("{}", fmt::join(texts, ", "));
}

/// The description of an axis without the reference to this list.
std::string_view without_reference(std::string_view description) {
  return description.substr(0, description.find("; `parbench list`"));
}

std::string axis_text(const Axis& axis) {
  constexpr std::size_t indent = 21;
  std::string text =
      fmt::format("{}; {}", without_reference(axis.description), allowed_values(axis));
  if (!axis.strategies.empty()) {
    text += fmt::format("; only for strategy {}", fmt::join(axis.strategies, ", "));
  }
  if (!axis.identity) text += "; not part of a case's name";
  const std::string pad(indent, ' ');
  constexpr std::size_t values_indent = indent + 11;
  const auto line = [&](std::string_view preset, const std::vector<Value>& values) {
    constexpr std::size_t width = page_width - values_indent;
    if (values.empty()) return std::string();  // it depends on other parameters
    return fmt::format("{}{:<11}{}\n", pad, preset,
                       wrap(values_text(values, width), width, values_indent));
  };
  return fmt::format("    --{:<14} {}\n{}{}", axis.name, wrap(text, page_width - indent, indent),
                     line("quick:", axis.quick), line("published:", axis.published));
}

std::string strategy_text(const Scenario& scenario, const Strategy& strategy) {
  constexpr std::size_t indent = 23;
  std::string text = strategy.description;
  if (strategy.name == scenario.baseline()) text += " (baseline)";
  return fmt::format("    {:<18} {}\n", strategy.name, wrap(text, page_width - indent, indent));
}

constexpr CommandText list_help{.name = "list",
                                .summary = "Scenarios with their strategies, axes and presets",
                                .examples = {},
                                .exit_codes = listing_exit_codes};

class List final : public Command {
 public:
  explicit List(const Program& program) : Command(list_help), scenarios_(program.scenarios) {}
  ExitCode run() override {
    print(scenario_listing(scenarios_));
    return ExitCode::measured;
  }

 private:
  const ScenarioList& scenarios_;
};

}  // namespace

std::string scenario_listing(const ScenarioList& scenarios) {
  std::string text;
  for (const auto& scenario : scenarios) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{}\n  {}\n  strategies:\n", scenario->name(),
                        wrap(std::string(scenario->question()), page_width - 2, 2));
    for (const Strategy& strategy : scenario->strategies()) {
      text += strategy_text(*scenario, strategy);
    }
    text += "  axes:\n";
    for (const Axis& axis : scenario->axes()) text += axis_text(axis);
  }
  return text + '\n' +
         wrap(
             "presets: quick (the default) asks each question within minutes on two cores; "
             "published has those of the published experiments. Any axis can be overridden.",
             page_width, 0) +
         '\n';
}

std::unique_ptr<Command> make_list(const Program& program) {
  return std::make_unique<List>(program);
}

}  // namespace parbench
