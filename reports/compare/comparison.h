// The comparison of two reports: a verdict for each case, and the overall outcome. Plain data that
// is rendered as table, Markdown, HTML and JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/compare/match.h"
#include "reports/compare/paired_run.h"
#include "reports/compare/verdict.h"
#include "reports/model/report.h"

namespace parbench::compare {

/// The measurement of a case on one side.
struct Measured {
  double seconds = 0;  // geometric mean of the medians of its processes
  int processes = 0;
  // "power cap on cuda:0"; empty unless the case is flagged
  std::vector<std::string> throttled_by = {};
  double quota_lost = 0;  // share of the CPU time that a CPU quota withheld; 0 if negligible
};

/// The layers at which the stages of a case begin on either side, for a case in which they differ:
/// "layer2.0+layer3.0".
struct CutDifference {
  std::string base;
  std::string now;
};

struct Row {
  std::string name;
  std::string label = {};  // scenario, strategy and the parameters that distinguish the case
  std::string scenario;
  MatchState state = MatchState::comparable;
  std::string reason;  // why a row is not comparable or cannot be judged
  std::optional<Measured> base;
  std::optional<Measured> now;
  std::optional<Judgement> judgement = {};  // set for comparable rows that were judged
  std::optional<CutDifference> cuts = {};

  /// Returns the verdict of a comparable row, `undecided` before it is judged; nothing for other
  /// rows.
  [[nodiscard]] std::optional<Verdict> verdict() const {
    if (judgement) return judgement->verdict;
    return state == MatchState::comparable ? std::optional(Verdict::undecided) : std::nullopt;
  }
};

/// The origin of one side's numbers.
struct Side {
  std::string name;  // name of the file or the command: "run1.json and 4 more"
  std::string version;
  std::string program;      // the program that measured: "parbench 0.1.0"
  bool by_parbench = true;  // false: another program measured
  std::string started_utc;
  std::optional<std::string> commit;
  bool dirty = false;
  int processes = 0;  // max number of processes of a case; with pairs, the number of pairs
  bool complete = true;
  bool ended_early = false;    // the run was interrupted or killed
  std::size_t unfinished = 0;  // cases that the run did not reach or did not sample to the end
  std::vector<std::string> process_errors = {};   // "Process 2 was ended by signal 6 (Aborted)"
  std::vector<report::FileNote> file_notes = {};  // notes on the side's files
  report::NamedTexts circumstances = {};          // as recorded in the report
};

/// Facts that all cases of a scenario share.
struct ScenarioFacts {
  std::string scenario;
  /// The fingerprint of the machine as text, from NEW if it has the scenario, else from BASE.
  std::string machine;
  std::string machine_difference;    // empty for the same machine
  std::string machine_unknown = {};  // "CPU unknown in NEW": facts that could not be compared
  std::vector<std::string> common;   // "f32", "batch 40": parameters left out of the labels
  /// Differences in parameters outside of a case's identity, which may be the subject of the
  /// comparison: "slowdown: 0 before, 5 now".
  std::vector<std::string> hidden_differences = {};
};

/// The outcome of a comparison: the first enumerator that applies. The outcome is also
/// `case_failed` if a process of the newer report failed, because the case in which it ended is
/// unknown, or if the newer run ended early, because the results of the cases that it did not reach
/// are unknown.
enum class Outcome {
  case_failed,
  regressed,
  nothing_compared,
  too_few_decided,  // a smaller share than Rule::required_decided
  nothing_regressed
};

struct Comparison {
  Side base;
  Side now;
  Rule rule;
  std::vector<ScenarioFacts> scenarios = {};
  /// In this order: regressions, failures, improvements, undecided, same, not measured, not
  /// comparable, only in BASE, only in NEW. Within each group, rows with a change are sorted by the
  /// size of the change, the largest first.
  std::vector<Row> rows = {};
  /// Differences between the sides that may explain a change, as sentences; shown before the
  /// verdict.
  std::vector<std::string> cautions = {};
  std::vector<std::string> notes = {};  // sentences about the evidence, shown with the verdicts
  std::optional<PairedRun> pairs = {};  // set if the verdicts come from pairs of runs

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  [[nodiscard]] std::size_t count(MatchState state) const;
  /// Returns the number of cases with a verdict other than undecided.
  [[nodiscard]] std::size_t decided() const;
  /// Returns the number of cases that could be decided: all but those that only NEW has
  /// (`MatchState::only_now`), which lack a baseline.
  [[nodiscard]] std::size_t decidable() const;
  [[nodiscard]] Outcome outcome() const;
};

/// A report and its name in messages.
struct NamedReport {
  std::string name;
  const report::Report& report;
};

struct Options {
  Rule rule;
  bool allow_different_machine = false;
  /// Standard deviation between processes, relative to the time, for a side with one process;
  /// nothing if unknown.
  std::optional<double> known_spread = {};
};

/// Matches the cases without judging them, for callers that judge by other means. The rows are not
/// sorted; comparable rows hold the times of both reports.
[[nodiscard]] Comparison matched(const NamedReport& base, const NamedReport& now,
                                 const Options& options = {});

/// Returns notes on sides that are incomplete, had processes that failed, were measured in
/// circumstances that distort times, or come from faulty files.
[[nodiscard]] std::vector<std::string> notes_on_sides(const Side& base, const Side& now);

/// Sorts the rows as `Comparison::rows` documents.
void sort_rows(std::vector<Row>& rows);

/// Compares two reports; the verdicts come from the processes of both.
[[nodiscard]] Comparison compare(const NamedReport& base, const NamedReport& now,
                                 const Options& options = {});

}  // namespace parbench::compare
