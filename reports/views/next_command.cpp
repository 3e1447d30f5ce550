// Determines missing results, the number of samples that they need, and the flags of a run that
// takes these samples.
#include "reports/views/next_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "kernels/base/units/units.h"
#include "reports/statistics/statistics.h"
#include "scenarios/recommendation/recommendation.h"

namespace parbench::report {
namespace {

/// Limits of the factor by which the number of samples grows.
constexpr double min_factor = 2;
constexpr double max_factor = 10;
/// Min difference between cases that is worth distinguishing, as a share of the time.
constexpr double min_precision = 0.002;

using CasesByName = std::map<std::string_view, const CaseResult*>;

/// A recommended case and other cases that more samples may show to be better.
struct Tie {
  std::vector<const CaseResult*> cases;  // at least two
  std::vector<std::string> labels;
  std::string setting;  // empty if the answer has a single setting
};

/// Max ratio of two cases' times at which the first is faster by more than a tie.
constexpr double faster_than_tied = 1 / (1 + largest_tie);

/// Returns whether a case may be faster than the recommended one by more than a tie, so that more
/// samples may change the recommendation; also if their ratio has no interval.
bool may_replace(const CaseResult& other, const CaseResult& recommended) {
  const auto ratio = paired_ratio(Samples(other.samples), Samples(recommended.samples));
  return !ratio || !ratio->interval || ratio->interval->low < faster_than_tied;
}

std::vector<Tie> ties_of(const Report& report, const CasesByName& cases) {
  std::vector<Tie> ties;
  for (const Answer& answer : report.answers) {
    for (const Recommendation& one : answer.recommendations) {
      Tie tie;
      tie.setting = one.setting;
      for (const LabelledCase& candidate : one.candidates) {
        const auto found = cases.find(candidate.name);
        if (found == cases.end() || !has_number(*found->second)) continue;
        if (!tie.cases.empty() && !may_replace(*found->second, *tie.cases.front())) continue;
        tie.cases.push_back(found->second);
        tie.labels.push_back(candidate.label);
      }
      if (tie.cases.size() > 1) ties.push_back(std::move(tie));
    }
  }
  return ties;
}

/// Growth of the number of samples, and the precision, that should show whether another case of a
/// tie replaces the first. The width of an interval falls with the root of the number of samples.
struct Need {
  double factor = min_factor;
  double precision = 1;
};

void add_tie(Need& need, const Tie& tie) {
  constexpr double margin = 1.2;
  for (std::size_t i = 1; i < tie.cases.size(); ++i) {
    const auto ratio =
        paired_ratio(Samples(tie.cases[i]->samples), Samples(tie.cases.front()->samples));
    if (!ratio || !ratio->interval) continue;
    const double width = (ratio->interval->high - ratio->interval->low) / 2;
    const double distance = std::max(std::abs(ratio->value - faster_than_tied), min_precision);
    need.factor = std::max(need.factor, std::pow(margin * width / distance, 2));
    need.precision = std::min(need.precision, distance / 2);
  }
  need.factor = std::min(need.factor, max_factor);
  need.precision = std::max(need.precision, min_precision);
}

std::string purpose_of(const std::vector<Tie>& ties) {
  if (ties.size() > 1) {
    return fmt::format("to distinguish the fastest cases of {} settings", ties.size());
  }
  constexpr std::size_t max_labels = 4;
  std::vector<std::string> labels = ties.front().labels;
  if (labels.size() > max_labels) {
    const std::string more = fmt::format("{} others", labels.size() - max_labels + 1);
    labels.resize(max_labels - 1);
    labels.push_back(more);
  }
  const std::string& setting = ties.front().setting;
  return fmt::format("to distinguish {}{}", format_list(labels),
                     setting.empty() ? "" : " at " + setting);
}

/// Rounds seconds up to a round number for a flag.
std::string rounded_up(double seconds) {
  const double granularity = seconds > 120 ? 60 : 10;
  return fmt::format("{:.0f}", granularity * std::ceil(seconds / granularity));
}

double sampled_seconds(const CaseResult& c) {
  double sum = 0;
  for (const Sample& sample : c.samples) {
    sum += sample.wall_seconds * static_cast<double>(sample.iterations);
  }
  return sum;
}

/// The limits that apply to all scenarios of a run.
struct Limits {
  double precision = 1;
  double max_seconds = 0;    // limit for each case
  double total_seconds = 0;  // limit for the run; 0: none
  int fixed_samples = 0;
};

Limits limits_of(const Report& report) {
  Limits limits;
  for (const Sampling& sampling : report.sampling) {
    limits.precision = std::min(limits.precision, sampling.precision);
    limits.max_seconds = std::max(limits.max_seconds, sampling.max_seconds.value_or(0));
    limits.total_seconds = std::max(limits.total_seconds, sampling.total_seconds.value_or(0));
    limits.fixed_samples = std::max(limits.fixed_samples, sampling.fixed_samples);
  }
  return limits;
}

/// Returns a case's name as a regular expression.
std::string escaped(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    if (std::string_view(".+*?()[]{}|^$\\").find(letter) != std::string_view::npos) text += '\\';
    text += letter;
  }
  return text;
}

/// Returns the flag that selects the tied cases and their baselines; empty if these are most of the
/// cases.
std::string filter_of(const Report& report, const std::vector<Tie>& ties) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    const std::string text = escaped(name);
    if (std::ranges::find(names, text) == names.end()) names.push_back(text);
  };
  for (const Tie& tie : ties) {
    for (const CaseResult* c : tie.cases) {
      if (c->speedup) add(c->speedup->baseline);
      add(c->name);
    }
  }
  if (2 * names.size() > report.cases.size()) return {};
  return fmt::format("--benchmark_filter=^({})$", fmt::join(names, "|"));
}

