// Builds rows with verdicts from two reports.
#include "reports/compare/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>
#include <variant>

#include "kernels/base/units/units.h"
#include "kernels/base/units/wide_intervals.h"
#include "reports/compare/kernel_choices.h"
#include "reports/compare/processes.h"
#include "reports/model/disturbances.h"
#include "reports/model/fingerprint.h"
#include "reports/model/notes.h"
#include "reports/statistics/conditions.h"
#include "reports/statistics/statistics.h"
#include "reports/text/text.h"
#include "reports/views/circumstances.h"
#include "reports/views/parameter_columns.h"
#include "reports/views/table_parts.h"

namespace parbench::compare {
namespace {

using report::CaseResult;
using report::Cases;
using report::Report;

// ----------------------------------------------------------------------------------------- sides

int max_processes(const Report& report) {
  std::size_t max = 0;
  for (const CaseResult& c : report.cases) max = std::max(max, processes_of(c).log_medians.size());
  return static_cast<int>(max);
}

/// Returns the first line of each text; further lines quote the output of a process.
std::vector<std::string> first_lines(std::vector<std::string> texts) {
  for (std::string& text : texts) text.resize(std::min(text.find('\n'), text.size()));
  return texts;
}

Side side_of(const NamedReport& named) {
  const Report& report = named.report;
  return {.name = named.name,
          .version = report.version,
          .program = program_of(report),
          .by_parbench = report.measured_by.empty(),
          .started_utc = report.started_utc,
          .commit = report.machine.commit,
          .dirty = report.machine.dirty.value_or(false),
          .processes = max_processes(report),
          .complete = report.complete,
          .ended_early = report::ended_early(report),
          .unfinished = report::unfinished_cases(report),
          .process_errors = first_lines(report::process_errors(report)),
          .file_notes = report.file_notes,
          .circumstances = report.machine.circumstances};
}

std::optional<Measured> measured(const CaseResult* c) {
  if (c == nullptr || c->status != report::CaseStatus::measured) return std::nullopt;
  const std::vector<double> log_medians = processes_of(*c).log_medians;
  if (log_medians.empty()) return std::nullopt;
  Measured result{.seconds = std::exp(mean(log_medians)),
                  .processes = static_cast<int>(log_medians.size())};
  report::add_throttles(result.throttled_by, *c);
  if (report::is_over_quota(*c)) result.quota_lost = c->quota_lost;
  return result;
}

std::optional<CutDifference> cut_difference(const Match& match) {
  if (match.base == nullptr || match.now == nullptr) return std::nullopt;
  CutDifference cuts{report::cut_of(*match.base), report::cut_of(*match.now)};
  if (cuts.base.empty() || cuts.now.empty() || cuts.base == cuts.now) return std::nullopt;
  return cuts;
}

// ---------------------------------------------------------------------------------------- labels

/// The rows of one scenario, and for each row its case: that of NEW, or that of BASE if NEW lacks
/// it.
struct ScenarioRows {
  std::string scenario;
  Cases cases;
  std::vector<Row*> rows;
};

/// Groups rows by scenario, in the order of first appearance.
std::vector<ScenarioRows> by_scenario(const std::vector<Match>& matches, std::vector<Row>& rows) {
  std::vector<ScenarioRows> groups;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    auto group = std::ranges::find(groups, rows[i].scenario, &ScenarioRows::scenario);
    if (group == groups.end()) group = groups.insert(groups.end(), {rows[i].scenario, {}, {}});
    group->cases.push_back(&matches[i].any());
    group->rows.push_back(&rows[i]);
  }
  return groups;
}

/// Returns the parameters of the cases without hidden ones, which do not belong to a case's
/// identity and may differ between the sides.
std::vector<report::ParameterColumn> identity_columns(const Cases& cases) {
  std::vector<report::ParameterColumn> columns = report::parameter_columns(cases);
  for (const CaseResult* c : cases) {
    for (const auto& hidden : c->hidden_parameters) {
      std::erase_if(columns, [&](const auto& column) { return column.name == hidden.first; });
    }
  }
  return columns;
}

std::vector<std::string> common_of(const std::vector<report::ParameterColumn>& columns) {
  std::vector<std::string> items;
  for (auto& line : report::caption_lines(columns, {})) {
    std::ranges::move(line, std::back_inserter(items));
  }
  return items;
}

/// Sets labels such as "pipeline/pipeline/split:5": scenario, strategy, and the parameters that
/// differ within the strategy.
void set_labels(const ScenarioRows& group, const std::vector<report::ParameterColumn>& columns) {
  for (std::size_t i = 0; i < group.cases.size(); ++i) {
    const CaseResult& c = *group.cases[i];
    std::string label = c.scenario + '/' + c.strategy;
    for (const report::ParameterColumn& column : columns) {
      if (!column.common && column.values[i]) {
        label += fmt::format("/{}:{}", column.name, *column.values[i]);
      }
    }
    group.rows[i]->label = std::move(label);
  }
}

bool has_scenario(const Report& report, const std::string& scenario) {
  return std::ranges::find(report.cases, scenario, &CaseResult::scenario) != report.cases.end();
}

/// Returns "CPU and number of cores unknown in NEW"; empty if everything is known.
std::string unknown_machine_text(const report::Fingerprint& base, const report::Fingerprint& now) {
  const std::array sides{std::pair(&base, "BASE"), std::pair(&now, "NEW")};
  return report::joined(sides, ", ", [](const auto& side) {
    const std::string facts = report::joined(report::unknown_facts(*side.first), " and ");
    return facts.empty() ? facts : fmt::format("{} unknown in {}", facts, side.second);
  });
}

/// Sets the machine of the scenario, that of NEW or else of BASE, and how the machines differ.
void set_machines(ScenarioFacts& facts, const Report& base, const Report& now) {
  const bool in_base = has_scenario(base, facts.scenario);
  const bool in_now = has_scenario(now, facts.scenario);
  const report::Fingerprint machine = report::fingerprint(in_now ? now : base, facts.scenario);
  facts.machine = report::to_text(machine);
  if (!in_base || !in_now) return;
  const report::Fingerprint before = report::fingerprint(base, facts.scenario);
  facts.machine_difference = report::difference(before, machine);
  facts.machine_unknown = unknown_machine_text(before, machine);
}

std::string hidden_value(const CaseResult& c, const std::string& name) {
  const report::Value* found = report::find_value(c.hidden_parameters, name);
  return found == nullptr ? "none" : report::value_text(*found);
}

/// Describes differences in parameters outside of a case's identity: "slowdown: 0 before, 5 now".
std::vector<std::string> hidden_differences(const std::vector<Match>& matches,
                                            const std::string& scenario) {
  std::vector<std::string> differences;
  for (const Match& match : matches) {
    if (match.base == nullptr || match.now == nullptr || match.any().scenario != scenario) continue;
    for (const CaseResult* side : {match.base, match.now}) {
      for (const auto& hidden : side->hidden_parameters) {
        const std::string before = hidden_value(*match.base, hidden.first);
        const std::string after = hidden_value(*match.now, hidden.first);
        std::string text = report::difference_text(hidden.first, before, after);
        const bool known = std::ranges::find(differences, text) != differences.end();
        if (before != after && !known) differences.push_back(std::move(text));
      }
    }
  }
  return differences;
}

/// Collects the facts of each scenario and fills in the labels of the rows.
std::vector<ScenarioFacts> facts_of(const std::vector<Match>& matches, std::vector<Row>& rows,
                                    const Report& base, const Report& now) {
  std::vector<ScenarioFacts> all;
  for (const ScenarioRows& group : by_scenario(matches, rows)) {
    const auto columns = identity_columns(group.cases);
    set_labels(group, columns);
    ScenarioFacts& facts = all.emplace_back();
    facts.scenario = group.scenario;
    facts.common = common_of(columns);
    set_machines(facts, base, now);
    facts.hidden_differences = hidden_differences(matches, group.scenario);
  }
  return all;
}

// ----------------------------------------------------------------------------------------- order

/// The verdict of a comparable row, or the state of a row that is not comparable.
using Standing = std::variant<Verdict, MatchState>;

/// Returns the sort key of a row by its standing: 0 for the most urgent.
std::ptrdiff_t rank_of(const Row& row) {
  constexpr std::array<Standing, 9> order{
      Verdict::regressed,         MatchState::failed_now, Verdict::improved,
      Verdict::undecided,         Verdict::same,          MatchState::not_measured,
      MatchState::not_comparable, MatchState::only_base,  MatchState::only_now};
  const auto verdict = row.verdict();
  const Standing standing = verdict ? Standing(*verdict) : Standing(row.state);
  return std::ranges::find(order, standing) - order.begin();
}

double size_of(const Row& row) {
  return row.judgement ? std::abs(std::log1p(row.judgement->change.value)) : 0;
}

// ----------------------------------------------------------------------------------------- notes

/// Returns the min number of processes on a side of a judged row; 0 without judged rows.
int min_processes(const std::vector<Row>& rows) {
  int min = 0;
  for (const Row& row : rows) {
    if (!row.judgement) continue;
    const int fewer = std::min(row.base->processes, row.now->processes);
    min = min == 0 ? fewer : std::min(min, fewer);
  }
  return min;
}

/// Returns whether the table shows an interval other than "unknown".
bool has_known_interval(const std::vector<Row>& rows) {
  return std::ranges::any_of(rows, [](const Row& row) {
    return row.judgement && !is_unknown_change(row.judgement->change.interval);
  });
}

bool is_of_parbench(const Comparison& comparison) {
  return comparison.base.by_parbench && comparison.now.by_parbench;
}

/// Returns the spread between processes to assume where a side has a single process.
AssumedSpread assumed_spread(const Comparison& comparison, const Options& options) {
  if (options.known_spread) {
    return {*options.known_spread, std::numeric_limits<double>::infinity()};
  }
  return {.deviation = is_of_parbench(comparison) ? assumed_process_spread : assumed_burst_spread};
}

/// Returns the max of `share` over the two sides of a match; `share`: a member or a function of
/// cases.
template <class Share>
double largest_share(const Match& match, Share share) {
  return std::max(std::invoke(share, *match.base), std::invoke(share, *match.now));
}

double held_up(const CaseResult& c) {
  return std::max(report::cores_taken(c), report::load_cost(c));
}

/// Returns the spread between processes to assume for a case whose cores other programs or a quota
/// withheld for a share s of the time: the case takes 1/(1 − s) times as long as in an undisturbed
/// run.
double disturbed_spread(const Match& match) {
  constexpr double max_share = 0.99;
  const double share =
      std::max(largest_share(match, held_up), largest_share(match, &CaseResult::quota_lost));
  return -std::log1p(-std::min(share, max_share));
}

/// Returns the remedy for too few processes: --processes if parbench measured both sides; else
/// several runs of each program.
std::string_view processes_remedy(const Comparison& comparison) {
  return is_of_parbench(comparison)
             ? "measure both with --processes 6"
             : "name the files of several runs of each (compare BASE… --new NEW…), or run both "
               "programs in turns (parbench ab --measure google-benchmark)";
}

/// Returns a note on the cases whose disturbances require a larger spread than `assumed`; nothing
/// if there are none.
std::vector<std::string> note_on_missing_cores(double assumed, const std::vector<Match>& matches) {
  double largest = assumed;
  std::size_t count = 0;
  bool by_others = false;
  bool by_quota = false;
  for (const Match& match : matches) {
    if (match.state != MatchState::comparable) continue;
    const double spread = disturbed_spread(match);
    if (spread <= assumed) continue;
    ++count;
    largest = std::max(largest, spread);
    by_others = by_others || largest_share(match, report::cores_taken) > 0;
    by_quota = by_quota || largest_share(match, &CaseResult::quota_lost) >= report::min_quota_lost;
  }
  if (count == 0) return {};
  return {
      fmt::format("{} took the cores of {} for up to {} of the time, so changes there are "
                  "uncertain. Measure on idle cores{}, or both in turns (parbench ab).",
                  !by_quota    ? "Other programs"
                  : !by_others ? "A CPU quota"
                               : "Other programs and a CPU quota",
                  format_count(count, "case"), format_percent(-std::expm1(-largest), 0),
                  by_quota ? " without a quota" : "")};
}

std::vector<std::string> notes_on_processes(const Comparison& comparison,
                                            const std::vector<Match>& matches,
                                            const Options& options) {
  // Sides with fewer processes get a note: their intervals are wide.
  constexpr int enough = 4;
  const int min = min_processes(comparison.rows);
  if (min == 0 || min >= enough) return {};
  const bool shows_intervals = has_known_interval(comparison.rows);
  if (min > 1) {
    return {fmt::format(
        "{} processes on a side give a poor estimate of the spread between processes{}; {}.", min,
        shows_intervals ? ", so that intervals are wide" : "", processes_remedy(comparison))};
  }
  const double assumed = assumed_spread(comparison, options).deviation;
  std::vector<std::string> missing_cores = note_on_missing_cores(assumed, matches);
  if (!shows_intervals && !missing_cores.empty()) return missing_cores;
  std::vector<std::string> notes{
      fmt::format("A side with one process does not show how much processes differ: a standard "
                  "deviation of {} is assumed{}.",
                  format_percent(assumed),
                  options.known_spread
                      ? " (--assume-spread)"
                      : fmt::format(", and intervals are wide; {}", processes_remedy(comparison)))};
  std::ranges::move(missing_cores, std::back_inserter(notes));
  return notes;
}

/// Returns why a case cannot be judged: a side has one process with too few samples. Empty if the
/// case can be judged.
std::string trouble_of(const Comparison& comparison, const Processes& base, const Processes& now) {
  if (base.has_variance && now.has_variance) return {};
  const Side& side = base.has_variance ? comparison.now : comparison.base;
  return fmt::format("fewer than {} samples in {} do not show how much they vary; {}", min_samples,
                     base.has_variance ? "NEW" : "BASE",
                     side.by_parbench
                         ? "take more samples, or several processes (--processes 6)"
                         : "repeat its benchmarks (--benchmark_repetitions=10), or name "
                           "the files of several runs (compare BASE… --new NEW…)");
}

/// Returns the spread to assume for a case: larger if other programs or a quota withheld its cores.
AssumedSpread spread_of(const Match& match, const AssumedSpread& assumed) {
  const double disturbed = disturbed_spread(match);
  return disturbed > assumed.deviation ? AssumedSpread{.deviation = disturbed} : assumed;
}

void judge_rows(const std::vector<Match>& matches, Comparison& comparison, const Options& options) {
  const AssumedSpread assumed = assumed_spread(comparison, options);
  std::vector<Estimate> estimates;
  std::vector<Row*> judged;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (matches[i].state != MatchState::comparable) continue;
    const Processes base = processes_of(*matches[i].base);
    const Processes now = processes_of(*matches[i].now);
    Row& row = comparison.rows[i];
    // With a known spread between runs, a side needs no min number of samples.
    if (!options.known_spread) row.reason = trouble_of(comparison, base, now);
    if (!row.reason.empty()) continue;
    estimates.push_back(estimate_change(base, now, spread_of(matches[i], assumed)));
    judged.push_back(&row);
  }
  const std::vector<Judgement> judgements = judge(estimates, comparison.rule);
  for (std::size_t i = 0; i < judged.size(); ++i) judged[i]->judgement = judgements[i];
}

