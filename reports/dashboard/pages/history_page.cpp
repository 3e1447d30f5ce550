// Builds the tables of a history, and the data of its pictures.
#include "reports/dashboard/pages/history_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "kernels/base/units/units.h"
#include "kernels/base/units/wide_intervals.h"
#include "reports/dashboard/pages/page_parts.h"
#include "reports/dashboard/reading.h"
#include "reports/io/json_list.h"
#include "reports/statistics/statistics.h"
#include "reports/views/html/html_data.h"
#include "reports/views/html/html_frame.h"
#include "reports/views/html/html_table.h"
#include "reports/views/table_parts.h"

namespace parbench::report {
namespace {

const std::string site_root = "../../";

/// Max number of a case's values in the table below its picture.
constexpr std::size_t max_rows = 20;

std::string interval_text(const Point& point) {
  if (!point.interval) return {};
  return half_width_text(relative_half_width(*point.interval, point.median)) +
         (is_low(point.interval) ? "°" : "");
}

/// Returns the last `count` items in reverse order. Does not use std::views, which clang 14 cannot
/// compile with libstdc++ 12.
template <class Item>
std::vector<const Item*> newest_first(const std::vector<Item>& items, std::size_t count) {
  std::vector<const Item*> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(&items[items.size() - 1 - i]);
  return result;
}

class HistoryPage {
 public:
  HistoryPage(const History& history, const WebAssets& assets, const Repository& repository)
      : history_(history), assets_(assets), repository_(repository), names_(history) {}

  std::string render() {
    open_page(html_, assets_, fmt::format("{}: history", history_.scenario),
              {{site_root + "index.html", "All histories"}});
    html_.element("p", history_.machine_text + " · fingerprint " + history_.machine_id,
                  {{"class", "counts"}});
    html_.raw("\n");
    open_results(html_, assets_);
    changes();
    cases();
    for (std::size_t i = 0; i < history_.series.size(); ++i) one_case(i);
    reports();
    write_reading(html_);
    html_.raw("</main>\n");
    close_page(html_, assets_, "parbench-history", [this] { return script_json(data()); });
    return html_.take();
  }

 private:
  [[nodiscard]] const Moment& moment(const Point& point) const {
    return history_.moments[point.moment];
  }

  [[nodiscard]] std::string name(const Series& series) const {
    return names_.name(static_cast<std::size_t>(&series - history_.series.data()));
  }

  [[nodiscard]] std::vector<PlacedChange> newest_changes_first() const {
    std::vector<PlacedChange> changes;
    for (const Series& series : history_.series) {
      for (const Change& change : series.changes) changes.push_back({&history_, &series, &change});
    }
    std::ranges::stable_sort(changes, std::greater(), [](const PlacedChange& change) {
      return change.series->points[change.change->at].moment;
    });
    return changes;
  }

  void changes() {
    html_.raw("<section class=\"card\" id=\"changes\">\n<h2>Changes</h2>\n");
    const auto changes = newest_changes_first();
    const SeriesLengths lengths = lengths_of({&history_, 1});
    if (lengths.too_short > 0) html_.element("p", too_few_text(lengths)).raw("\n");
    const bool any_long = lengths.too_short < lengths.cases;
    if (any_long && !changes.empty()) {
      const auto here = [](const PlacedChange&) { return std::string(); };
      write_table(html_, changes_table(changes, here, site_root, repository_),
                  {"changes", "changes-table"});
    } else if (any_long) {
      html_.raw("<p>No case changed its level by ").text(format_percent(min_change, 0));
      html_.raw(" or more.</p>\n");
    }
    html_.raw("</section>\n");
  }

  void cases() {
    html_.raw("<section class=\"card\" id=\"cases\">\n<h2>Cases</h2>\n");
    for (const auto& line : caption_lines(names_.columns(), {})) {
      html_.element("p", fmt::format("{}", fmt::join(line, " · ")), {{"class", "shared"}});
    }
    write_table(html_, table_of_cases(),
                {"cases", "cases-table", "All cases with their newest figures"});
    html_.raw("</section>\n");
  }

  [[nodiscard]] Table table_of_cases() const {
    Table table;
    for (const Series& series : history_.series) table.rows.push_back({.id = series.id});
    const auto add = [&](const std::string& title, auto cell) {
      add_column(table, {.title = title}, history_.series, cell);
    };
    using Of = const Series&;
    add_column(table, {.title = "strategy", .align = Align::left}, history_.series,
               [](Of series) { return series.identity.strategy; });
    for (const ParameterColumn& column : names_.columns()) {
      if (column.common) continue;
      add_column(table, {.title = column.name}, column.values,
                 [](const auto& value) { return value.value_or(std::string(not_applicable)); });
    }
    add("newest median", [this](Of series) { return newest_cell(series); });
    add("± 95% CI", [this](Of series) {
      return has_newest_number(series) ? interval_text(series.points.back()) : std::string();
    });
    add("last change", [](Of series) -> TableCell {
      if (series.changes.empty()) return {std::string(not_applicable)};
      return {.text = change_text(series.changes.back()), .number = series.changes.back().size};
    });
    add("reports", [](Of series) { return count_cell(series.points.size()); });
    add("history",
        [](Of series) -> TableCell { return {.text = "history", .link = '#' + series.id}; });
    return table;
  }