/// Returns whether the run had several processes, but fewer than a 95% interval needs.
bool has_few_processes(const Report& report) {
  return report.processes.size() > 1 && report.processes.size() < needed_values;
}

void add_flag(std::vector<std::string>& arguments, std::string_view flag, std::string value) {
  arguments.emplace_back(flag);
  arguments.push_back(std::move(value));
}

/// Adds --processes with the number that an interval needs, if `has_few_processes`. Returns the
/// factor by which the run takes longer.
double add_processes(const Report& report, std::vector<std::string>& arguments) {
  if (!has_few_processes(report)) return 1;
  add_flag(arguments, "--processes", fmt::format("{}", needed_values));
  return static_cast<double>(needed_values) / static_cast<double>(report.processes.size());
}

void add_total_time(std::vector<std::string>& arguments, double seconds) {
  add_flag(arguments, "--max-total-time", rounded_up(seconds));
}

/// Adds the flags for the precision and the time limits of a run that takes the needed samples.
/// `seconds`: time limit of the whole run.
void add_limits(const Report& report, const Need& need, double seconds,
                std::vector<std::string>& arguments) {
  double longest = 0;
  for (const CaseResult& c : report.cases) longest = std::max(longest, sampled_seconds(c));
  const Limits limits = limits_of(report);
  if (need.precision < limits.precision && limits.fixed_samples == 0) {
    add_flag(arguments, "--precision", format_number(100 * need.precision, 1));
  }
  if (need.factor * longest > limits.max_seconds) {
    add_flag(arguments, "--max-time", rounded_up(need.factor * longest));
  }
  add_total_time(arguments, seconds);
}

/// Returns the command for a run with more processes, for answers that are otherwise complete.
NextCommand rerun_with_processes(const Report& report, const std::string& path) {
  NextCommand command{.purpose = fmt::format("to measure with {} processes", needed_values),
                      .arguments = {"--rerun", path}};
  const double factor = add_processes(report, command.arguments);
  add_total_time(command.arguments, factor * report.duration_seconds);
  return command;
}