std::vector<std::string> cautions_on_sides(const Side& base, const Side& now) {
  const std::vector<std::string> differences =
      report::circumstance_differences(base.circumstances, now.circumstances);
  if (differences.empty()) return {};
  return {fmt::format("BASE and NEW were measured in different circumstances ({}).",
                      fmt::join(differences, "; "))};
}

Comparison with_rows(const std::vector<Match>& matches, const NamedReport& base,
                     const NamedReport& now, const Options& options) {
  Comparison comparison{.base = side_of(base), .now = side_of(now), .rule = options.rule};
  for (const Match& match : matches) {
    comparison.rows.push_back({.name = match.any().name,
                               .scenario = match.any().scenario,
                               .state = match.state,
                               .reason = match.reason,
                               .base = measured(match.base),
                               .now = measured(match.now),
                               .cuts = cut_difference(match)});
  }
  comparison.scenarios = facts_of(matches, comparison.rows, base.report, now.report);
  comparison.cautions = cautions_on_sides(comparison.base, comparison.now);
  std::ranges::move(cautions_on_kernel_choices(matches), std::back_inserter(comparison.cautions));
  return comparison;
}

}  // namespace

std::size_t Comparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(rows, [&](const Row& row) { return row.verdict() == verdict; }));
}

std::size_t Comparison::count(MatchState state) const {
  return static_cast<std::size_t>(std::ranges::count(rows, state, &Row::state));
}

