// What all renderings of a report as tables share, for every medium: which cases stand in one
// table, what they have in common, and the lines around the table.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/model/report.h"
#include "reports/text/table.h"
#include "reports/views/parameter_columns.h"

namespace parbench::report {

struct ScenarioCases {
  const Report* report = nullptr;  // never null in what `by_scenario` makes
  std::string scenario;
  Cases cases;
};

/// The cases of each scenario, in the order in which the report first names it.
[[nodiscard]] std::vector<ScenarioCases> by_scenario(const Report& report);

/// The report's answer to a scenario's question; nullptr where it has none.
[[nodiscard]] const Answer* find_answer(const Report& report, const std::string& scenario);

/// The cases that speedups of a table are measured against.
class Baselines {
 public:
  explicit Baselines(const Cases& cases);

  [[nodiscard]] bool contains(const CaseResult& c) const { return strategy_of_.contains(c.name); }
  /// Returns the strategies of all baselines.
  [[nodiscard]] const std::set<std::string>& strategies() const { return strategies_; }
  /// Returns the strategy of a speedup's baseline, or its name if the table lacks that case.
  [[nodiscard]] const std::string& strategy_of(const Ratio& speedup) const {
    return strategy_of_.at(speedup.baseline);
  }

 private:
  std::map<std::string, std::string> strategy_of_;  // by the baseline's name
  std::set<std::string> strategies_;
};

/// Of intervals with less confidence than wanted.
inline constexpr std::string_view low_confidence_mark = "°";

/// Of ratios from a single round, which have no interval.
inline constexpr std::string_view single_round_mark = "¹";

/// Returns the mark of low confidence where the interval needs it.
[[nodiscard]] std::string low_mark(const std::optional<Interval>& interval);

/// Divides "75% (73–77%)" into value and interval.
[[nodiscard]] TableCell estimate_cell(const std::string& text, double value,
                                      const std::optional<Interval>& interval);

/// A ratio with its interval in the cell's range, or the mark of those that have none.
[[nodiscard]] TableCell ratio_cell(const Ratio& ratio);

/// The devices whose memory the cases use, each once; without one that has the cores of others.
[[nodiscard]] std::vector<std::string> memory_devices(const Report& report, const Cases& cases);

/// The names of the cases that the scenario's answer recommends and that pay.
[[nodiscard]] std::set<std::string> recommended_cases(const Report& report,
                                                      const std::string& scenario);

/// The values that all cases share: above the table; those of all strategies end with the devices.
[[nodiscard]] std::vector<std::vector<std::string>> caption_lines(
    const std::vector<ParameterColumn>& columns, const std::vector<std::string>& devices);

/// Returns why a case has no number: "failed", "skipped", "not run", or what a measured one lacks.
[[nodiscard]] std::string_view status_word(const CaseResult& c);
/// Why a case has no number; empty where that is not known, and of one that has a number.
[[nodiscard]] std::string status_reason(const CaseResult& c);

/// Program, processor, cores, memory, system, libraries and commit, as far as known.
/// "branch main": a text for each label.
[[nodiscard]] std::vector<std::string> label_items(const NamedTexts& labels);

[[nodiscard]] std::vector<std::string> machine_items(const Report& report);

/// Cases that a run did not come to, or did not sample to the end, because it was interrupted or
/// ended otherwise before its time.
[[nodiscard]] std::size_t unfinished_cases(const Report& report);

/// Whether its run was interrupted or killed before its end. A report whose cases all have a number
/// and which is incomplete all the same is of a run that was killed between two processes, or while
/// it profiled its cases; one with a failed case or process may be either and is known by that.
[[nodiscard]] bool ended_early(const Report& report);

/// How processes ended that did not end as they should, with their last output where there is any.
[[nodiscard]] std::vector<std::string> process_errors(const Report& report);

/// "7 of 8 cases measured, 1 failed · 2 min 05 s: 61% in samples and warm-up, 13% preparation".
[[nodiscard]] std::string counts_text(const Report& report);

}  // namespace parbench::report
