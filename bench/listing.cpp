// Text of `list` and `devices`.
#include "bench/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/help.h"
#include "bench/ranges.h"
#include "kernels/error.h"

namespace parbench {
namespace {

constexpr std::size_t page_width = 100;

std::string values_text(const std::vector<Value>& values) {
  if (values.empty()) return "chosen by the scenario";
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(to_string(value));
  return fmt::format("{}", fmt::join(texts, ","));
}

std::string axis_text(const Axis& axis) {
  constexpr std::size_t indent = 18;
  std::string text = fmt::format("{}; {}", axis.description, allowed_values(axis));
  if (!axis.strategies.empty()) {
    text += fmt::format("; only of {}", fmt::join(axis.strategies, ", "));
  }
  if (!axis.identity) text += "; not part of a case's name";
  const std::string pad(indent, ' ');
  return fmt::format("    --{:<11} {}\n{}quick: {}\n{}seed:  {}\n", axis.name,
                     wrap(text, page_width - indent, indent), pad,
                     wrap(values_text(axis.quick), page_width - indent, indent), pad,
                     wrap(values_text(axis.seed), page_width - indent, indent));
}

std::string strategy_text(const Scenario& scenario, const Strategy& strategy) {
  constexpr std::size_t indent = 22;
  std::string text = strategy.description;
  if (strategy.name == scenario.baseline()) text += " (baseline)";
  return fmt::format("    {:<17} {}\n", strategy.name, wrap(text, page_width - indent, indent));
}

std::string backend_text(const Backend& backend) {
  std::string text = fmt::format("{}: {}\n", backend.name(), backend.description());
  for (const auto& component : backend.components()) {
    text += fmt::format("  {} {}\n", component.name, component.version);
    if (component.details.empty()) continue;
    text += fmt::format("    {}\n", wrap(component.details, page_width - 4, 4));
  }
  return text;
}

/// What its times depend on, on lines of 80 columns.
std::string facts_text(const DeviceInfo& info) {
  constexpr std::size_t indent = 6;
  constexpr std::size_t width = 80;
  if (info.facts.empty()) return {};
  std::vector<std::string> facts;
  for (const auto& [name, value] : info.facts) facts.push_back(fmt::format("{} {}", name, value));
  return fmt::format("{}{}\n", std::string(indent, ' '),
                     wrap(fmt::format("{}", fmt::join(facts, ", ")), width - indent, indent));
}

std::string devices_text(Backend& backend) {
  const std::vector<DeviceNumber> all = backend.choose(backend.device_count());
  if (all.empty()) return {};
  std::string text = fmt::format("  devices, when all {} are used in one run:\n", all.size());
  const auto devices = backend.open(all, {});
  for (const auto& device : devices) {
    const DeviceInfo& info = device->info();
    text += fmt::format("    {:<10} {}", info.name, info.model);
    if (!info.cores.empty()) {
      text +=
          fmt::format(", core{} {}", info.cores.size() == 1 ? "" : "s", fmt::join(info.cores, ","));
    }
    if (!info.peers.empty()) {
      text += fmt::format(", peer access to {}", fmt::join(info.peers, ", "));
    }
    text += "\n" + facts_text(info);
  }
  for (const DeviceLink& link : links_of(devices)) {
    text += fmt::format("    {} to {}: {}\n", link.from, link.to, link.kind);
  }
  return text;
}

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
  text +=
      "\npresets: quick (the default) asks each question within minutes on two cores; seed is "
      "the\npublished setting to the letter. Any axis can be overridden.\n";
  return text;
}

std::string device_listing(const Machine& machine) {
  std::string text;
  for (const auto& backend : machine.backends()) {
    if (!text.empty()) text += '\n';
    text += backend_text(*backend) + devices_text(*backend);
  }
  for (const auto& missing : Machine::missing_backends()) {
    text += fmt::format("\n{}: {}\n", missing.name, missing.reason);
  }
  text += fmt::format("\nNVTX: {}\n", nvtx_support());
  return text;
}

}  // namespace parbench
