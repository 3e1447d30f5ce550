// For Bencher's adapter 'cpp_google'. It wants `context.caches` as a list of objects, and `name`, a
// finite `real_time` and `time_unit` in every row; one row without them and the file is refused. Of
// rows with one name the last one counts (adapters/cpp/google.rs of bencherdev/bencher). So there
// is one row for each case, its median.
#include "reports/formats/format.h"

namespace parbench::report {

std::string bencher_text(const ReportFile& file) {
  return to_text(projected(file.report, file.google_benchmark, Rows::median));
}

}  // namespace parbench::report
