// The table of a run's flags.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "bench/cli/output.h"
#include "bench/cli/run_options.h"
#include "kernels/machine/machine.h"

namespace parbench {
namespace {

using enum FlagKind;
using enum InReport;

constexpr auto what = "What to run";
constexpr auto how = "How it is measured";
constexpr auto output = "Output";

constexpr std::string_view fixed_cases = "the cases are those of the report";
constexpr std::string_view one_capture = "a profiler's capture begins and ends once";
constexpr std::string_view fixed_samples = "a run for a profiler takes three samples of each case";
constexpr std::string_view one_process = "samples are added to those of a single process";
constexpr std::string_view same_measurement = "samples are added to those of the same measurement";
constexpr std::string_view traced_run =
    "a trace shows the profiling pass of a run in a single process";
constexpr double week_seconds = 7 * 24 * 3600;
constexpr double max_processes = 1000;

/// Returns `further` and the exclusions of a flag that takes its cases from a report.
std::vector<Exclusion> with_fixed_cases(std::vector<Exclusion> further) {
  for (const char* flag : {"scenario", "strategy", "preset", "dtype", "graph"}) {
    further.push_back({flag, fixed_cases});
  }
  return further;
}

std::vector<std::string> scenario_choices(const ScenarioList& scenarios) {
  std::vector<std::string> names = names_of(scenarios);
  names.emplace_back("all");
  return names;
}

std::vector<FlagRow> flags_of_what(RunOptions& options, const ScenarioList& scenarios) {
  return {
      {.value = choice_rule("scenario", "The questions to ask; `parbench list` shows them",
                            scenario_choices(scenarios)),
       .kind = list,
       .placeholder = "NAME[,NAME…]|all",
       .in_report = recorded,
       .target = ScenarioChoice{&options.scenarios, &scenarios}},
      {.value = text_rule("strategy", "Only these strategies of the scenarios; default: all"),
       .kind = list,
       .placeholder = "NAME[,NAME…]",
       .in_report = recorded,
       .target = &options.strategies},
      choice_flag("preset",
                  "Values of the axes (see below) that are not given: quick ends within "
                  "minutes on two cores, published repeats the published experiments",
                  {"quick", "published"}, "quick|published", &options.preset),
      text_flag("devices",
                fmt::format("How many devices, or which: {}; `parbench devices` "
                            "shows them",
                            Machine::request_examples()),
                "N|NAME,NAME…", &options.devices),
      choice_flag("dtype",
                  "Element type of activations and weights; tf32: f32 whose products may be "
                  "taken in TF32 on tensor cores (cuda devices); default: f32",
                  number_format_names(), "f32|tf32|bf16", &options.format),
      toggle_flag("graph",
                  "Launch every case as a graph that was captured once (on GPUs a CUDA graph); "
                  "omits strategies that define how work is launched",
                  &options.graph),
      toggle_flag("autotune",
                  "Choose the kernels of convolutions, products and batch normalisations by "
                  "measuring them (cuda devices)",
                  &options.autotune),
      toggle_flag("round-gradients",
                  "Let convolutions of --dtype bf16 round weight gradients to bf16 before they "
                  "are added, where such a kernel is chosen (cuda devices)",
                  &options.round_gradients),
      toggle_flag("oversubscribe",
                  "Let cpu devices share cores where --devices asks for more devices than "
                  "there are cores; the table marks such a run",
                  &options.oversubscribe),
      {.value = text_rule("config",
                          "Flags from a file, an object such as {\"scenario\": \"pipeline\", "
                          "\"split\": [1, 5]}; flags of the command line override it"),
       .placeholder = "FILE.json",
       .in_config = false,
       .target = &options.config_path},
      {.value = text_rule(
           "resume",
           "Continue a run that ended early from the samples in its report, and update "
           "that report; only flags under 'How it is measured' and 'Output' may be added"),
       .placeholder = "REPORT.json",
       .in_config = false,
       .excludes =
           with_fixed_cases({{"devices", fixed_cases},
                             {"rerun", "--resume continues a run, --rerun begins a new one"},
                             {"autotune", same_measurement},
                             {"round-gradients", same_measurement},
                             {"oversubscribe", fixed_cases},
                             {"seed", same_measurement},
                             {"processes", one_process},
                             {"for-profiler", one_process}}),
       .target = &options.resume_path},
      {.value =
           text_rule("rerun",
                     "Measure the cases of a report again, in the same way; flags under 'How it is "
                     "measured' and 'Output' override those of the report"),
       .placeholder = "REPORT.json",
       .in_config = false,
       .excludes = with_fixed_cases({}),
       .target = &options.rerun_path},
  };
}

std::vector<FlagRow> flags_of_how(RunOptions& options) {
  return {
      number_flag("precision",
                  "Stop sampling a case when the 95% confidence interval of its median is at "
                  "most ± this wide; default: 1",
                  AxisKind::real, 0.01, 100, "PERCENT", &options.precision_percent),
      number_flag("min-samples",
                  "Take at least this many samples of each case, unless --max-time ends "
                  "first; default: 6",
                  AxisKind::integer, 1, 100'000, "N", &options.min_samples),
      number_flag("max-time",
                  "Stop sampling a case after this time; default: 20, with --preset published "
                  "300",
                  AxisKind::real, 0.001, week_seconds, "SECONDS", &options.max_time_seconds),
      number_flag(
          "max-total-time",
          "End the whole run within this time, preparation, verification and profiling "
          "included. Where it is short, cases get fewer samples, then no timelines, then some "
          "cases are left out and named; default: 150 for each scenario (pipeline: 180), none "
          "with "
          "--max-time, fixed numbers of samples or --preset published",
          AxisKind::real, 0.001, week_seconds, "SECONDS", &options.max_total_time_seconds),
      number_flag("seed", "Seed of all random data; default: 1", AxisKind::integer, 0, 1e15, "N",
                  &options.seed),
      number_flag("processes",
                  "Spread the samples over N new processes, one after the other, because times "
                  "differ more between processes than within one; intervals are then those of the "
                  "processes' medians (95% needs 6 or more). Each process has an equal share of "
                  "the time, prepares every case again and takes --min-samples; default: 1",
                  AxisKind::integer, 1, max_processes, "N", &options.processes),
      {.value =
           text_rule("for-profiler",
                     "For a run under a profiler (scripts/nsys-capture): warm up, then start the "
                     "profiler, take three samples of one execution each, and stop it; no progress "
                     "is shown"),
       .kind = toggle,
       .excludes = {{"precision", fixed_samples},
                    {"min-samples", fixed_samples},
                    {"processes", one_capture}},
       .target = &options.for_profiler},
      toggle_flag("allow-different-ranks",
                  "With several ranks (mpirun): measure although their processors or "
                  "instruction sets differ, and show the differences",
                  &options.allow_different_ranks),
      toggle_flag("no-timeline",
                  "Record no timelines: skip the profiled execution of each case after its samples",
                  &options.no_timeline),
  };
}

std::vector<FlagRow> flags_of_output(RunOptions& options) {
  return {
      text_flag("report", "Where the report goes; default: reports/runs/<UTC time>-<scenario>.json",
                "PATH", &options.report_path),
      toggle_flag("dry-run", "Show the cases, their memory and the estimated time; measure nothing",
                  &options.dry_run),
      {.value = text_rule("trace",
                          "Write the timeline of one execution of each case in Chrome's trace "
                          "format, for ui.perfetto.dev"),
       .placeholder = "FILE.json",
       .excludes = {{"for-profiler", traced_run},
                    {"no-timeline", traced_run},
                    {"processes", traced_run},
                    {"dry-run", traced_run}},
       .target = &options.trace_path},
      many_flag("trace-case",
                "With --trace: only cases whose names contain this text, such as split:12; may be "
                "given several times",
                "TEXT", &options.trace_cases),
      toggle_flag("quiet", "Show no progress, only tables, answers and errors", &options.quiet),
      width_flag(options.width),
      {.value = text_rule("version", "Print the version and exit"),
       .kind = toggle,
       .in_config = false},
      {.value = number_rule("process", "Index of this process in the run of --rerun",
                            AxisKind::integer, 0, max_processes - 1),
       .hidden = true,
       .in_config = false,
       .target = &options.process},
  };
}

void add_group(std::vector<FlagRow>& rows, std::string_view group, std::vector<FlagRow> added) {
  for (FlagRow& row : added) {
    row.group = group;
    rows.push_back(std::move(row));
  }
}

/// An axis with the scenarios that have it.
struct SharedAxis {
  const Axis* axis = nullptr;  // axis of the first of these scenarios
  std::vector<std::string> scenarios;
  std::vector<std::string> descriptions = {};  // one for each scenario
};

std::vector<SharedAxis> shared_axes(const ScenarioList& scenarios) {
  std::vector<SharedAxis> result;
  for (const auto& scenario : scenarios) {
    for (const Axis& axis : scenario->axes()) {
      auto found = std::ranges::find_if(
          result, [&](const SharedAxis& known) { return known.axis->name == axis.name; });
      if (found == result.end()) found = result.insert(result.end(), SharedAxis{&axis, {}});
      found->scenarios.emplace_back(scenario->name());
      found->descriptions.push_back(axis.description);
    }
  }
  return result;
}

/// Returns the description of an axis; if it depends on the scenario, the descriptions with their
/// scenarios.
std::string description_of(const SharedAxis& shared) {
  std::vector<std::string> texts;
  std::vector<std::string> known;
  for (const std::string& description : shared.descriptions) {
    if (std::ranges::find(known, description) != known.end()) continue;
    known.push_back(description);
    std::vector<std::string> scenarios;
    for (std::size_t i = 0; i < shared.scenarios.size(); ++i) {
      if (shared.descriptions[i] == description) scenarios.push_back(shared.scenarios[i]);
    }
    texts.push_back(fmt::format("{}: {}", fmt::join(scenarios, ", "), description));
  }
  return known.size() == 1 ? known.front() : fmt::format("{}", fmt::join(texts, "; "));
}

/// Returns "sgd,adam", or "MODEL[,MODEL…]" if the choices do not fit on a line.
std::string choices_text(const Axis& axis) {
  constexpr std::size_t max_width = 60;
  std::string choices = fmt::format("{}", fmt::join(axis.choices, ","));
  if (choices.size() <= max_width) return choices;
  std::string name = axis.name;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format("{0}[,{0}…]", name);
}

std::string placeholder_of(const Axis& axis) {
  switch (axis.kind) {
    case AxisKind::integer:
      return "N[,N…]";
    case AxisKind::real:
    case AxisKind::percent:
      return "X[,X…]";
    case AxisKind::duration:
      return "TIME[,TIME…]";
    case AxisKind::bytes:
      return "BYTES[,BYTES…]";
    case AxisKind::choice:
      return choices_text(axis);
    case AxisKind::sizes:
      return "N[,N…]|N+N…";
    case AxisKind::text:
      return "TEXT[,TEXT…]";
  }
  return "VALUE";
}

FlagRow flag_of(const SharedAxis& shared, RunOptions& options) {
  FlagRow row{.value = *shared.axis,
              .kind = list,
              .placeholder = placeholder_of(*shared.axis),
              .group = fmt::format("Axes of {}", fmt::join(shared.scenarios, ", ")),
              .in_report = shared.axis->identity ? recorded : repeated,
              .target = &options.axes};
  row.value.description = description_of(shared);
  if (!shared.axis->identity) {
    row.placeholder.resize(std::min(row.placeholder.find('['), row.placeholder.size()));
    row.value.description += "; one value, which is not part of a case's name";
  }
  return row;
}

}  // namespace

std::vector<FlagRow> run_flags(RunOptions& options, const ScenarioList& scenarios) {
  std::vector<FlagRow> rows;
  add_group(rows, what, flags_of_what(options, scenarios));
  for (FlagRow& row : rows) {
    if (row.in_config && row.in_report == nothing) row.in_report = repeated;
  }
  const std::vector<SharedAxis> axes = shared_axes(scenarios);
  for (FlagRow& row : rows) {
    const bool resumes = row.value.name == "resume";
    if (!resumes && row.value.name != "rerun") continue;
    for (const SharedAxis& shared : axes) {
      if (resumes || shared.axis->identity) {
        row.excludes.push_back({shared.axis->name, fixed_cases});
      }
    }
  }
  std::vector<FlagRow> measuring = flags_of_how(options);
  for (FlagRow& row : measuring) row.in_report = repeated;
  add_group(rows, how, std::move(measuring));
  add_group(rows, output, flags_of_output(options));
  add_group(rows, output, project_flags(options.project));
  for (const SharedAxis& shared : axes) rows.push_back(flag_of(shared, options));
  return rows;
}

}  // namespace parbench
