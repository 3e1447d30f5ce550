// For github-action-benchmark's tool 'googlecpp', which draws `real_time` in `time_unit` of every
// row by its `name`, aggregates and failed rows as well (extractGoogleCppResult in src/extract.ts
// of benchmark-action/github-action-benchmark). So there is one row for each case, its median.
#include "reports/formats/format.h"

namespace parbench::report {

std::string github_action_benchmark_text(const ReportFile& file) {
  return to_text(projected(file.report, file.google_benchmark, Rows::median));
}

}  // namespace parbench::report
