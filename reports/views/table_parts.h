// Common parts of all tables of a report, for every medium: the cases of a table, their common
// properties, and the lines around the table.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"
#include "reports/text/table.h"
#include "reports/views/parameter_columns.h"

namespace parbench::report {

struct ScenarioCases {
  const Report* report = nullptr;  // not null in results of `by_scenario`
  std::string scenario;
  Cases cases;
};

/// Returns the cases of each scenario, in order of first appearance in the report.
[[nodiscard]] std::vector<ScenarioCases> by_scenario(const Report& report);

/// Returns the answer to a scenario's question; null if there is none.
[[nodiscard]] const Answer* find_answer(const Report& report, const std::string& scenario);

/// The baselines of the speedups in a table.
class Baselines {
 public:
  explicit Baselines(const Cases& cases);

  [[nodiscard]] bool contains(const CaseResult& c) const { return strategy_of_.contains(c.name); }
  [[nodiscard]] const std::set<std::string>& strategies() const { return strategies_; }
  /// Returns the strategy of a speedup's baseline, or the baseline's name if the table lacks that
  /// case.
  [[nodiscard]] const std::string& strategy_of(const Ratio& speedup) const {
    return strategy_of_.at(speedup.baseline);
  }

 private:
  std::map<std::string, std::string> strategy_of_;  // strategies by the baseline's name
  std::set<std::string> strategies_;
};

/// The mark of intervals with less confidence than wanted.
inline constexpr std::string_view low_confidence_mark = "°";

/// The mark of ratios from a single round, which have no interval.
inline constexpr std::string_view single_round_mark = "¹";

/// Returns the mark of low confidence if the interval needs it; else empty.
[[nodiscard]] std::string low_mark(const std::optional<Interval>& interval);

/// Splits "75% (73–77%)" into value and interval.
[[nodiscard]] TableCell estimate_cell(const std::string& text, double value,
                                      const std::optional<Interval>& interval);

/// Returns a ratio with its interval as the cell's range, or with the mark of a single round.
[[nodiscard]] TableCell ratio_cell(const Ratio& ratio);

/// Returns the devices whose memory the cases use, each once, without devices that combine others.
[[nodiscard]] std::vector<std::string> memory_devices(const Report& report, const Cases& cases);

/// Returns the names of recommended cases that pay.
[[nodiscard]] std::set<std::string> recommended_cases(const Report& report,
                                                      const std::string& scenario);

/// Returns common values as lines above the table; the line of all strategies ends with the
/// devices.
[[nodiscard]] std::vector<std::vector<std::string>> caption_lines(
    const std::vector<ParameterColumn>& columns, const std::vector<std::string>& devices);

/// Returns the status of a case without a number: "failed", "skipped", "not run", …
[[nodiscard]] std::string_view status_word(const CaseResult& c);
/// Returns why a case has no number; empty if unknown or if it has one.
[[nodiscard]] std::string status_reason(const CaseResult& c);

/// Returns "branch main": a text for each label.
[[nodiscard]] std::vector<std::string> label_items(const NamedTexts& labels);

/// Returns program, processor, cores, memory, system, libraries, commit and labels, if known.
[[nodiscard]] std::vector<std::string> machine_items(const Report& report);

/// Returns the number of cases that the run did not reach or did not sample to the end because it
/// was interrupted or ended early.
[[nodiscard]] std::size_t unfinished_cases(const Report& report);

/// Returns whether the run was interrupted or killed: cases are unfinished, or the report is
/// incomplete although all cases have a number or are left out (`is_left_out`) and no process
/// failed, because the run was killed between two processes or while profiling. False if the report
/// is incomplete because something failed.
[[nodiscard]] bool ended_early(const Report& report);

/// Returns how processes failed, with their last output if there is any.
[[nodiscard]] std::vector<std::string> process_errors(const Report& report);

/// Returns "7 of 8 cases measured, 1 failed · 2 min 05 s: 61% in samples and warm-up, …".
[[nodiscard]] std::string counts_text(const Report& report);

}  // namespace parbench::report
