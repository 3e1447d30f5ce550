// Sorts summaries into series, and finds changes in a series.
#include "reports/dashboard/history.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "reports/dashboard/content_id.h"
#include "reports/dashboard/shift.h"

namespace parbench::report {
namespace {

struct DatedReport {
  Moment moment;
  const ReportSummary* summary = nullptr;
};

std::vector<DatedReport> in_time(const ReportCollection& collection) {
  std::vector<DatedReport> reports;
  std::set<std::string> seen;
  for (const auto& [path, id] : collection.files) {
    if (!seen.insert(id).second) continue;
    const ReportSummary& summary = collection.reports.at(id);
    reports.push_back({{id, path, summary.started, summary.commit, summary.labels}, &summary});
  }
  std::ranges::sort(reports, {}, [](const DatedReport& report) {
    return std::tie(report.moment.started, report.moment.path);
  });
  return reports;
}

/// A history under construction; series are indexed by the number of their identity.
struct Growing {
  History history;
  std::map<std::size_t, Series> series;
};

void add(Growing& growing, const Moment& moment, const ScenarioSummary& summary) {
  History& history = growing.history;
  history.scenario = summary.scenario;
  history.machine_id = summary.machine_id;
  history.machine_text = summary.machine_text;
  const std::size_t moment_number = history.moments.size();
  for (const CaseFigures& figures : summary.cases) {
    Series& series = growing.series[figures.identity];
    const bool again = !series.points.empty() && series.points.back().moment == moment_number;
    // A second case with this identity differs only in hidden parameters.
    if (!figures.median || again) continue;
    series.points.push_back({moment_number, *figures.median, figures.interval});
  }
  history.moments.push_back(moment);
}

/// Returns the history with its series in the order of the newest report, which was added last.
History finished(Growing growing, const ScenarioSummary& newest, const Identities& identities) {
  const auto take = [&](std::size_t identity, Series& series, bool in_newest) {
    series.identity = identities[identity];
    series.id = "case-" + content_id(key_of(series.identity)).substr(0, 12);
    series.in_newest = in_newest;
    growing.history.series.push_back(std::move(series));
  };
  for (const CaseFigures& figures : newest.cases) {
    const auto found = growing.series.find(figures.identity);
    if (found == growing.series.end()) continue;  // a second case with the same identity
    take(found->first, found->second, true);
    growing.series.erase(found);
  }
  for (auto& [identity, series] : growing.series) take(identity, series, false);
  return std::move(growing.history);
}

std::span<const double> part(const std::vector<double>& values, std::size_t begin,
                             std::size_t end) {
  return std::span(values).subspan(begin, end - begin);
}

Change change_at(const std::vector<double>& logs, std::size_t begin, std::size_t at,
                 std::size_t end) {
  const std::size_t first = std::max(begin, at - std::min(at, values_beside_change));
  const std::size_t last = std::min(end, at + values_beside_change);
  const Shift shift = shift_between(part(logs, first, at), part(logs, at, last));
  const Interval& interval = shift.interval;
  return {at,
          std::expm1(shift.value),
          {std::expm1(interval.low), std::expm1(interval.high), interval.confidence}};
}

}  // namespace

std::vector<History> histories_of(const ReportCollection& collection) {
  std::map<std::pair<std::string, std::string>, Growing> growing;
  std::map<std::pair<std::string, std::string>, const ScenarioSummary*> newest;
  for (const auto& [moment, summary] : in_time(collection)) {
    for (const ScenarioSummary& scenario : summary->scenarios) {
      const std::pair key{scenario.machine_id, scenario.scenario};
      add(growing[key], moment, scenario);
      newest[key] = &scenario;
    }
  }
  std::vector<History> histories;
  for (auto& [key, one] : growing) {
    histories.push_back(finished(std::move(one), *newest.at(key), collection.identities));
  }
  return histories;
}

SeriesLengths lengths_of(std::span<const History> histories) {
  SeriesLengths lengths;
  for (const History& history : histories) {
    for (const Series& series : history.series) {
      const std::size_t length = series.points.size();
      ++lengths.cases;
      lengths.too_short += length < min_values_with_a_change ? 1U : 0U;
      lengths.longest = std::max(lengths.longest, length);
    }
  }
  return lengths;
}

std::vector<Change> changes_of(const std::vector<Point>& points,
                               const ChangePointParameters& parameters) {
  std::vector<double> logs;
  logs.reserve(points.size());
  for (const Point& point : points) logs.push_back(std::log(point.median));
  const std::vector<std::size_t> begins = change_points(logs, parameters);
  std::vector<Change> changes;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : begins[i - 1];
    const std::size_t end = i + 1 == begins.size() ? logs.size() : begins[i + 1];
    const Change change = change_at(logs, begin, begins[i], end);
    if (std::abs(change.size) >= min_change) changes.push_back(change);
  }
  return changes;
}

}  // namespace parbench::report
