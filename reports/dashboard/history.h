// Reports in the order of time: what one scenario took on one class of machines, case by case, and
// where that changed.
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

/// A smaller change is not listed, however certain it is.
inline constexpr double min_change = 0.02;

/// How many values on each side of a change its size is taken from, where there are so many before
/// the next change.
inline constexpr std::size_t values_beside_change = 30;

/// A report that measured the scenario.
struct Moment {
  std::string id;  // of its content, which its page is named after
  std::string path;
  std::int64_t started = 0;
  Commit commit;
  NamedTexts labels;
};

struct Point {
  std::size_t moment = 0;
  double median = 0;  // seconds
  std::optional<Interval> interval;
};

/// From the point before `at` to the point `at` the level of a series changed.
struct Change {
  std::size_t at = 0;
  double size = 0;    // new level over old level − 1: positive is slower
  Interval interval;  // of the size
};

struct Series {
  CaseIdentity identity;
  std::string id;             // of the case on its page, stable as others come and go
  std::vector<Point> points;  // in time
  bool in_newest = false;     // the newest report has the case, with or without a number
  std::vector<Change> changes;
};

/// One page's worth. Machines of other fingerprints have other histories.
struct History {
  std::string scenario;
  std::string machine_id;
  std::string machine_text;
  std::vector<Moment> moments;  // in time
  std::vector<Series> series;   // in the order of the newest report, then those that it lacks
};

/// The reports of a folder.
struct ReportCollection {
  Identities identities;
  std::map<std::string, std::string> files;      // ids of their contents by path
  std::map<std::string, ReportSummary> reports;  // by id
};

/// Returns all histories of a collection by machine and scenario, without changes. Of files with
/// the same content only the first in the order of paths counts.
[[nodiscard]] std::vector<History> histories_of(const ReportCollection& collection);

/// How many reports the cases of histories have.
struct SeriesLengths {
  std::size_t cases = 0;
  std::size_t too_short = 0;  // cases with fewer than `min_values_with_a_change` reports
  std::size_t longest = 0;    // reports of one case
};

[[nodiscard]] SeriesLengths lengths_of(std::span<const History> histories);

/// Change points in the logarithms of the medians, with their sizes; those below `min_change` are
/// left out.
[[nodiscard]] std::vector<Change> changes_of(const std::vector<Point>& points,
                                             const ChangePointParameters& parameters = {});

}  // namespace parbench::report