/// Returns the command that measures tied cases again; nothing if they have reached the smallest
/// useful precision.
std::optional<NextCommand> rerun(const Report& report, const std::string& path,
                                 const std::vector<Tie>& ties) {
  Need need;
  for (const Tie& tie : ties) add_tie(need, tie);
  const Limits limits = limits_of(report);
  NextCommand command{.purpose = purpose_of(ties), .arguments = {"--rerun", path}};
  need.factor = std::max(need.factor, add_processes(report, command.arguments));
  if (std::string filter = filter_of(report, ties); !filter.empty()) {
    command.arguments.push_back(std::move(filter));
  }
  if (limits.fixed_samples > 0) {
    command.arguments.push_back(fmt::format("--benchmark_repetitions={:.0f}",
                                            std::ceil(need.factor * limits.fixed_samples)));
    return command;
  }
  // With the same precision, sampling would end as before.
  need.precision = std::max(min_precision, std::min(need.precision, limits.precision / 2));
  const bool came_to_end = std::ranges::all_of(ties, [](const Tie& tie) {
    return std::ranges::all_of(
        tie.cases, [](const CaseResult* c) { return c->stopped_because == "precision"; });
  });
  if (came_to_end && need.precision >= limits.precision) return std::nullopt;
  add_limits(report, need, need.factor * report.duration_seconds, command.arguments);
  return command;
}

/// Cases that a run did not measure or did not finish.
struct Missing {
  std::size_t measured = 0;  // number of cases with a number
  std::size_t left_out = 0;  // number of cases that the run should have measured but did not run
  // min number of samples of the measured cases that the end of the run's time cut short; 0: none
  std::size_t fewest = 0;
  bool is_out_of_time = false;  // the run's time was over before a case was finished

  [[nodiscard]] bool has_few_samples() const { return fewest > 0 && fewest < needed_values; }
  [[nodiscard]] double factor_of_samples() const {
    return static_cast<double>(needed_values) / static_cast<double>(fewest);
  }
};

Missing missing_of(const Report& report) {
  Missing missing;
  for (const CaseResult& c : report.cases) {
    if (has_number(c)) ++missing.measured;
    if (c.status == CaseStatus::not_run && is_unfinished(c)) ++missing.left_out;
    if (c.stopped_because != total_time) continue;
    missing.is_out_of_time = true;
    if (!has_number(c)) continue;
    missing.fewest =
        missing.fewest == 0 ? c.samples.size() : std::min(missing.fewest, c.samples.size());
  }
  return missing;
}

/// Returns the time limit of a resumed run, which prepares all cases again.
double resumed_seconds(const Report& report, const Need& need, const Missing& missing) {
  constexpr double margin = 1.2;
  // default of Scenario::quick_seconds; the run may have had less time
  constexpr double default_seconds = 150;
  if (missing.measured == 0) {
    return std::max(
        {need.factor * report.duration_seconds, limits_of(report).total_seconds, default_seconds});
  }
  const double share = static_cast<double>(missing.measured) /
                       static_cast<double>(missing.measured + missing.left_out);
  return report.duration_seconds * std::max(need.factor, margin / share);
}

std::string purpose_of(const Missing& missing, const std::vector<Tie>& ties) {
  if (missing.left_out > 0) {
    if (missing.left_out == 1) {
      return fmt::format("to measure the {}case", missing.measured > 0 ? "other " : "");
    }
    const std::string_view others = missing.measured > 0 ? "the other" : "all";
    return fmt::format("to measure {} {}", others, format_count(missing.left_out, "case"));
  }
  if (missing.has_few_samples()) {
    return fmt::format("to take {} samples of each case", needed_values);
  }
  return purpose_of(ties);
}

/// Returns the command that resumes a run; a run that was only interrupted keeps its limits.
NextCommand resume(const Report& report, const std::string& path, const std::vector<Tie>& ties,
                   const Missing& missing) {
  Need need;
  for (const Tie& tie : ties) add_tie(need, tie);
  if (missing.has_few_samples()) {
    need.factor = std::max(need.factor, missing.factor_of_samples());
  }
  NextCommand command{.purpose = purpose_of(missing, ties), .arguments = {"--resume", path}};
  if (missing.is_out_of_time) {
    add_limits(report, need, resumed_seconds(report, need, missing), command.arguments);
  }
  return command;
}

