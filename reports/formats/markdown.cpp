// Tables in GitHub's Markdown (github.github.com/gfm), one for each scenario with its answer. Names
// and reasons stand in code spans, where neither markup nor a mention of a user has an effect.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reports/formats/format.h"
#include "reports/grid.h"
#include "reports/parameter_columns.h"
#include "reports/table_cells.h"
#include "reports/text.h"
#include "reports/units.h"

namespace parbench::report {
namespace {

/// Text of the report as a code span of a table's cell. The fence is longer than any run of
/// backticks inside; a backslash keeps a bar from ending the cell, in code as well.
std::string code(std::string_view text) {
  if (text.empty()) return {};
  std::string inside;
  std::size_t run = 0;
  std::size_t longest = 0;
  for (const char letter : printable(text)) {
    run = letter == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (letter == '|') inside += '\\';
    inside += letter;
  }
  const std::string fence(longest + 1, '`');
  const std::string_view space = longest > 0 ? " " : "";
  return fmt::format("{0}{1}{2}{1}{0}", fence, space, inside);
}

/// Text of the report outside of tables, on one line. GitHub looks for mentions after the markup,
/// so that a backslash does not help there, but a word joiner does.
std::string prose(std::string_view text) {
  constexpr std::string_view markup = "\\`*_[]<>#|~&!$";
  std::string result;
  for (const char letter : printable(text)) {
    if (markup.find(letter) != std::string_view::npos) result += '\\';
    result += letter;
    if (letter == '@') result += "\u2060";
  }
  return result;
}

// ----------------------------------------------------------------------------------------- tables

std::string status_text(const Case& c) {
  std::string word(to_string(c.status));
  std::ranges::replace(word, '_', ' ');
  return word;
}

std::string speedup_text(const Case& c) {
  if (!c.speedup) return {};
  const auto [value, interval] = parts_of(*c.speedup);
  return interval.empty() ? value : fmt::format("{} {}", value, interval);
}

std::string metric_text(const Case& c, const std::string& name) {
  const Metric* metric = find_metric(c, name);
  if (metric == nullptr) return {};
  const auto [value, interval] = parts_of(*metric);
  return interval.empty() ? value : fmt::format("{} {}", value, interval);
}

/// The table of one scenario.
class Table {
 public:
  explicit Table(Cases cases) : cases_(std::move(cases)), parameters_(parameter_columns(cases_)) {
    for (const Case* c : cases_) {
      strategies_.emplace(c->name, c->strategy);
      if (c->speedup) baselines_.insert(c->speedup->baseline);
    }
  }

  [[nodiscard]] std::string text() {
    add_what();
    add_numbers();
    add_reasons();
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
    add("strategy", Align::left, [](const Case& c) { return code(c.strategy); });
    for (const ParameterColumn& parameter : parameters_) {
      if (parameter.common) continue;
      Column column{code(parameter.name), {}};
      for (const auto& value : parameter.values) {
        column.cells.push_back(value ? code(*value) : "–");
      }
      columns_.push_back(std::move(column));
    }
  }

  void add_numbers() {
    add("median", Align::right, [](const Case& c) {
      if (!has_number(c)) return status_text(c);
      return fmt::format("{} {}", format_duration(c.statistics->median), interval_cell(c, false));
    });
    add_measured("n", [](const Case& c) { return prose(samples_cell(c, false)); });
    add_measured("throughput", [](const Case& c) { return prose(throughput_cell(c)); });
    add_measured("speedup", [this](const Case& c) { return compared(c); });
    for (const std::string& name : metric_names(cases_)) {
      add_measured(code(name), [&name](const Case& c) { return metric_text(c, name); });
    }
    add_measured("of bound", efficiency_cell);
    const std::vector<std::string> devices = device_names(cases_);
    add_measured(devices.size() == 1 ? "peak memory" : "peak memory of each device",
                 [&](const Case& c) { return memory_cell(c, devices); });
  }

  void add_reasons() {
    add("reason", Align::left, [](const Case& c) { return code(c.error); });
  }

  /// The speedup, and over what where the table has several baselines.
  [[nodiscard]] std::string compared(const Case& c) const {
    if (baselines_.contains(c.name)) return "baseline";
    std::string text = speedup_text(c);
    if (text.empty() || baselines_.size() < 2) return text;
    const auto baseline = strategies_.find(c.speedup->baseline);
    return fmt::format(
        "{} over {}", text,
        code(baseline == strategies_.end() ? c.speedup->baseline : baseline->second));
  }

  void add(std::string title, Align align, auto&& cell) {
    Column column{std::move(title), {}, align};
    for (const Case* c : cases_) column.cells.push_back(cell(*c));
    const bool empty = std::ranges::all_of(column.cells, &std::string::empty);
    if (!empty) columns_.push_back(std::move(column));
  }

  /// A column whose cells are empty for cases without a number.
  void add_measured(std::string title, auto&& cell) {
    add(std::move(title), Align::right,
        [&](const Case& c) { return has_number(c) ? cell(c) : std::string(); });
  }

  [[nodiscard]] std::string line_of(auto&& cell) const {
    std::string line = "|";
    for (const Column& column : columns_) line += fmt::format(" {} |", cell(column));
    return line + '\n';
  }

  /// Common parameters, in the words of the table on a terminal; it ends with an empty line.
  [[nodiscard]] std::string caption() const {
    std::string text;
    for (const auto& [items, of] : common_parameters(parameters_)) {
      if (items.empty()) continue;
      const std::string line = fmt::format("{}", fmt::join(items, " · "));
      text += prose(of.empty() ? line : fmt::format("{}: {}", of, line)) + "\n\n";
    }
    return text;
  }

  [[nodiscard]] std::string notes() const {
    std::string text;
    for (const Note& note : notes_on_marks(cases_)) {
      text += fmt::format("\n{} {}\n", prose(note.mark), prose(note.text));
    }
    return text;
  }

  Cases cases_;
  std::vector<ParameterColumn> parameters_;
  std::unordered_map<std::string_view, std::string_view> strategies_;  // of each case
  std::set<std::string_view> baselines_;
  std::vector<Column> columns_;
};

std::string counts_text(const Report& report) {
  const auto measured = std::ranges::count(report.cases, CaseStatus::measured, &Case::status);
  return fmt::format("{} of {} cases measured · parbench {} on {} · {}\n", measured,
                     report.cases.size(), prose(report.version), code(report.machine.host),
                     prose(report.machine.cpu_model));
}

}  // namespace

std::string markdown_text(const ReportFile& file) {
  const Report& report = file.report;
  std::unordered_map<std::string_view, std::string_view> answers;
  for (const Answer& answer : report.answers) answers.emplace(answer.scenario, answer.text);
  std::string text;
  for (auto& [scenario, cases] : by_scenario(report)) {
    text += fmt::format("### {}\n\n", code(scenario));
    if (answers.contains(scenario)) text += fmt::format("→ {}\n\n", prose(answers[scenario]));
    text += Table(std::move(cases)).text() + '\n';
  }
  return text + counts_text(report);
}

}  // namespace parbench::report
