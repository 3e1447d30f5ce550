// Texts, names and cells of the dashboard's pages.
#include "reports/dashboard/pages/page_parts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>
#include <map>

#include "kernels/base/units/units.h"
#include "kernels/base/units/wide_intervals.h"
#include "reports/dashboard/content_id.h"
#include "reports/text/text.h"

namespace parbench::report {
namespace {

/// Returns "+5.2%", "−12%"; below 10% with a decimal.
std::string signed_percent(double fraction) {
  const double percent = std::abs(100 * fraction);
  return fmt::format("{}{:.{}f}%", fraction < 0 ? "−" : "+", percent, percent < 9.95 ? 1 : 0);
}

/// Converts an identity to the case that the tables of a report take.
CaseResult as_case(const CaseIdentity& identity) {
  CaseResult c;
  c.strategy = identity.strategy;
  c.parameters = identity.parameters;
  c.dtype = identity.dtype;
  c.graph = identity.graph;
  return c;
}

TableCell end_cell(const Moment& moment, const std::string& to_site, const Repository& repository) {
  const Commit& commit = moment.commit;
  const std::string link = repository.commit_link(commit.id);
  return {
      .text = commit_text(moment),
      .link = link.empty() ? to_site + report_page(moment.id) : link,
      .note = joined(std::array{time_text(moment.started), commit.subject, commit.author}, " · ")};
}

}  // namespace

std::string report_page(const std::string& content_id) { return "report/" + content_id + ".html"; }

std::string history_page(const std::string& machine_id, const std::string& scenario) {
  return fmt::format("history/{}/{}.html", machine_id, file_slug(scenario));
}

std::string time_text(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string commit_text(const Moment& moment) {
  const Commit& commit = moment.commit;
  if (commit.id.empty()) return "–";
  return short_commit(commit.id) + (commit.dirty ? "+" : "");
}

TableCell commit_cell(const Moment& moment, const Repository& repository) {
  return {.text = commit_text(moment),
          .link = repository.commit_link(moment.commit.id),
          .note = joined(std::array{moment.commit.subject, moment.commit.author}, " · ")};
}

std::string change_text(const Change& change) {
  const Interval& interval = change.interval;
  if (is_unknown_change(interval)) {
    return fmt::format("{} ({})", signed_percent(change.size), unknown_text);
  }
  return with_confidence(fmt::format("{} ({} to {})", signed_percent(change.size),
                                     signed_percent(interval.low), signed_percent(interval.high)),
                         interval);
}

double magnitude(const Change& change) { return std::abs(std::log1p(change.size)); }

CaseNames::CaseNames(const History& history) {
  std::vector<CaseResult> cases;
  cases.reserve(history.series.size());
  for (const Series& series : history.series) cases.push_back(as_case(series.identity));
  Cases pointers;
  for (const CaseResult& c : cases) {
    pointers.push_back(&c);
    strategies_.push_back(c.strategy);
  }
  columns_ = parameter_columns(pointers);
}

std::string CaseNames::name(std::size_t series) const {
  return row_text(strategies_[series], columns_, series);
}

Table changes_table(const std::vector<PlacedChange>& changes,
                    const std::function<std::string(const PlacedChange&)>& page,
                    const std::string& to_site, const Repository& repository) {
  Table table;
  std::map<const History*, CaseNames> names;
  for (const PlacedChange& placed : changes) {
    table.rows.push_back({.id = placed.series->id});
    names.try_emplace(placed.history, *placed.history);
  }
  const auto add = [&](const std::string& title, auto cell) {
    add_column(table, {.title = title, .align = Align::left}, changes, cell);
  };
  using Placed = const PlacedChange&;
  add("case", [&](Placed placed) -> TableCell {
    return {.text = names.at(placed.history).name(placed.index()),
            .link = page(placed) + '#' + placed.series->id};
  });
  add("change of its time", [](Placed placed) -> TableCell {
    return {.text = change_text(*placed.change),
            .number = placed.change->size,
            .tone = placed.change->size > 0 ? Tone::worse : Tone::better};
  });
  const auto end = [&](Placed placed, std::size_t point) {
    return end_cell(placed.history->moments[placed.series->points[point].moment], to_site,
                    repository);
  };
  add("before", [&](Placed placed) { return end(placed, placed.change->at - 1); });
  add("after", [&](Placed placed) { return end(placed, placed.change->at); });
  return table;
}

TableCell count_cell(std::size_t count) {
  return {.text = std::to_string(count), .number = static_cast<double>(count)};
}

}  // namespace parbench::report
