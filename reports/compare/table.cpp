// A comparison as a table for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/compare/render.h"
#include "reports/compare/words.h"
#include "reports/text/grid.h"
#include "reports/text/numbered_reasons.h"
#include "reports/text/paragraph.h"
#include "reports/text/text.h"
#include "reports/views/case_table.h"

namespace parbench::compare {
namespace {

using report::Align;
using report::Column;
using report::Emphasis;
using report::Reasons;
using report::TextStyle;

class Table {
 public:
  Table(const Comparison& comparison, const TextStyle& style)
      : comparison_(comparison), style_(style) {}

  [[nodiscard]] std::string render() {
    std::string text = paragraph("", sentence(comparison_), Emphasis::bold) + '\n';
    text += paragraph("BASE  ", side_text(comparison_, comparison_.base));
    text += paragraph("NEW   ", side_text(comparison_, comparison_.now));
    for (const ScenarioFacts& scenario : comparison_.scenarios) text += facts(scenario);
    if (comparison_.rows.empty()) return text;
    text += '\n' + grid();  // which numbers the reasons
    return text + notes();
  }

 private:
  [[nodiscard]] std::string paragraph(std::string_view lead, const std::string& text,
                                      Emphasis emphasis = Emphasis::none) const {
    return report::hanging(lead, report::printable(text), style_.width, emphasis, style_.color);
  }

  [[nodiscard]] std::string facts(const ScenarioFacts& scenario) const {
    return paragraph(report::printable(scenario.scenario) + ": ", facts_text(scenario));
  }

  [[nodiscard]] std::string grid() {
    const bool throttled = std::ranges::any_of(
        comparison_.rows, [](const Row& row) { return !throttling_text(row).empty(); });
    report::Grid grid;
    const auto add = [&](std::string title, Align align, std::size_t gap,
                         const std::function<std::string(const Row&)>& cell) {
      Column column{std::move(title), {}, align, "", gap};
      for (const Row& row : comparison_.rows) column.cells.push_back(report::printable(cell(row)));
      grid.columns.push_back(std::move(column));
    };
    add("verdict", Align::left, 2, [&](const Row& row) {
      const std::string mark(throttling_text(row).empty() ? "" : report::throttled_mark);
      return state_text(row) + (throttled ? mark : "") + reasons_.reference(row.reason);
    });
    add("case", Align::left, 2, [](const Row& row) { return row.label; });
    add("BASE", Align::right, 2, [](const Row& row) { return seconds_text(row.base); });
    add("NEW", Align::right, 2, [](const Row& row) { return seconds_text(row.now); });
    add("change", Align::right, 2, [](const Row& row) {
      return row.judgement ? change_text(row.judgement->change) : std::string();
    });
    add("interval", Align::left, 2, [](const Row& row) {
      return row.judgement ? interval_text(row.judgement->change) : std::string();
    });
    for (const Row& row : comparison_.rows) grid.emphasis.push_back(emphasis_of(row));
    return grid.render(style_.color);
  }

  static Emphasis emphasis_of(const Row& row) {
    if (row.verdict() == Verdict::regressed || row.state == MatchState::failed_now)
      return Emphasis::bold;
    return row.judgement ? Emphasis::none : Emphasis::dim;
  }

  [[nodiscard]] std::string notes() const {
    std::string text;
    std::vector<std::string> throttles;
    for (const Row& row : comparison_.rows) {
      if (const std::string reasons = throttling_text(row); !reasons.empty()) {
        throttles.push_back(fmt::format("{}: {}", row.label, reasons));
      }
    }
    if (!throttles.empty()) {
      text +=
          paragraph(std::string(report::throttled_mark) + ' ',
                    fmt::format("measured on a throttled device: {}", fmt::join(throttles, "; ")));
    }
    for (std::size_t i = 0; i < reasons_.texts().size(); ++i) {
      text += paragraph(fmt::format("({}) ", i + 1), reasons_.texts()[i]);
    }
    for (const std::string& note : all_notes(comparison_)) text += paragraph("", note);
    return text.empty() ? text : '\n' + text;
  }

  const Comparison& comparison_;
  const TextStyle& style_;
  Reasons reasons_;
};

}  // namespace

std::string to_table(const Comparison& comparison, const TextStyle& style) {
  return Table(comparison, style).render();
}

}  // namespace parbench::compare
