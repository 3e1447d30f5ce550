// What the pages of a dashboard have in common: how they name cases, times, commits and changes,
// and where they lie in the site.
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

/// Paths of pages, relative to the site.
[[nodiscard]] std::string report_page(const std::string& content_id);
[[nodiscard]] std::string history_page(const std::string& machine_id, const std::string& scenario);

/// "2026-11-21 19:57" in UTC.
[[nodiscard]] std::string time_text(std::int64_t seconds);

/// The commit as people know it (see short_commit), with "+" where there were changes beside it;
/// "–" where it is not known.
[[nodiscard]] std::string commit_text(const Moment& moment);

/// The same as a cell that leads to the repository, with the commit's subject and author.
[[nodiscard]] TableCell commit_cell(const Moment& moment, const Repository& repository);

/// "+5.2% (4.8 to 5.6%)": positive is slower.
[[nodiscard]] std::string change_text(const Change& change);

/// The size of a change without its direction: half as fast is as much as twice as fast.
[[nodiscard]] double magnitude(const Change& change);

/// Names of the series of a history that distinguish them, as in the tables of reports.
class CaseNames {
 public:
  explicit CaseNames(const History& history);

  [[nodiscard]] const std::vector<ParameterColumn>& columns() const { return columns_; }
  /// "pipeline, split 5": strategy and the parameters that differ.
  [[nodiscard]] std::string name(std::size_t series) const;

 private:
  std::vector<std::string> strategies_;
  std::vector<ParameterColumn> columns_;
};

/// A change with its series and history.
struct PlacedChange {
  const History* history = nullptr;
  const Series* series = nullptr;
  const Change* change = nullptr;

  [[nodiscard]] std::size_t index() const {
    return static_cast<std::size_t>(series - history->series.data());
  }
};

/// A row for each change: its case, linked to it on `page`, its size, and the commits before and
/// after it. These lead to the repository, or else to their reports, which `to_site` leads to from
/// the page.
[[nodiscard]] Table changes_table(const std::vector<PlacedChange>& changes,
                                  const std::function<std::string(const PlacedChange&)>& page,
                                  const std::string& to_site, const Repository& repository);

/// Returns a cell with a count, sorted by it.
[[nodiscard]] TableCell count_cell(std::size_t count);

}  // namespace parbench::report
