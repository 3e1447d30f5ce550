// Reports sorted by time: the times of one scenario on one class of machines, for each case, and
// their changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/units/interval.h"
#include "reports/dashboard/change_points.h"
#include "reports/dashboard/summary.h"

namespace parbench::report {

/// Min size of a listed change. Smaller changes are left out even if they are significant.
inline constexpr double min_change = 0.02;

/// The size of a change is estimated from at most this number of values on each side; from fewer if
/// another change is closer.
inline constexpr std::size_t values_beside_change = 30;

/// A report that measured the scenario.
struct Moment {
  std::string id;  // id of the report's content, which names its page
  std::string path;
  std::int64_t started = 0;
  Commit commit;
  NamedTexts labels;
};

struct Point {
  std::size_t moment = 0;
  double median = 0;  // median time in seconds
  std::optional<Interval> interval;
};

/// A change in the level of a series between the points `at` − 1 and `at`.
struct Change {
  std::size_t at = 0;
  double size = 0;    // new level over old level − 1: positive is slower
  Interval interval;  // interval of `size`
};

struct Series {
  CaseIdentity identity;
  std::string id;             // id of the case on its page; independent of the other cases
  std::vector<Point> points;  // sorted by time
  bool in_newest = false;     // whether the newest report has the case, with or without a number
  std::vector<Change> changes;
};

/// The contents of one page. Machines with different fingerprints have separate histories.
struct History {
  std::string scenario;
  std::string machine_id;
  std::string machine_text;
  std::vector<Moment> moments;  // sorted by time
  std::vector<Series> series;   // in the order of the newest report, then the series that it lacks
};

/// The reports of a folder.
struct ReportCollection {
  Identities identities;
  std::map<std::string, std::string> files;      // ids of the contents by path
  std::map<std::string, ReportSummary> reports;  // summaries by id of the content
};

/// Returns the histories of a collection for each machine and scenario, without changes. If several
/// files have the same content, only the first path in sorted order counts.
[[nodiscard]] std::vector<History> histories_of(const ReportCollection& collection);

/// Statistics of the number of reports per case.
struct SeriesLengths {
  std::size_t cases = 0;
  std::size_t too_short = 0;  // number of cases with fewer than `min_values_with_a_change` reports
  std::size_t longest = 0;    // max number of reports of a case
};

[[nodiscard]] SeriesLengths lengths_of(std::span<const History> histories);

/// Finds change points in the logarithms of the medians, with their sizes. Changes smaller than
/// `min_change` are left out.
[[nodiscard]] std::vector<Change> changes_of(const std::vector<Point>& points,
                                             const ChangePointParameters& parameters = {});

}  // namespace parbench::report
