// Builds the columns and footnotes of a comparison's table.
#include "reports/compare/render/rows_table.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "reports/compare/words.h"
#include "reports/views/cases/case_table.h"

namespace parbench::compare {
namespace {

using report::Align;
using report::Emphasis;
using report::TableCell;

report::Tone tone_of(const Row& row) {
  if (!row.reason.empty()) return report::Tone::reason;
  if (row.verdict() == Verdict::regressed) return report::Tone::worse;
  return row.verdict() == Verdict::improved ? report::Tone::better : report::Tone::plain;
}

constexpr std::string_view other_cut_mark = "≠";

TableCell verdict_cell(const Row* row) {
  TableCell cell{.text = state_text(*row), .tone = tone_of(*row)};
  if (!throttling_text(*row).empty()) cell.mark += report::throttled_mark;
  if (row->cuts) cell.mark += other_cut_mark;
  return cell;
}

TableCell interval_cell(const Row* row) {
  return {row->judgement ? interval_text(row->judgement->change) : ""};
}

TableCell change_cell(const Row* row) {
  if (!row->judgement) return {};
  return {.text = change_text(row->judgement->change), .number = row->judgement->change.value};
}

TableCell seconds_cell(const std::optional<Measured>& measured) {
  TableCell cell{.text = seconds_text(measured)};
  if (measured) cell.number = measured->seconds;
  return cell;
}

Emphasis emphasis_of(const Row& row) {
  if (is_urgent(row)) return Emphasis::bold;
  return row.judgement ? Emphasis::none : Emphasis::dim;
}

/// Adds a footnote that begins with `lead` and lists the non-empty texts of the rows, unless there
/// are none.
void add_note(const Rows& rows, std::string_view mark, std::string_view lead,
              std::string (*text_of)(const Row&), std::vector<report::Footnote>& notes) {
  const std::string texts = report::joined(rows, "; ", [&](const Row* row) {
    const std::string text = text_of(*row);
    return text.empty() ? text : report::printable(fmt::format("{}: {}", row->label, text));
  });
  if (!texts.empty()) notes.emplace_back(mark, fmt::format("{}: {}", lead, texts));
}

}  // namespace

Rows all_rows(const Comparison& comparison) {
  Rows rows;
  for (const Row& row : comparison.rows) rows.push_back(&row);
  return rows;
}

bool is_urgent(const Row& row) {
  return row.verdict() == Verdict::regressed || row.state == MatchState::failed_now;
}

report::Table rows_table(const Rows& rows) {
  report::Table table;
  for (const Row* row : rows) {
    table.rows.push_back({emphasis_of(*row), report::printable(row->reason, true)});
  }
  add_column(table, {.title = "verdict", .align = Align::left}, rows, verdict_cell);
  add_column(
      table,
      {.title = "case", .align = Align::left, .verbatim = true, .narrow = {.is_heading = true}},
      rows, [](const Row* row) { return report::printable(row->label); });
  add_column(table, {.title = "BASE"}, rows,
             [](const Row* row) { return seconds_cell(row->base); });
  add_column(table, {.title = "NEW"}, rows, [](const Row* row) { return seconds_cell(row->now); });
  add_column(table, {.title = "change"}, rows, change_cell);
  add_column(table, {.title = "interval", .align = Align::left}, rows, interval_cell);
  add_note(rows, report::throttled_mark, "throttled", throttling_text, table.footnotes);
  add_note(rows, other_cut_mark, "other stages", cuts_text, table.footnotes);
  table.complete_in = "--format json";
  return table;
}

}  // namespace parbench::compare