/// Returns the command for a new run that measures missing cases, because a run in several
/// processes cannot be resumed.
NextCommand rerun_of_missing(const Report& report, const std::string& path,
                             const Missing& missing) {
  NextCommand command{.purpose = purpose_of(missing, {}), .arguments = {"--rerun", path}};
  const double factor = add_processes(report, command.arguments);
  add_total_time(command.arguments, factor * resumed_seconds(report, {.factor = 1}, missing));
  return command;
}

/// Returns whether any recommendation has a load; `load`: the member that holds its share.
bool has_load(const Report& report, double Recommendation::*load) {
  return std::ranges::any_of(report.answers, [&](const Answer& answer) {
    return std::ranges::any_of(answer.recommendations,
                               [&](const Recommendation& one) { return one.*load > 0; });
  });
}

/// Returns the command that repeats a run whose answers are incomplete because of load; the
/// repeated run also takes missing samples.
NextCommand repeat_without_load(const Report& report, const std::string& path,
                                const Missing& missing) {
  const bool has_verdicts = !has_load(report, &Recommendation::load);
  NextCommand command{.purpose = has_verdicts ? "to find the fastest case, on a quiet machine"
                                              : "for a verdict, on a quiet machine",
                      .arguments = {"--rerun", path}};
  const bool needs_processes = has_few_processes(report);
  const double processes = add_processes(report, command.arguments);
  Need need{.factor = 1};
  const bool needs_samples = missing.has_few_samples() && !needs_processes;
  if (needs_samples) need.factor = missing.factor_of_samples();
  if (missing.is_out_of_time && (missing.left_out > 0 || needs_samples)) {
    add_limits(report, need, processes * resumed_seconds(report, need, missing), command.arguments);
  } else if (needs_processes) {
    add_total_time(command.arguments, processes * report.duration_seconds);
  }
  return command;
}

/// Returns the launcher that restricts another run to the cores allowed to this run; empty if this
/// run was allowed all cores, or if its allowed cores are unknown.
std::vector<std::string> taskset_of(const Machine& machine) {
  const auto online = static_cast<std::size_t>(std::max(0, machine.cores_online));
  if (machine.cores_allowed.empty() || machine.cores_allowed.size() >= online) return {};
  return {"taskset", "-c", fmt::format("{}", fmt::join(machine.cores_allowed, ","))};
}

bool has_launcher(const Report& report) {
  return std::ranges::any_of(report.machine.libraries,
                             [](const auto& library) { return library.first == "ranks"; });
}

/// Returns the command without its launcher.
std::optional<NextCommand> continued(const Report& report, const std::string& path) {
  CasesByName cases;
  for (const CaseResult& c : report.cases) cases.emplace(c.name, &c);
  const std::vector<Tie> ties = ties_of(report, cases);
  const Missing missing = missing_of(report);
  if (has_load(report, &Recommendation::load) || has_load(report, &Recommendation::hiding_load)) {
    return repeat_without_load(report, path, missing);
  }
  const bool can_resume = report.processes.empty();
  const bool are_unfinished = std::ranges::any_of(ties, [](const Tie& tie) {
    return std::ranges::all_of(tie.cases, [](const CaseResult* c) { return is_unfinished(*c); });
  });
  if (can_resume && (missing.left_out > 0 || missing.has_few_samples() || are_unfinished)) {
    return resume(report, path, ties, missing);
  }
  if (missing.left_out > 0) return rerun_of_missing(report, path, missing);
  if (!ties.empty()) return rerun(report, path, ties);
  const bool is_preliminary = std::ranges::any_of(report.answers, &Answer::preliminary);
  if (is_preliminary && has_few_processes(report)) return rerun_with_processes(report, path);
  return {};
}

}  // namespace

std::optional<NextCommand> next_command(const Report& report, const std::string& path) {
  if (!report.measured_by.empty() || is_profile(report) || has_launcher(report)) return {};
  std::optional<NextCommand> command = continued(report, path);
  if (command) command->launcher = taskset_of(report.machine);
  return command;
}

}  // namespace parbench::report
