// Renders a report as tables.
#include "reports/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/grid.h"
#include "reports/paragraph.h"
#include "reports/parameter_columns.h"
#include "reports/printable.h"
#include "reports/reasons/reasons.h"
#include "reports/table_cells.h"
#include "reports/table_parts.h"
#include "reports/text.h"
#include "reports/throttling.h"
#include "reports/units.h"

namespace parbench::report {
namespace {

using Cells = std::vector<std::string>;

/// A unit that all cells share stands in the title instead: "images/s" above "44.3".
void move_unit_to_title(Column& column) {
  std::set<std::string> units;
  for (const std::string& cell : column.cells) {
    if (!cell.empty()) units.insert(cell.substr(std::min(cell.find(' '), cell.size())));
  }
  if (units.size() != 1 || units.begin()->empty()) return;
  column.title = units.begin()->substr(1);
  for (std::string& cell : column.cells) cell.erase(std::min(cell.find(' '), cell.size()));
}

// ----------------------------------------------------------------------------------------- tables

/// The table of one scenario.
class Table {
 public:
  Table(Cases cases, const TextStyle& style)
      : cases_(std::move(cases)),
        style_(style),
        baselines_(cases_),
        devices_(memory_devices(cases_)) {}

  [[nodiscard]] std::string render() {
    add_what();
    add_numbers();
    grid_.emphasis.assign(cases_.size(), Emphasis::none);
    for (std::size_t row = 0; row < cases_.size(); ++row) {
      if (!has_number(*cases_[row])) grid_.emphasis[row] = Emphasis::dim;
    }
    const auto best = std::ranges::find(cases_, fastest(cases_));
    if (best != cases_.end()) grid_.emphasis[best - cases_.begin()] = Emphasis::bold;
    return caption() + '\n' + grid_.render(style_.color) + notes();
  }

 private:
  void add_what() {
    Column strategy{"strategy", {}, Align::left};
    for (const CaseResult* c : cases_) strategy.cells.push_back(c->strategy);
    grid_.columns.push_back(std::move(strategy));
    const std::vector<ParameterColumn> parameters = parameter_columns(cases_);
    caption_ = caption_lines(parameters, devices_);
    for (const ParameterColumn& parameter : parameters) {
      if (parameter.common) continue;
      Column column{parameter.name, {}};
      for (const auto& value : parameter.values) column.cells.push_back(value.value_or("–"));
      grid_.columns.push_back(std::move(column));
    }
  }

  void add_numbers() {
    Column median{"median", {}};
    const bool throttled = any_measured(is_throttled);
    for (const CaseResult* c : cases_) {
      median.cells.push_back(has_number(*c) ? median_cell(*c, throttled)
                                            : status_cell(*c, reasons_));
    }
    grid_.columns.push_back(std::move(median));
    const bool low =
        any_measured([](const CaseResult& c) { return is_low(c.statistics->median_interval); });
    add(
        "± 95% CI", [low](const CaseResult& c) { return interval_cell(c, low); }, Align::right, 1);
    const bool marked = any_measured([](const CaseResult& c) { return ending_of(c) != nullptr; });
    add("n", [marked](const CaseResult& c) { return samples_cell(c, marked); });
    add("throughput", throughput_cell);
    move_unit_to_title(grid_.columns.back());
    add_speedup();
    for (const std::string& name : metric_names(cases_)) add_metric(name);
    add("of bound", efficiency_cell);
    add("peak memory", [this](const CaseResult& c) { return memory_cell(c, devices_); });
    if (devices_.size() > 1) {
      const std::string_view between = devices_.size() == 2 ? " + " : " + … + ";
      Column& memory = grid_.columns.back();
      memory.upper_title = std::exchange(
          memory.title, fmt::format("{}{}{}", devices_.front(), between, devices_.back()));
    }
  }

  /// Where cases have different baselines, each says which.
  void add_speedup() {
    const std::set<std::string>& strategies = baselines_.strategies();
    const bool several = strategies.size() > 1;
    add("speedup", [this](const CaseResult& c) -> std::string {
      if (baselines_.contains(c)) return "baseline";
      return c.speedup ? parts_of(*c.speedup).first : "";
    });
    const auto range = [this, several](const CaseResult& c) -> std::string {
      if (baselines_.contains(c) || !c.speedup) return "";
      const std::string interval = parts_of(*c.speedup).second;
      return several ? fmt::format("{} {}", interval, baselines_.strategy_of(*c.speedup))
                     : interval;
    };
    add(several || strategies.empty() ? "over" : fmt::format("over {}", *strategies.begin()), range,
        Align::left, 1);
  }

