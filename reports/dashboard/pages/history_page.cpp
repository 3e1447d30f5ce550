// Tables of a history, and the data of its pictures.
#include "reports/dashboard/pages/history_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "reports/dashboard/pages/page_parts.h"
#include "reports/dashboard/reading.h"
#include "reports/statistics/statistics.h"
#include "reports/units/units.h"
#include "reports/views/html/html_data.h"
#include "reports/views/html/html_frame.h"
#include "reports/views/table_parts.h"

namespace parbench::report {
namespace {

const std::string site_root = "../../";

/// How many of a case's figures stand below its picture.
constexpr std::size_t max_rows = 20;

std::string interval_text(const Point& point) {
  if (!point.interval) return {};
  return fmt::format("± {}{}", format_percent(relative_half_width(*point.interval, point.median)),
                     is_low(point.interval) ? "°" : "");
}

/// A change and the series that it belongs to.
using PlacedChange = std::pair<const Series*, const Change*>;

class HistoryPage {
 public:
  HistoryPage(const History& history, const WebAssets& assets)
      : history_(history), assets_(assets), names_(history) {}

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
      for (const Change& change : series.changes) changes.emplace_back(&series, &change);
    }
    std::ranges::stable_sort(changes, std::greater(), [](const PlacedChange& change) {
      return change.first->points[change.second->at].moment;
    });
    return changes;
  }

  void changes() {
    html_.raw("<section class=\"card\" id=\"changes\">\n<h2>Changes</h2>\n");
    const auto changes = newest_changes_first();
    if (changes.empty()) {
      html_.raw("<p>No case changed its level by ").text(format_percent(min_change, 0));
      html_.raw(" or more.</p>\n</section>\n");
      return;
    }
    html_.raw("<div class=\"table\">\n<table class=\"changes\" id=\"changes-table\">\n");
    write_headings(html_, {"case", "change of its time", "before", "after"});
    html_.raw("<tbody>\n");
    for (const auto& [series, change] : changes) change_row(*series, *change);
    html_.raw("</tbody>\n</table>\n</div>\n</section>\n");
  }

  void change_row(const Series& series, const Change& change) {
    html_.open("tr", {{"data-case", series.id}}).raw("<th scope=\"row\">");
    write_link(html_, {"#" + series.id, name(series)});
    html_.raw("</th>");
    html_.open("td", {{"class", change.size > 0 ? "slower" : "faster"},
                      {"data-v", fmt::format("{:.6g}", change.size)}});
    html_.text(change_text(change)).raw("</td>");
    write_change_ends(html_, history_, series, change, site_root);
    html_.raw("</tr>\n");
  }

  void cases() {
    html_.raw("<section class=\"card\" id=\"cases\">\n<h2>Cases</h2>\n");
    for (const auto& line : caption_lines(names_.columns(), {})) {
      html_.element("p", fmt::format("{}", fmt::join(line, " · ")), {{"class", "shared"}});
    }
    html_.raw("<div class=\"table\">\n<table class=\"cases\" id=\"cases-table\">\n");
    html_.raw("<caption>All cases with their newest figures</caption>\n");
    write_headings(html_, case_headings());
    html_.raw("<tbody>\n");
    for (std::size_t i = 0; i < history_.series.size(); ++i) case_row(i);
    html_.raw("</tbody>\n</table>\n</div>\n</section>\n");
  }

  [[nodiscard]] std::vector<std::string> case_headings() const {
    std::vector<std::string> titles{"strategy"};
    for (const ParameterColumn& column : names_.columns()) {
      if (!column.common) titles.push_back(column.name);
    }
    titles.insert(titles.end(), {"newest median", "± 95% CI", "last change", "reports", "history"});
    return titles;
  }

  void case_row(std::size_t index) {
    const Series& series = history_.series[index];
    html_.open("tr", {{"data-case", series.id}});
    html_.element("th", series.identity.strategy, {{"scope", "row"}});
    for (const ParameterColumn& column : names_.columns()) {
      if (!column.common) html_.element("td", column.values[index].value_or("–"));
    }
    newest_cells(series);
    if (series.changes.empty()) {
      html_.element("td", "–");
    } else {
      const Change& last = series.changes.back();
      write_number_cell(html_, change_text(last), last.size);
    }
    write_number_cell(html_, std::to_string(series.points.size()),
                      static_cast<double>(series.points.size()));
    html_.raw("<td>");
    write_link(html_, {"#" + series.id, "history"});
    html_.raw("</td></tr>\n");
  }

