// Two reports compared: a verdict for each case, and what it comes to. Plain data, which table,
// Markdown and JSON render.
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

/// A case on one side, as far as it was measured there.
struct Measured {
  double seconds = 0;  // geometric mean of the medians of its processes
  int processes = 0;
  std::vector<std::string> throttled_by = {};  // "power cap on cuda:0"; only where it is flagged
  double quota_lost = 0;  // share of the CPU time that a CPU quota withheld; 0: too little to count
};

/// Where the stages of a case begin on both sides, where that differs: "layer2.0+layer3.0".
struct CutDifference {
  std::string base;
  std::string now;
};

struct Row {
  std::string name;   // of the case
  std::string label;  // the same without what all cases of its scenario share
  std::string scenario;
  MatchState state = MatchState::comparable;
  std::string reason;  // of rows that are not comparable, or cannot be judged
  std::optional<Measured> base;
  std::optional<Measured> now;
  std::optional<Judgement> judgement;  // only of comparable rows, once they were judged
  std::optional<CutDifference> cuts = {};

  /// Comparable rows always have one: undecided before anything was judged.
  [[nodiscard]] std::optional<Verdict> verdict() const {
    if (judgement) return judgement->verdict;
    return state == MatchState::comparable ? std::optional(Verdict::undecided) : std::nullopt;
  }
};

/// Where one side's numbers come from.
struct Side {
  std::string name;  // of the file, or the command; "run1.json and 4 more"
  std::string version;
  std::string program;      // that measured: "parbench 0.1.0"
  bool by_parbench = true;  // and not by another program
  std::string started_utc;
  std::optional<std::string> commit;
  bool dirty = false;
  int processes = 0;  // the most that a case has
  bool complete = true;
  bool ended_early = false;    // its run was interrupted or killed
  std::size_t unfinished = 0;  // cases that its run did not come to, or did not sample to the end
  std::vector<std::string> process_errors = {};   // "Process 2 was ended by signal 6 (Aborted)"
  std::vector<report::FileNote> file_notes = {};  // on its files
  report::NamedTexts circumstances = {};          // that it records
};

/// What the cases of a scenario have in common.
struct ScenarioFacts {
  std::string scenario;
  std::string machine;             // by its fingerprint, of the newer report that has the scenario
  std::string machine_difference;  // empty for the same machine
  std::string machine_unknown = {};  // "CPU unknown in NEW": what could not be compared
  std::vector<std::string> common;   // "f32", "batch 40": parameters left out of the labels
  /// Parameters that do not belong to a case's identity and yet differ, which may be what is
  /// compared: "slowdown: 0 before, 5 now".
  std::vector<std::string> hidden_differences = {};
};

/// What a comparison comes to, the first that applies. A process of the newer report that ended
/// badly is a case that failed: in which case it ended is unknown. So is a newer report whose
/// run ended early: of the cases that it did not reach, nothing is known.
enum class Outcome {
  case_failed,
  regressed,
  nothing_compared,
  too_few_decided,  // fewer than Rule::required_decided
  nothing_regressed
};

struct Comparison {
  Side base;
  Side now;
  Rule rule;
  std::vector<ScenarioFacts> scenarios;
  /// Regressions, failures, improvements, undecided, same, not measured, not comparable, on one
  /// side only; those with a change by its size, the largest first.
  std::vector<Row> rows;
  /// Differences of the sides that may explain a change, as sentences; shown ahead of the verdict.
  std::vector<std::string> cautions = {};
  std::vector<std::string> notes;  // sentences about the evidence, shown with the verdicts
  std::optional<PairedRun> pairs;  // where the verdicts come from pairs of runs

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  [[nodiscard]] std::size_t count(MatchState state) const;
  /// Cases with a verdict other than undecided.
  [[nodiscard]] std::size_t decided() const;
  /// Cases that BASE has: those that could be decided. A case of NEW alone has no baseline.
  [[nodiscard]] std::size_t decidable() const;
  [[nodiscard]] Outcome outcome() const;
};

/// A report and how messages call it.
struct NamedReport {
  std::string name;
  const report::Report& report;
};

struct Options {
  Rule rule;
  bool allow_different_machine = false;
  /// Standard deviation between the processes of a side with one process, relative to its time,
  /// where it is known.
  std::optional<double> known_spread = {};
};

/// Matches the cases without judging them, for callers with verdicts of their own. The rows are in
/// no particular order; that of a comparable case has its times in these two reports.
[[nodiscard]] Comparison matched(const NamedReport& base, const NamedReport& now,
                                 const Options& options = {});

/// Returns what to know of sides that lack something, were measured in circumstances that distort
/// times, or come from files with something wrong in them.
[[nodiscard]] std::vector<std::string> notes_on_sides(const Side& base, const Side& now);

/// Brings the rows into their order.
void sort_rows(std::vector<Row>& rows);

/// By the processes of both reports.
[[nodiscard]] Comparison compare(const NamedReport& base, const NamedReport& now,
                                 const Options& options = {});

}  // namespace parbench::compare
