// `list`: describes scenarios and models.
#include "bench/commands/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/cli/help.h"
#include "bench/commands/commands.h"
#include "bench/output/standard_streams.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

/// Returns values as --AXIS takes them, with spaces between them if they do not fit on a line.
std::string values_text(const std::vector<Value>& values, std::size_t width) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(to_string(value));
  std::string text = fmt::format("{}", fmt::join(texts, ","));
  return text.size() <= width ? text : fmt::format("{}", fmt::join(texts, ", "));
}

std::string axis_text(const Axis& axis) {
  constexpr std::size_t indent = 21;
  const std::size_t reference = axis.description.find("; `parbench list`");  // to this list
  std::string text =
      fmt::format("{}; {}{}", axis.description.substr(0, reference),
                  axis.kind == AxisKind::choice ? "one of " : "", allowed_values(axis));
  if (!axis.strategies.empty()) {
    text += fmt::format("; only for {} {}", axis.strategies.size() == 1 ? "strategy" : "strategies",
                        fmt::join(axis.strategies, ", "));
  }
  if (!axis.identity) text += "; not part of a case's name";
  const std::string pad(indent, ' ');
  constexpr std::size_t values_indent = indent + 11;
  const auto line = [&](std::string_view preset, const std::vector<Value>& values) {
    constexpr std::size_t width = page_width - values_indent;
    if (values.empty()) return std::string();  // the values depend on other parameters
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

std::string text_of(const Scenario& scenario) {
  std::string text = fmt::format("{}\n  {}\n  strategies:\n", scenario.name(),
                                 wrap(std::string(scenario.question()), page_width - 2, 2));
  for (const Strategy& strategy : scenario.strategies()) text += strategy_text(scenario, strategy);
  text += "  axes (each a flag, with its values in both presets):\n";
  for (const Axis& axis : scenario.axes()) text += axis_text(axis);
  return text;
}

std::string model_listing() {
  constexpr std::size_t indent = 20;
  std::string text = "models, with the sizes that flags can change\n";
  for (const Model& model : models()) {
    std::vector<std::string> items;
    for (const auto& [name, size] : model.sizes)
      items.push_back(fmt::format("--{}={}", name, size));
    if (items.empty()) items.emplace_back("sizes are fixed");
    text +=
        fmt::format("  {:<17} {}\n", model.name,
                    wrap(fmt::format("{}", fmt::join(items, ", ")), page_width - indent, indent));
  }
  return text + "\n" +
         wrap(
             "--model also takes FILE.onnx, a model of your own. `parbench inspect MODEL` shows "
             "the layers of a model, its parameters and its memory.",
             page_width, 0) +
         "\n";
}

constexpr std::string_view presets_text =
    "An axis is a parameter that a run can vary: --split 1,3,5 measures each of the three values, "
    "and several axes every combination. A preset has the values of axes that are not given: quick "
    "(the default) asks each question within minutes on two cores; published repeats the published "
    "experiments.";

constexpr CommandText list_help{
    .name = "list",
    .summary = "Scenarios with their strategies, axes and presets; models",
    .examples =
        "  parbench list pipeline\n"
        "      What scenario pipeline asks, compares and varies.\n"
        "  parbench list models\n"
        "      What --model takes.\n",
    .exit_codes = listing_exit_codes};

class List final : public Command {
 public:
  explicit List(const Program& program) : Command(list_help), scenarios_(program.scenarios) {}

  std::vector<FlagRow> flags() override {
    std::vector<std::string> choices = names_of(scenarios_);
    choices.emplace_back(models_topic);
    return {{.value = choice_rule("NAME", "Scenarios, or the word models; default: all scenarios",
                                  std::move(choices)),
             .kind = FlagKind::many,
             .placeholder = "…",
             .target = &names_}};
  }

  ExitCode run() override {
    print(scenario_listing(scenarios_, names_));
    return ExitCode::measured;
  }

 private:
  const ScenarioList& scenarios_;
  std::vector<std::string> names_;
};

}  // namespace

std::string scenario_listing(const ScenarioList& scenarios, const std::vector<std::string>& names) {
  const auto is_named = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::vector<std::string> parts;
  for (const auto& scenario : scenarios) {
    if (names.empty() || is_named(scenario->name())) parts.push_back(text_of(*scenario));
  }
  if (!parts.empty()) parts.push_back(wrap(std::string(presets_text), page_width, 0) + '\n');
  if (is_named(models_topic)) parts.push_back(model_listing());
  return fmt::format("{}", fmt::join(parts, "\n"));
}

std::unique_ptr<Command> make_list(const Program& program) {
  return std::make_unique<List>(program);
}

}  // namespace parbench