  void newest_cells(const Series& series) {
    if (!has_newest_number(series)) {
      html_.element("td", series.in_newest ? "no number" : "not in the newest report",
                    {{"class", "reason"}, {"colspan", "2"}});
      return;
    }
    const Point& newest = series.points.back();
    write_number_cell(html_, format_duration(newest.median), newest.median);
    html_.element("td", interval_text(newest));
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
        .element("summary",
                 rows == 1 ? "Its newest figures" : fmt::format("Its newest {} figures", rows));
    html_.raw("\n<div class=\"table\">\n<table>\n");
    write_headings(html_, {"report", "commit", "median", "± 95% CI"});
    html_.raw("<tbody>\n");
    for (std::size_t i = 0; i < rows; ++i) point_row(series.points[series.points.size() - 1 - i]);
    html_.raw("</tbody>\n</table>\n</div>\n</details>\n</section>\n");
  }

  void point_row(const Point& point) {
    const Moment& report = moment(point);
    html_.raw("<tr><th scope=\"row\">");
    write_link(html_, {site_root + report_page(report.id), time_text(report.started)});
    html_.raw("</th>").element("td", commit_text(report));
    html_.element("td", format_duration(point.median)).element("td", interval_text(point));
    html_.raw("</tr>\n");
  }

  void reports() {
    html_.raw("<section class=\"card\" id=\"reports\">\n<h2>Reports</h2>\n<details>\n");
    html_.element("summary", format_count(history_.moments.size(), "report"));
    html_.raw("\n<div class=\"table\">\n<table>\n");
    write_headings(html_, {"report", "commit", "file"});
    html_.raw("<tbody>\n");
    for (std::size_t i = history_.moments.size(); i-- > 0;) {
      const Moment& report = history_.moments[i];
      html_.raw("<tr><th scope=\"row\">");
      write_link(html_, {site_root + report_page(report.id), time_text(report.started)});
      html_.raw("</th>").element("td", commit_text(report), {{"class", "text"}});
      html_.element("td", report.path, {{"class", "text"}}).raw("</tr>\n");
    }
    html_.raw("</tbody>\n</table>\n</div>\n</details>\n</section>\n");
  }

  /// reports/web/src/history/data.ts describes it.
  [[nodiscard]] Json data() const {
    Json started = Json::array();
    Json commits = Json::array();
    Json pages = Json::array();
    for (const Moment& report : history_.moments) {
      started.push_back(report.started);
      commits.push_back(commit_text(report));
      pages.push_back(site_root + report_page(report.id));
    }
    Json cases = Json::array();
    for (const Series& series : history_.series) cases.push_back(data_of(series));
    return {{"scenario", history_.scenario},
            {"reports", {{"started", started}, {"commit", commits}, {"page", pages}}},
            {"cases", std::move(cases)}};
  }

  [[nodiscard]] Json data_of(const Series& series) const {
    Json at = Json::array();
    Json median = Json::array();
    Json low = Json::array();
    Json high = Json::array();
    for (const Point& point : series.points) {
      at.push_back(point.moment);
      median.push_back(short_number(point.median));
      low.push_back(point.interval ? short_number(point.interval->low) : Json());
      high.push_back(point.interval ? short_number(point.interval->high) : Json());
    }
    Json changes = Json::array();
    for (const Change& change : series.changes) {
      changes.push_back(
          {{"at", change.at}, {"slower", change.size > 0}, {"text", change_text(change)}});
    }
    return {{"id", series.id},     {"name", name(series)}, {"strategy", series.identity.strategy},
            {"at", std::move(at)}, {"median", median},     {"low", low},
            {"high", high},        {"changes", changes}};
  }

  const History& history_;
  const WebAssets& assets_;
  CaseNames names_;
  HtmlWriter html_;
};

}  // namespace

std::string history_html(const History& history, const WebAssets& assets) {
  return HistoryPage(history, assets).render();
}

}  // namespace parbench::report