  [[nodiscard]] TableCell newest_cell(const Series& series) const {
    if (!has_newest_number(series)) {
      return {.text = series.in_newest ? "no number" : "not in the newest report",
              .tone = Tone::reason,
              .span = 2};
    }
    const double median = series.points.back().median;
    return {.text = format_duration(median), .number = median};
  }

  [[nodiscard]] bool has_newest_number(const Series& series) const {
    return !series.points.empty() && series.points.back().moment + 1 == history_.moments.size();
  }

  void one_case(std::size_t index) {
    const Series& series = history_.series[index];
    html_.open("section", {{"class", "card case"}, {"id", series.id}, {"data-case", series.id}});
    html_.raw("\n").element("h2", names_.name(index)).raw("\n<div class=\"pictures\"></div>\n");
    if (series.points.empty()) {
      html_.raw("<p>No report has a number of it.</p>\n</section>\n");
      return;
    }
    const std::size_t rows = std::min(max_rows, series.points.size());
    html_.raw("<details>\n")
        .element("summary", rows == 1 ? "Newest result" : fmt::format("Newest {} results", rows));
    html_.raw("\n");
    write_table(html_, table_of_points(series, rows), {});
    html_.raw("</details>\n</section>\n");
  }

  [[nodiscard]] Table table_of_points(const Series& series, std::size_t newest) const {
    const auto points = newest_first(series.points, newest);
    Table table;
    add_column(table, {.title = "report", .align = Align::left}, points,
               [this](const Point* point) { return report_cell(moment(*point)); });
    add_column(table, {.title = "commit", .align = Align::left}, points,
               [this](const Point* point) { return commit_cell(moment(*point), repository_); });
    add_column(table, {.title = "median"}, points,
               [](const Point* point) { return format_duration(point->median); });
    add_column(table, {.title = "± 95% CI"}, points,
               [](const Point* point) { return interval_text(*point); });
    return table;
  }

  static TableCell report_cell(const Moment& report) {
    return {.text = time_text(report.started), .link = site_root + report_page(report.id)};
  }

  void reports() {
    html_.raw("<section class=\"card\" id=\"reports\">\n<h2>Reports</h2>\n<details>\n");
    html_.element("summary", format_count(history_.moments.size(), "report")).raw("\n");
    const auto moments = newest_first(history_.moments, history_.moments.size());
    Table table;
    const auto add = [&](const std::string& title, auto cell) {
      add_column(table, {.title = title, .align = Align::left}, moments, cell);
    };
    add("report", [](const Moment* report) { return report_cell(*report); });
    add("commit", [this](const Moment* report) { return commit_cell(*report, repository_); });
    if (std::ranges::any_of(moments, [](const Moment* one) { return !one->labels.empty(); })) {
      add("labels", [](const Moment* report) {
        return fmt::format("{}", fmt::join(label_items(report->labels), " · "));
      });
    }
    add("file", &Moment::path);
    write_table(html_, table, {});
    html_.raw("</details>\n</section>\n");
  }

  /// Returns the data for the script, as described in reports/web/src/history/data.ts.
  [[nodiscard]] Json data() const {
    const auto page = [](const Moment& of) { return site_root + report_page(of.id); };
    return {
        {"scenario", history_.scenario},
        {"reports",
         {{"started", json_list(history_.moments, &Moment::started)},
          {"commit", json_list(history_.moments, commit_text)},
          {"page", json_list(history_.moments, page)}}},
        {"cases", json_list(history_.series, [this](const Series& of) { return data_of(of); })}};
  }

  [[nodiscard]] Json data_of(const Series& series) const {
    const auto median = [](const Point& point) { return short_number(point.median); };
    const auto end = [](double Interval::*member) {
      return [member](const Point& point) {
        return point.interval ? short_number(*point.interval.*member) : Json();
      };
    };
    const auto data_of_change = [](const Change& change) -> Json {
      return {{"at", change.at}, {"slower", change.size > 0}, {"text", change_text(change)}};
    };
    return {{"id", series.id},
            {"name", name(series)},
            {"strategy", series.identity.strategy},
            {"at", json_list(series.points, &Point::moment)},
            {"median", json_list(series.points, median)},
            {"low", json_list(series.points, end(&Interval::low))},
            {"high", json_list(series.points, end(&Interval::high))},
            {"changes", json_list(series.changes, data_of_change)}};
  }

  const History& history_;
  const WebAssets& assets_;
  const Repository& repository_;
  CaseNames names_;
  HtmlWriter html_;
};

}  // namespace

std::string history_html(const History& history, const WebAssets& assets,
                         const Repository& repository) {
  return HistoryPage(history, assets, repository).render();
}

}  // namespace parbench::report
