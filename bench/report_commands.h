// Commands that read reports that are there: `show`, `export`, `html` and `dashboard`.
#pragma once

#include <string>

#include "bench/options.h"
#include "reports/table.h"

namespace parbench {

/// As standard output wants it: as wide as its terminal, colored unless NO_COLOR is set or it is no
/// terminal.
[[nodiscard]] report::TextStyle text_style();

/// The last line of a run: where its report is.
[[nodiscard]] std::string report_line(const std::string& path);

/// Prints what stood at the end of the run that wrote the report. Throws UsageError.
void show_report(const Options& options);

/// Writes the report in `options.export_format`, to `options.output_path` or to standard output.
/// Throws UsageError for a bad report or path, Error when the file cannot be written.
void export_report(const Options& options);

/// Writes the page of the reports to `options.output_path`, whole or not at all, and says so on
/// standard output. Throws UsageError for a bad report or path, Error when the file cannot be
/// written.
void write_page(const Options& options);

/// Builds the site of the reports in a folder, or brings it up to date, and says what it found on
/// standard output. Files that are no reports are named on standard error; false when there are
/// some and `options.strict` is set. Throws UsageError for a bad folder, Error when a file cannot
/// be written.
[[nodiscard]] bool write_dashboard(const Options& options);

}  // namespace parbench
