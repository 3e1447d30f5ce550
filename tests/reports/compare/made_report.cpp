// Builds them.
#include "tests/reports/compare/made_report.h"

#include <cstdint>
#include <utility>

#include "reports/statistics/statistics.h"

namespace parbench::compare {

report::CaseResult made_case(int n, const std::vector<double>& process_medians) {
  report::CaseResult c;
  c.scenario = "made";
  c.strategy = "one";
  c.name = "made/one/n:" + std::to_string(n);
  c.parameters = {{"n", std::int64_t{n}}, {"kind", std::string("plain")}};
  c.dtype = "f32";
  c.status = report::CaseStatus::measured;
  for (std::size_t process = 0; process < process_medians.size(); ++process) {
    for (const double factor : {0.999, 1.0, 1.001}) {
      const double seconds = process_medians[process] * factor;
      c.samples.push_back({.seconds = seconds,
                           .wall_seconds = seconds,
                           .round = static_cast<int>(c.samples.size()),
                           .process = static_cast<int>(process)});
    }
  }
  if (!c.samples.empty()) c.statistics = summarise(seconds_of(c.samples));
  return c;
}

std::vector<double> steady(double seconds) {
  return {0.999 * seconds, 0.9995 * seconds, seconds, 1.0005 * seconds, 1.001 * seconds};
}

report::Report made_report(const std::vector<std::vector<double>>& process_medians) {
  report::Report report;
  report.version = "0.1.0";
  report.started_utc = "2024-05-04T10:20:30Z";
  report.complete = true;
  report.machine.cpu_model = "A processor";
  report.machine.cores_allowed = {0, 1};
  report.machine.memory_bytes = 8'000'000'000;
  report.devices = {{"made", "cpu:0", "cpu", "A processor", {0}, {}, 8'000'000'000, {}}};
  for (std::size_t n = 0; n < process_medians.size(); ++n) {
    report.cases.push_back(made_case(static_cast<int>(n), process_medians[n]));
  }
  return report;
}

}  // namespace parbench::compare
