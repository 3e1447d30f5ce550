// The table of flags and the reading of their values.
#include "bench/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/error.h"
#include "kernels/machine.h"
#include "scenarios/suggest.h"

namespace parbench {
namespace {

constexpr auto what = "What to run";
constexpr auto how = "How it is measured";
constexpr auto output = "Output";
constexpr auto hidden = "";

std::vector<Flag> fixed_flags() {
  using enum FlagKind;
  return {
      {"scenario", "NAME[,NAME…]|all", "The questions to ask; `parbench list` shows them", what,
       list},
      {"strategy", "NAME[,NAME…]", "Only these strategies of the scenarios; default: all", what,
       list},
      {"preset", "quick|seed",
       "Values of the axes that are not given: quick ends within minutes on two cores, seed is the "
       "published setting to the letter",
       what},
      {"devices", "N|NAME,NAME…",
       fmt::format("How many devices, or which: {}; `parbench devices` shows them",
                   Machine::request_examples()),
       what},
      {"dtype", "f32|tf32|bf16",
       "Element type of activations and weights; tf32: f32 whose products may be taken in TF32 on "
       "tensor cores (cuda devices); default: f32",
       what},
      {"graph", "",
       "Capture every case into a graph beforehand and replay that; leaves out strategies that say "
       "themselves how they are launched",
       what, toggle},
      {"autotune", "",
       "Choose the kernels of convolutions and products by measuring them, not by the libraries' "
       "heuristics (cuda devices)",
       what, toggle},
      {"config", "FILE.json",
       "Flags from a file, an object such as {\"scenario\": \"pipeline\", \"split\": [1, 5]}; "
       "flags "
       "given here win",
       what},
      {"rerun", "REPORT.json",
       "The same cases as in a report, measured in the same way; flags of the two groups below win",
       what},
      {"precision", "PERCENT",
       "Stop sampling a case when the 95% interval of its median is this narrow (half width); "
       "default: 1",
       how},
      {"min-samples", "N",
       "Take at least so many samples of each case, unless --max-time ends first; default: 6", how},
      {"max-time", "SECONDS",
       "Stop sampling a case after this time; default: 20, and 140 for a whole scenario, 300 with "
       "--preset seed",
       how},
      {"seed", "N", "Seed of all random data; default: 1", how},
      {"launches", "K",
       "Spread the samples over K fresh processes, one after the other, since two processes differ "
       "more than their samples tell; intervals are then of the launches' medians (K of 6 or more "
       "for 95%). Each has 1/K of the time and prepares every case anew; --min-samples is of each; "
       "default: 1",
       how},
      {"report", "PATH", "Where the report goes; default: reports/runs/<UTC time>-<scenario>.json",
       output},
      {"dry-run", "", "Show the cases, their memory and the estimated time; measure nothing",
       output, toggle},
      {"profile", "",
       "For a run under a profiler (scripts/nsys-capture): warm up, then three samples of one "
       "execution each between its start and stop, without progress. --no-profile is not its "
       "opposite",
       how, toggle},
      {"no-profile", "",
       "Do not look at one more execution of each case for the reasons of its time, which a run "
       "does unless told otherwise; it has nothing to do with --profile",
       how, toggle},
      {"trace", "FILE.json",
       "Write what ran when, of one execution of each case, in Chrome's trace format, for "
       "ui.perfetto.dev",
       output},
      {"quiet", "", "No progress; only the tables, the answers and errors", output, toggle},
      {"version", "", "Print the version and exit", output, toggle},
      {"launch", "N", "Which of the launches of the report given with --rerun this process is",
       hidden},
  };
}

/// The same axis in all the scenarios that have it.
struct SharedAxis {
  const Axis* axis = nullptr;  // of the first scenario that has it
  std::vector<std::string> scenarios;
};

std::vector<SharedAxis> shared_axes(const ScenarioList& scenarios) {
  std::vector<SharedAxis> result;
  for (const auto& scenario : scenarios) {
    for (const Axis& axis : scenario->axes()) {
      auto found = std::ranges::find_if(
          result, [&](const SharedAxis& known) { return known.axis->name == axis.name; });
      if (found == result.end()) found = result.insert(result.end(), SharedAxis{&axis, {}});
      found->scenarios.emplace_back(scenario->name());
    }
  }
  return result;
}

std::string placeholder_of(const Axis& axis) {
  switch (axis.kind) {
    case AxisKind::integer:
      return "N[,N…]";
    case AxisKind::real:
      return "X[,X…]";
    case AxisKind::duration:
      return "TIME[,TIME…]";
    case AxisKind::choice:
      return fmt::format("{}", fmt::join(axis.choices, ","));
    case AxisKind::sizes:
      return "N[,N…]|N+N…";
    case AxisKind::text:
      return "TEXT[,TEXT…]";
  }
  return "VALUE";
}

Flag flag_of(const SharedAxis& shared) {
  std::string placeholder = placeholder_of(*shared.axis);
  std::string description = shared.axis->description;
  if (!shared.axis->identity) {
    placeholder.resize(std::min(placeholder.find('['), placeholder.size()));
    description += "; one value, which is no part of a case's name";
  }
  return {shared.axis->name, std::move(placeholder), std::move(description),
          fmt::format("Axes of {} (a comma list sweeps)", fmt::join(shared.scenarios, ", ")),
          FlagKind::list};
}

const std::string* single_text(const FlagValues& values, std::string_view flag) {
  const auto found = values.find(flag);
  if (found == values.end() || found->second.empty()) return nullptr;
  if (found->second.size() > 1) {
    throw UsageError(
        fmt::format("--{} was given {} times; it takes one value", flag, found->second.size()));
  }
  return &found->second.front();
}

/// Reads a flag's value by the same rules as an axis'.
std::optional<Value> single_value(const FlagValues& values, const Axis& rule) {
  const std::string* text = single_text(values, rule.name);
  if (text == nullptr) return std::nullopt;
  return parse_value(rule, *text);
}

Axis rule(std::string name, AxisKind kind, double least, double most) {
  Axis axis;
  axis.name = std::move(name);
  axis.kind = kind;
  axis.least = least;
  axis.most = most;
  return axis;
}

/// The value of a flag whose text is read elsewhere; there has to be one.
std::string text_value(const FlagValues& values, std::string_view flag, std::string_view allowed) {
  const std::string* text = single_text(values, flag);
  if (text == nullptr) return {};
  if (text->empty()) throw UsageError(fmt::format("--{} '' is empty; allowed: {}", flag, allowed));
  return *text;
}

Axis choice(std::string name, std::vector<std::string> choices) {
  Axis axis;
  axis.name = std::move(name);
  axis.kind = AxisKind::choice;
  axis.choices = std::move(choices);
  return axis;
}

std::vector<std::string> scenario_names(const FlagValues& values, const ScenarioList& scenarios) {
  const auto found = values.find("scenario");
  if (found == values.end()) return {};
  std::vector<std::string> known = names_of(scenarios);
  std::vector<std::string> chosen = split_items("scenario", found->second);
  if (chosen == std::vector<std::string>{"all"}) return known;
  if (std::ranges::find(chosen, "all") != chosen.end()) {
    throw UsageError("--scenario 'all' stands for every scenario; give it alone");
  }
  for (const std::string& name : chosen) {
    if (std::ranges::find(known, name) == known.end()) {
      throw UsageError(fmt::format("--scenario '{}' does not exist{}\nthere are: {}; or all", name,
                                   did_you_mean(name, known), fmt::join(known, ", ")));
    }
  }
  return chosen;
}

void read_measurement(const FlagValues& values, Options& options) {
  if (const auto value = single_value(values, rule("precision", AxisKind::real, 0.01, 100))) {
    options.precision_percent = std::get<double>(*value);
    options.precision_given = true;
  }
  if (const auto value = single_value(values, rule("min-samples", AxisKind::integer, 1, 100'000))) {
    options.min_samples = static_cast<int>(std::get<std::int64_t>(*value));
  }
  constexpr double week_seconds = 7 * 24 * 3600;
  if (const auto value =
          single_value(values, rule("max-time", AxisKind::real, 0.001, week_seconds)))
    options.max_time_seconds = std::get<double>(*value);
  if (const auto value = single_value(values, rule("seed", AxisKind::integer, 0, 1e15))) {
    options.seed = static_cast<std::uint64_t>(std::get<std::int64_t>(*value));
  }
  constexpr int most_launches = 1000;
  if (const auto value =
          single_value(values, rule("launches", AxisKind::integer, 1, most_launches))) {
    options.launches = static_cast<int>(std::get<std::int64_t>(*value));
  }
  if (const auto value =
          single_value(values, rule("launch", AxisKind::integer, 0, most_launches - 1))) {
    options.launch = static_cast<int>(std::get<std::int64_t>(*value));
  }
}

/// A profile has a fixed number of samples, which nothing else decides.
void check_profile(const Options& options) {
  if (!options.profile) return;
  for (const auto& [flag, given] : {std::pair("precision", options.precision_given),
                                    std::pair("min-samples", options.min_samples.has_value())}) {
    if (!given) continue;
    throw UsageError(
        fmt::format("--{} has no effect with --profile, which takes three samples of each case; "
                    "leave one of the two out",
                    flag));
  }
  if (options.launches > 1) {
    throw UsageError(
        "--launches cannot be combined with --profile: a profiler's capture begins and ends once; "
        "leave one of the two out");
  }
}

void refuse_standard_output(std::string_view flag, const std::string& path) {
  if (path != "-") return;
  throw UsageError(
      fmt::format("--{} '-' is no file: standard output has the table; name a file (./- for one "
                  "with that name)",
                  flag));
}

/// A trace is of the executions that a run looks at, in one process.
void check_trace(const Options& options) {
  if (options.trace_path.empty()) return;
  for (const auto& [flag, given] :
       {std::pair("profile", options.profile), std::pair("no-profile", options.no_profile),
        std::pair("launches", options.launches > 1), std::pair("dry-run", options.dry_run)}) {
    if (!given) continue;
    throw UsageError(fmt::format(
        "--trace cannot be combined with --{}: it shows the executions that a run of a single "
        "process looks at; leave one of the two out",
        flag));
  }
}

bool is_fixed(std::string_view name) {
  static const std::vector<Flag> fixed = fixed_flags();
  return std::ranges::find(fixed, name, &Flag::name) != fixed.end();
}

}  // namespace

std::vector<Flag> all_flags(const ScenarioList& scenarios) {
  std::vector<Flag> flags = fixed_flags();
  for (const SharedAxis& shared : shared_axes(scenarios)) flags.push_back(flag_of(shared));
  return flags;
}

std::vector<std::string> names_of(const std::vector<Flag>& flags) {
  std::vector<std::string> names;
  for (const Flag& flag : flags) {
    if (!flag.group.empty()) names.push_back(flag.name);
  }
  return names;
}

std::vector<std::string> names_of(const ScenarioList& scenarios) {
  std::vector<std::string> names;
  for (const auto& scenario : scenarios) names.emplace_back(scenario->name());
  return names;
}

bool is_on(const FlagValues& values, std::string_view flag) {
  const auto found = values.find(flag);
  if (found == values.end()) return false;
  bool on = false;
  for (const std::string& text : found->second) {
    on = text == "true";
    if (on || text == "false") continue;
    throw UsageError(
        fmt::format("--{} '{}' is neither true nor false; allowed: --{} alone, "
                    "--{}=true, --{}=false",
                    flag, text, flag, flag, flag));
  }
  return on;
}

std::vector<std::string> split_items(std::string_view flag, const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) {
    std::string_view rest = text;
    while (true) {
      const std::size_t comma = rest.find(',');
      const std::string item(rest.substr(0, comma));
      if (item.empty()) {
        throw UsageError(
            fmt::format("--{} '{}' has an empty item; give values like a,b,c without "
                        "spaces",
                        flag, text));
      }
      if (std::ranges::find(items, item) != items.end()) {
        throw UsageError(fmt::format("--{} has '{}' twice; give each value once", flag, item));
      }
      items.push_back(item);
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return items;
}

double threshold_from(const std::string& text) {
  std::string_view number = text;
  if (number.ends_with('%')) number.remove_suffix(1);
  return std::get<double>(parse_value(rule("threshold", AxisKind::real, 0, 1000), number)) / 100;
}

Options options_from(const FlagValues& values, const ScenarioList& scenarios) {
  Options options;
  options.scenarios = scenario_names(values, scenarios);
  if (const auto found = values.find("strategy"); found != values.end()) {
    options.strategies = split_items("strategy", found->second);
  }
  if (const auto value = single_value(values, choice("preset", {"quick", "seed"}))) {
    options.preset = std::get<std::string>(*value);
  }
  if (const auto value = single_value(values, choice("dtype", number_format_names()))) {
    options.format = *number_format_named(std::get<std::string>(*value));
    options.format_given = true;
  }
  options.graph = is_on(values, "graph");
  options.devices = text_value(values, "devices", Machine::request_examples());
  options.report_path = text_value(values, "report", "the path of a file");
  refuse_standard_output("report", options.report_path);
  read_measurement(values, options);
  options.dry_run = is_on(values, "dry-run");
  options.quiet = is_on(values, "quiet");
  options.autotune = is_on(values, "autotune");
  options.profile = is_on(values, "profile");
  options.no_profile = is_on(values, "no-profile");
  options.trace_path = text_value(values, "trace", "the path of a file");
  refuse_standard_output("trace", options.trace_path);
  check_profile(options);
  check_trace(options);
  for (const auto& [name, texts] : values) {
    if (!is_fixed(name)) options.axes[name] = split_items(name, texts);
  }
  return options;
}

std::vector<Parameter> flags_from(const Options& options) {
  std::vector<Parameter> flags;
  flags.push_back({"scenario", fmt::format("{}", fmt::join(options.scenarios, ","))});
  if (!options.strategies.empty()) {
    flags.push_back({"strategy", fmt::format("{}", fmt::join(options.strategies, ","))});
  }
  flags.push_back({"preset", options.preset});
  if (!options.devices.empty()) flags.push_back({"devices", options.devices});
  flags.push_back({"dtype", std::string(to_string(options.format))});
  if (options.graph) flags.push_back({"graph", "true"});
  if (options.autotune) flags.push_back({"autotune", "true"});
  if (options.profile) flags.push_back({"profile", "true"});
  if (options.no_profile) flags.push_back({"no-profile", "true"});
  // With the seed preset a precision replaces the published number of samples, so the default is
  // not to be repeated as if it had been given; with a profile it has no meaning.
  if (options.precision_given || (options.preset != "seed" && !options.profile)) {
    flags.push_back({"precision", options.precision_percent});
  }
  if (options.min_samples) {
    flags.push_back({"min-samples", static_cast<std::int64_t>(*options.min_samples)});
  }
  if (options.max_time_seconds) flags.push_back({"max-time", *options.max_time_seconds});
  flags.push_back({"seed", static_cast<std::int64_t>(options.seed)});
  if (options.launches > 1) {
    flags.push_back({"launches", static_cast<std::int64_t>(options.launches)});
  }
  for (const auto& [axis, items] : options.axes) {
    flags.push_back({axis, fmt::format("{}", fmt::join(items, ","))});
  }
  return flags;
}

}  // namespace parbench
