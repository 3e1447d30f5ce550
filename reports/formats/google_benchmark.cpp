// Google Benchmark's JSON with every repetition. compare.py pairs rows by name and unit, and runs
// its U test over the repetitions; conbench prefers rates to times. A row needs `name`,
// `real_time`, `cpu_time` and `time_unit` (tools/gbench/report.py of Google Benchmark 1.7.1).
#include "reports/formats/format.h"

namespace parbench::report {

std::string google_benchmark_text(const ReportFile& file) {
  return to_text(projected(file.report, file.google_benchmark, Rows::all));
}

}  // namespace parbench::report
