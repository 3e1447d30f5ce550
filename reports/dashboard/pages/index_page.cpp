// Tables of changes and of histories.
#include "reports/dashboard/pages/index_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "reports/dashboard/pages/page_parts.h"
#include "reports/dashboard/reading.h"
#include "reports/units/units.h"
#include "reports/views/html/html_frame.h"

namespace parbench::report {
namespace {

/// A longer list would not be read; all changes are on the pages of their histories.
constexpr std::size_t max_changes = 200;

struct RecentChange {
  const History* history = nullptr;
  const Series* series = nullptr;
  const Change* change = nullptr;
};

class IndexPage {
 public:
  IndexPage(const std::vector<History>& histories, std::size_t reports, const WebAssets& assets)
      : histories_(histories),
        reports_(reports),
        assets_(assets),
        newest_(newest_start(histories)) {}

  std::string render() {
    open_page(html_, assets_, "parbench: histories", {});
    html_.element("p", counts(), {{"class", "counts"}}).raw("\n");
    open_results(html_, assets_);
    changes();
    overview();
    write_reading(html_);
    html_.raw("</main>\n");
    close_page(html_, assets_, "parbench-index", [] { return std::string("{}"); });
    return html_.take();
  }

 private:
  [[nodiscard]] std::string counts() const {
    if (histories_.empty()) return "No report has a case yet.";
    return fmt::format("{} · the newest from {}", format_count(reports_, "report"),
                       time_text(newest_));
  }

  [[nodiscard]] std::vector<RecentChange> largest_changes_first() const {
    std::vector<RecentChange> changes;
    for (const History& history : histories_) {
      for (const Series& series : history.series) {
        for (const Change& change : series.changes) {
          if (is_recent(history, series, change, newest_)) {
            changes.push_back({&history, &series, &change});
          }
        }
      }
    }
    std::ranges::stable_sort(changes, std::greater(),
                             [](const RecentChange& change) { return magnitude(*change.change); });
    return changes;
  }

  void changes() {
    html_.raw("<section class=\"card\" id=\"changes\">\n<h2>Recent changes</h2>\n");
    const auto changes = largest_changes_first();
    html_.element("p", changes_text(changes.size()), {{"class", "shared"}}).raw("\n");
    if (!changes.empty()) {
      html_.raw("<div class=\"table\">\n<table class=\"changes\" id=\"changes-table\">\n");
      write_headings(html_,
                     {"case", "change of its time", "before", "after", "scenario", "machine"});
      html_.raw("<tbody>\n");
      for (std::size_t i = 0; i < std::min(changes.size(), max_changes); ++i) row(changes[i]);
      html_.raw("</tbody>\n</table>\n</div>\n");
    }
    html_.raw("</section>\n");
  }

  static std::string changes_text(std::size_t count) {
    const std::string period = fmt::format("in the {} days before the newest report", recent_days);
    if (count == 0) return fmt::format("None {}.", period);
    if (count > max_changes) {
      return fmt::format("The {} largest of {} {}.", max_changes, count, period);
    }
    return fmt::format("{} {}, the largest first.", format_count(count, "change"), period);
  }

  void row(const RecentChange& recent) {
    const auto& [history, series, change] = recent;
    const std::string page = history_page(history->machine_id, history->scenario);
    html_.raw("<tr><th scope=\"row\">");
    const auto index = static_cast<std::size_t>(series - history->series.data());
    write_link(html_, {page + "#" + series->id, CaseNames(*history).name(index)});
    html_.raw("</th>");
    html_.open("td", {{"class", change->size > 0 ? "slower" : "faster"},
                      {"data-v", fmt::format("{:.6g}", change->size)}});
    html_.text(change_text(*change)).raw("</td>");
    write_change_ends(html_, *history, *series, *change, "");
    html_.element("td", history->scenario, {{"class", "text"}});
    html_.element("td", history->machine_text, {{"class", "text hardware"}}).raw("</tr>\n");
  }

  void overview() {
    html_.raw("<section class=\"card\" id=\"histories\">\n<h2>Machines and scenarios</h2>\n");
    if (histories_.empty()) {
      html_.raw("<p>There is no history yet.</p>\n</section>\n");
      return;
    }
    html_.raw("<div class=\"table\">\n<table class=\"histories\" id=\"histories-table\">\n");
    write_headings(html_, {"machine", "scenario", "cases", "reports", "newest", "recent changes"});
    html_.raw("<tbody>\n");
    for (const History& history : histories_) row(history);
    html_.raw("</tbody>\n</table>\n</div>\n</section>\n");
  }

  void row(const History& history) {
    html_.open("tr").open("th", {{"scope", "row"}, {"class", "hardware"}});
    html_.text(history.machine_text).raw("<br>");
    html_.element("small", "fingerprint " + history.machine_id).raw("</th>");
    html_.open("td", {{"class", "text"}});
    write_link(html_, {history_page(history.machine_id, history.scenario), history.scenario});
    html_.raw("</td>");
    const auto number = [&](std::size_t count) {
      write_number_cell(html_, std::to_string(count), static_cast<double>(count));
    };
    number(history.series.size());
    number(history.moments.size());
    html_.element("td", time_text(history.moments.back().started));
    number(recent_changes(history));
    html_.raw("</tr>\n");
  }

  [[nodiscard]] std::size_t recent_changes(const History& history) const {
    std::size_t count = 0;
    for (const Series& series : history.series) {
      for (const Change& change : series.changes) {
        count += is_recent(history, series, change, newest_) ? 1U : 0U;
      }
    }
    return count;
  }

  const std::vector<History>& histories_;
  std::size_t reports_;
  const WebAssets& assets_;
  std::int64_t newest_;
  HtmlWriter html_;
};

}  // namespace

bool is_recent(const History& history, const Series& series, const Change& change,
               std::int64_t newest) {
  constexpr std::int64_t seconds_of_day = 86'400;
  const Moment& after = history.moments[series.points[change.at].moment];
  return newest - after.started <= recent_days * seconds_of_day;
}

std::int64_t newest_start(const std::vector<History>& histories) {
  std::int64_t newest = 0;
  for (const History& history : histories) {
    newest = std::max(newest, history.moments.back().started);
  }
  return newest;
}

std::string index_html(const std::vector<History>& histories, std::size_t reports,
                       const WebAssets& assets) {
  return IndexPage(histories, reports, assets).render();
}

}  // namespace parbench::report
