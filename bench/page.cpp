// Files in, page out.
#include "bench/page.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "bench/flag_files.h"
#include "bench/standard_streams.h"
#include "kernels/error.h"
#include "reports/file.h"
#include "reports/html.h"

namespace parbench {
namespace {

void check_output(const Options& options) {
  naming_flag("-o ", [&] { report::check_writable(options.output_path); });
  for (const std::string& path : options.report_paths) {
    if (!report::is_same_file(options.output_path, path)) continue;
    throw UsageError(
        fmt::format("-o '{}' is a report, which the page would overwrite; choose another path",
                    options.output_path));
  }
}

}  // namespace

void write_page(const Options& options) {
  check_output(options);
  std::vector<report::NamedReport> reports;
  for (const std::string& path : options.report_paths) {
    reports.push_back({std::filesystem::path(path).filename().string(), report::read_report(path)});
  }
  report::write_file(options.output_path, report::to_html(reports, report::built_in_web_assets()));
  print(fmt::format("page: {}\n", options.output_path));
}

}  // namespace parbench
