// Shared parts of a dashboard's pages: texts for cases, times, commits and changes, and the paths
// of pages in the site.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reports/dashboard/history.h"
#include "reports/dashboard/repository.h"
#include "reports/text/table.h"
#include "reports/views/parameter_columns.h"

namespace parbench::report {

/// Return the paths of pages, relative to the site.
[[nodiscard]] std::string report_page(const std::string& content_id);
[[nodiscard]] std::string history_page(const std::string& machine_id, const std::string& scenario);

/// Returns "2026-11-21 19:57", in UTC.
[[nodiscard]] std::string time_text(std::int64_t seconds);

/// Returns the abbreviated commit (see short_commit), with "+" if there were uncommitted changes;
/// "–" if unknown.
[[nodiscard]] std::string commit_text(const Moment& moment);

/// Returns `commit_text` as a cell that links to the repository, with the commit's subject and
/// author.
[[nodiscard]] TableCell commit_cell(const Moment& moment, const Repository& repository);

/// Returns "+5.2% (+4.8% to +5.6%)"; positive means slower.
[[nodiscard]] std::string change_text(const Change& change);

/// Returns |log(new level / old level)|, so that half as fast counts as much as twice as fast.
[[nodiscard]] double magnitude(const Change& change);

/// Names that distinguish the series of a history, as in the tables of reports.
class CaseNames {
 public:
  explicit CaseNames(const History& history);

  [[nodiscard]] const std::vector<ParameterColumn>& columns() const { return columns_; }
  /// Returns "pipeline, split 5": the strategy and the parameters that differ.
  [[nodiscard]] std::string name(std::size_t series) const;

 private:
  std::vector<std::string> strategies_;
  std::vector<ParameterColumn> columns_;
};

struct PlacedChange {
  const History* history = nullptr;
  const Series* series = nullptr;
  const Change* change = nullptr;

  [[nodiscard]] std::size_t index() const {
    return static_cast<std::size_t>(series - history->series.data());
  }
};

/// Returns a table with a row for each change: the case, linked to its history on `page`; the size;
/// and the commits before and after. Commits link to the repository, or without one to their
/// reports. `to_site` is the relative path from the page to the site.
[[nodiscard]] Table changes_table(const std::vector<PlacedChange>& changes,
                                  const std::function<std::string(const PlacedChange&)>& page,
                                  const std::string& to_site, const Repository& repository);

/// Returns a cell with a count, which is also its sort key.
[[nodiscard]] TableCell count_cell(std::size_t count);

}  // namespace parbench::report
