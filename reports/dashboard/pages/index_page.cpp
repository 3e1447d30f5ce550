// Builds the tables of changes and of histories.
#include "reports/dashboard/pages/index_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "kernels/base/units/units.h"
#include "reports/dashboard/reading.h"
#include "reports/views/html/html_frame.h"
#include "reports/views/html/html_table.h"

namespace parbench::report {
namespace {

/// Max number of listed changes; the pages of the histories have all of them.
constexpr std::size_t max_changes = 200;

class IndexPage {
 public:
  IndexPage(const std::vector<History>& histories, std::size_t reports, const WebAssets& assets,
            const Repository& repository)
      : histories_(histories),
        reports_(reports),
        assets_(assets),
        repository_(repository),
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

  [[nodiscard]] std::vector<PlacedChange> largest_changes_first() const {
    std::vector<PlacedChange> changes;
    for (const History& history : histories_) {
      std::ranges::move(recent_changes(history, newest_), std::back_inserter(changes));
    }
    std::ranges::stable_sort(changes, std::greater(),
                             [](const PlacedChange& change) { return magnitude(*change.change); });
    return changes;
  }

  void changes() {
    html_.raw("<section class=\"card\" id=\"changes\">\n<h2>Recent changes</h2>\n");
    std::vector<PlacedChange> changes = largest_changes_first();
    const SeriesLengths lengths = lengths_of(histories_);
    const bool any_long = lengths.too_short < lengths.cases || histories_.empty();
    if (any_long) paragraph(changes_text(changes.size()));
    if (lengths.too_short > 0) paragraph(too_few_text(lengths));
    changes.resize(std::min(changes.size(), max_changes));
    if (!changes.empty()) write_table(html_, table_of(changes), {"changes", "changes-table"});
    html_.raw("</section>\n");
  }

  void paragraph(const std::string& text) {
    html_.element("p", text, {{"class", "shared"}}).raw("\n");
  }

  static std::string changes_text(std::size_t count) {
    const std::string period = fmt::format("in the {} days before the newest report", recent_days);
    if (count == 0) return fmt::format("None {}.", period);
    if (count > max_changes) {
      return fmt::format("The {} largest of {} {}.", max_changes, count, period);
    }
    return fmt::format("{} {}, the largest first.", format_count(count, "change"), period);
  }

  [[nodiscard]] Table table_of(const std::vector<PlacedChange>& changes) const {
    Table table = changes_table(
        changes,
        [](const PlacedChange& placed) {
          return history_page(placed.history->machine_id, placed.history->scenario);
        },
        "", repository_);
    add_column(table, {.title = "scenario", .align = Align::left}, changes,
               [](const PlacedChange& placed) { return placed.history->scenario; });
    add_column(table, {.title = "machine", .align = Align::left, .wrapped = true}, changes,
               [](const PlacedChange& placed) { return placed.history->machine_text; });
    return table;
  }

  void overview() {
    html_.raw("<section class=\"card\" id=\"histories\">\n<h2>Machines and scenarios</h2>\n");
    if (histories_.empty()) {
      html_.raw("<p>There is no history yet.</p>\n");
    } else {
      write_table(html_, table_of_histories(), {"histories", "histories-table"});
    }
    html_.raw("</section>\n");
  }

  [[nodiscard]] Table table_of_histories() const {
    Table table;
    const auto add = [&](TableColumn column, auto cell) {
      add_column(table, std::move(column), histories_, cell);
    };
    using Of = const History&;
    add({.title = "machine", .align = Align::left, .wrapped = true}, [](Of of) -> TableCell {
      return {.text = of.machine_text, .note = "fingerprint " + of.machine_id};
    });
    add({.title = "scenario", .align = Align::left}, [](Of of) -> TableCell {
      return {.text = of.scenario, .link = history_page(of.machine_id, of.scenario)};
    });
    add({.title = "cases"}, [](Of of) { return count_cell(of.series.size()); });
    add({.title = "reports"}, [](Of of) { return count_cell(of.moments.size()); });
    add({.title = "newest"}, [](Of of) { return time_text(of.moments.back().started); });
    add({.title = "recent changes"},
        [this](Of of) { return count_cell(recent_changes(of, newest_).size()); });
    return table;
  }

  const std::vector<History>& histories_;
  std::size_t reports_;
  const WebAssets& assets_;
  const Repository& repository_;
  std::int64_t newest_;
  HtmlWriter html_;
};

}  // namespace

std::vector<PlacedChange> recent_changes(const History& history, std::int64_t newest) {
  constexpr std::int64_t seconds_of_day = 86'400;
  std::vector<PlacedChange> recent;
  for (const Series& series : history.series) {
    for (const Change& change : series.changes) {
      const Moment& after = history.moments[series.points[change.at].moment];
      const bool is_recent = newest - after.started <= recent_days * seconds_of_day;
      if (is_recent) recent.push_back({&history, &series, &change});
    }
  }
  return recent;
}

std::int64_t newest_start(const std::vector<History>& histories) {
  std::int64_t newest = 0;
  for (const History& history : histories) {
    newest = std::max(newest, history.moments.back().started);
  }
  return newest;
}

std::string index_html(const std::vector<History>& histories, std::size_t reports,
                       const WebAssets& assets, const Repository& repository) {
  return IndexPage(histories, reports, assets, repository).render();
}

}  // namespace parbench::report