  /// The last word of the name stands over the intervals, where there are any.
  void add_metric(const std::string& name) {
    const bool intervals = any_measured([&](const CaseResult& c) {
      const Metric* metric = find_metric(c, name);
      return metric != nullptr && metric->interval;
    });
    const std::size_t blank = intervals ? std::min(name.rfind(' '), name.size()) : name.size();
    const auto cell = [&](auto part) {
      return [name, part](const CaseResult& c) {
        const Metric* metric = find_metric(c, name);
        return metric != nullptr ? parts_of(*metric).*part : std::string();
      };
    };
    using Parts = std::pair<std::string, std::string>;
    add(name.substr(0, blank), cell(&Parts::first));
    add(name.substr(std::min(blank + 1, name.size())), cell(&Parts::second), Align::left, 1);
  }

  [[nodiscard]] bool any_measured(const std::function<bool(const CaseResult&)>& condition) const {
    return std::any_of(cases_.begin(), cases_.end(),
                       [&](const CaseResult* c) { return has_number(*c) && condition(*c); });
  }

  /// A column whose cells are empty for cases without a number.
  void add(std::string title, const std::function<std::string(const CaseResult&)>& cell,
           Align align = Align::right, std::size_t gap = 2) {
    Column column{std::move(title), {}, align, "", gap};
    for (const CaseResult* c : cases_) column.cells.push_back(has_number(*c) ? cell(*c) : "");
    grid_.columns.push_back(std::move(column));
  }

  [[nodiscard]] std::string caption() const {
    std::string text;
    for (const auto& items : caption_) text += joined_items(items, style_, Emphasis::none);
    return text;
  }

  [[nodiscard]] std::string notes() const {
    std::string text;
    const auto add_note = [&](std::string_view lead, std::string_view note) {
      text += hanging(lead, note, style_.width, Emphasis::none, style_.color);
    };
    for (const auto& [mark, note] : mark_footnotes(cases_)) add_note(mark + ' ', note);
    for (std::size_t i = 0; i < reasons_.texts().size(); ++i) {
      add_note(fmt::format("({}) ", i + 1), reasons_.texts()[i]);
    }
    return text.empty() ? text : '\n' + text;
  }

  Cases cases_;
  const TextStyle& style_;
  Baselines baselines_;
  std::vector<std::string> devices_;
  std::vector<std::vector<std::string>> caption_;
  Reasons reasons_;
  Grid grid_;
};

// ----------------------------------------------------------------------------------------- report

std::string scenario_text(const Report& report, const std::string& scenario, Cases cases,
                          const TextStyle& style) {
  const Answer* answer = find_answer(report, scenario);
  std::string text = emphasised(scenario, Emphasis::bold, style.color) + '\n';
  if (answer != nullptr && !answer->question.empty()) {
    text += hanging("", answer->question, style.width, Emphasis::none, style.color);
  }
  text += Table(std::move(cases), style).render();
  if (answer != nullptr && !answer->text.empty()) {
    text += '\n' + hanging("→ ", answer->text, style.width, Emphasis::bold, style.color);
  }
  for (const Finding* finding : findings_of(report, scenario)) {
    text += hanging("  · ", to_text(*finding), style.width, Emphasis::none, style.color);
  }
  return text;
}

}  // namespace

std::string to_table(const Report& report, const TextStyle& style) {
  const Report shown = printable(report);
  std::string text = joined_items(machine_items(shown), style, Emphasis::dim) + '\n';
  for (ScenarioCases& group : by_scenario(shown)) {
    text += scenario_text(shown, group.scenario, std::move(group.cases), style) + '\n';
  }
  for (const std::string& error : process_errors(shown)) {
    text += hanging("! ", error, style.width, Emphasis::none, style.color);
  }
  return text + hanging("", counts_text(shown), style.width, Emphasis::none, style.color);
}

}  // namespace parbench::report
