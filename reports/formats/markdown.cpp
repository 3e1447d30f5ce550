// Tables in GitHub's Markdown (github.github.com/gfm), one for each scenario with its answer. Names
// and reasons stand in code spans, where neither markup nor a mention of a user has an effect.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reports/formats/format.h"
#include "reports/grid.h"
#include "reports/markdown_text.h"
#include "reports/parameter_columns.h"
#include "reports/table_cells.h"
#include "reports/table_parts.h"
#include "reports/units.h"

namespace parbench::report {
namespace {

// ----------------------------------------------------------------------------------------- tables

/// The table of one scenario.
class Table {
 public:
  explicit Table(Cases cases)
      : cases_(std::move(cases)),
        parameters_(parameter_columns(cases_)),
        baselines_(cases_),
        devices_(memory_devices(cases_)) {}

  [[nodiscard]] std::string text() {
    add_what();
    add_numbers();
    std::string text = caption() + line_of([](const Column& column) { return column.title; });
    text += line_of([](const Column& column) {
      return std::string(column.align == Align::left ? ":--" : "--:");
    });
    for (std::size_t row = 0; row < cases_.size(); ++row) {
      text += line_of([row](const Column& column) { return column.cells[row]; });
    }
    return text + notes();
  }

 private:
  void add_what() {
    add("strategy", Align::left, [](const CaseResult& c) { return code_span(c.strategy); });
    for (const ParameterColumn& parameter : parameters_) {
      if (parameter.common) continue;
      Column column{code_span(parameter.name), {}};
      for (const auto& value : parameter.values) {
        column.cells.push_back(value ? code_span(*value) : "–");
      }
      columns_.push_back(std::move(column));
    }
  }

  void add_numbers() {
    add("median", Align::right, [](const CaseResult& c) { return median_text(c); });
    add_measured("n", [](const CaseResult& c) { return markdown_prose(samples_cell(c, false)); });
    add_measured("throughput",
                 [](const CaseResult& c) { return markdown_prose(throughput_cell(c)); });
    add_measured("speedup", [this](const CaseResult& c) { return speedup_text(c); });
    for (const std::string& name : metric_names(cases_)) {
      add_measured(code_span(name), [&name](const CaseResult& c) {
        const Metric* metric = find_metric(c, name);
        return metric == nullptr ? std::string() : joined(parts_of(*metric));
      });
    }
    add_measured("of bound", efficiency_cell);
    add_measured(devices_.size() > 1 ? "peak memory of each device" : "peak memory",
                 [this](const CaseResult& c) { return memory_cell(c, devices_); });
    add("reason", Align::left, [](const CaseResult& c) { return code_span(status_reason(c)); });
  }

  /// Of a case without a number, its state.
  static std::string median_text(const CaseResult& c) {
    if (has_number(c)) {
      return joined({format_duration(c.statistics->median), interval_cell(c, false)});
    }
    return std::string(status_word(c));
  }

  /// It says over what where the table has several baselines.
  [[nodiscard]] std::string speedup_text(const CaseResult& c) const {
    if (baselines_.contains(c)) return "baseline";
    if (!c.speedup) return {};
    std::string text = joined(parts_of(*c.speedup));
    if (baselines_.strategies().size() == 1) return text;
    return fmt::format("{} over {}", text, code_span(baselines_.strategy_of(*c.speedup)));
  }

  /// A column; left out where all cells are empty.
  void add(std::string title, Align align, auto&& cell) {
    Column column{std::move(title), {}, align};
    for (const CaseResult* c : cases_) column.cells.push_back(cell(*c));
    const bool empty = std::ranges::all_of(column.cells, &std::string::empty);
    if (!empty) columns_.push_back(std::move(column));
  }

  /// A column whose cells are empty for cases without a number.
  void add_measured(std::string title, auto&& cell) {
    add(std::move(title), Align::right,
        [&](const CaseResult& c) { return has_number(c) ? cell(c) : std::string(); });
  }

  [[nodiscard]] std::string line_of(auto&& cell) const {
    std::string line = "|";
    for (const Column& column : columns_) line += fmt::format(" {} |", cell(column));
    return line + '\n';
  }

  [[nodiscard]] std::string caption() const {
    std::string text;
    for (const auto& items : caption_lines(parameters_, devices_)) {
      if (!items.empty())
        text += markdown_prose(fmt::format("{}", fmt::join(items, " · "))) + "\n\n";
    }
    return text;
  }

  [[nodiscard]] std::string notes() const {
    std::string text;
    for (const auto& [mark, note] : mark_footnotes(cases_)) {
      text += fmt::format("\n{} {}\n", markdown_prose(mark), markdown_prose(note));
    }
    return text;
  }

  Cases cases_;
  std::vector<ParameterColumn> parameters_;
  Baselines baselines_;
  std::vector<std::string> devices_;
  std::vector<Column> columns_;
};

}  // namespace

std::string markdown_text(const Report& report) {
  std::string text;
  for (ScenarioCases& group : by_scenario(report)) {
    text += fmt::format("### {}\n\n", code_span(group.scenario));
    const Answer* answer = find_answer(report, group.scenario);
    if (answer != nullptr) text += fmt::format("→ {}\n\n", markdown_prose(answer->text));
    text += Table(std::move(group.cases)).text() + '\n';
  }
  for (const std::string& error : process_errors(report)) text += markdown_prose(error) + "\n\n";
  text += markdown_prose(counts_text(report)) + "\n\n";
  return text + markdown_prose(fmt::format("{}", fmt::join(machine_items(report), " · "))) + '\n';
}

}  // namespace parbench::report