std::size_t Comparison::decided() const {
  return count(Verdict::regressed) + count(Verdict::improved) + count(Verdict::same);
}

std::size_t Comparison::decidable() const { return rows.size() - count(MatchState::only_now); }

Outcome Comparison::outcome() const {
  const bool ended_badly = !now.process_errors.empty() || now.ended_early;
  if (count(MatchState::failed_now) > 0 || ended_badly) return Outcome::case_failed;
  if (count(Verdict::regressed) > 0) return Outcome::regressed;
  if (count(MatchState::comparable) == 0) return Outcome::nothing_compared;
  constexpr double rounding_error = 1e-9;
  const double required = rule.required_decided * static_cast<double>(decidable());
  return static_cast<double>(decided()) < required - rounding_error ? Outcome::too_few_decided
                                                                    : Outcome::nothing_regressed;
}

Comparison matched(const NamedReport& base, const NamedReport& now, const Options& options) {
  return with_rows(match(base.report, now.report, options.allow_different_machine), base, now,
                   options);
}

std::vector<std::string> notes_on_sides(const Side& base, const Side& now) {
  std::vector<std::string> notes =
      report::circumstance_warnings({{"BASE", &base.circumstances}, {"NEW", &now.circumstances}});
  for (const auto& [side, name] : {std::pair(&base, "BASE"), std::pair(&now, "NEW")}) {
    for (const report::FileNote& note : side->file_notes) {
      notes.push_back(fmt::format("{}: {}", name, to_text(note)));
    }
    for (const std::string& error : side->process_errors) {
      notes.push_back(fmt::format("{}: {}.", name, error));
    }
    if (!side->complete) {
      notes.push_back(
          fmt::format("{} is incomplete: not every case in it was measured to the end.", name));
    }
  }
  return notes;
}

void sort_rows(std::vector<Row>& rows) {
  std::ranges::stable_sort(rows, {},
                           [](const Row& row) { return std::tuple(rank_of(row), -size_of(row)); });
}

Comparison compare(const NamedReport& base, const NamedReport& now, const Options& options) {
  const std::vector<Match> matches =
      match(base.report, now.report, options.allow_different_machine);
  Comparison comparison = with_rows(matches, base, now, options);
  judge_rows(matches, comparison, options);
  comparison.notes = notes_on_sides(comparison.base, comparison.now);
  std::ranges::move(notes_on_processes(comparison, matches, options),
                    std::back_inserter(comparison.notes));
  sort_rows(comparison.rows);
  return comparison;
}

}  // namespace parbench::compare
