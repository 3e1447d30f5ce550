// Commands that read reports that are there: `show`, `export`, `html`, `compare` and `dashboard`.
#pragma once

#include <string>

#include "bench/exit_code.h"
#include "bench/options.h"
#include "reports/compare/comparison.h"
#include "reports/views/table.h"

namespace parbench {

/// As standard output wants it: as wide as its terminal, colored unless NO_COLOR is set or it is no
/// terminal.
[[nodiscard]] report::TextStyle text_style();

/// The last line of a run: where its report is.
[[nodiscard]] std::string report_line(const std::string& path);

/// Prints what stood at the end of the run that wrote the report, or the calls of its cases. Throws
/// UsageError.
void show_report(const Options& options);

/// Writes the report in `options.export_format`, to `options.output_path` or to standard output.
/// Throws UsageError for a bad report or path, Error when the file cannot be written.
void export_report(const Options& options);

/// Refuses a path of `-o` that cannot be written, or that is one of the reports. Devices and pipes
/// may be written; whether one takes what it gets is known only then. Throws UsageError.
void check_output(const Options& options);

/// Compares BASE with NEW, in this order in `options.input_paths`, and writes what it came to.
/// Throws as `export_report` does.
[[nodiscard]] ExitCode compare_reports(const Options& options);

/// Writes a comparison in `options.export_format` ("table", "markdown" or "json"), to
/// `options.output_path` or to standard output. The caller has checked the path.
void write_comparison(const compare::Comparison& comparison, const Options& options);

/// What a comparison lets the program end with.
[[nodiscard]] ExitCode exit_code_of(const compare::Comparison& comparison);

/// Writes the page of the reports to `options.output_path`: to a file whole or not at all, which it
/// says on standard output; to a device or pipe, or without a path to standard output. Throws
/// UsageError for a bad report or path, Error when the file cannot be written.
void write_page(const Options& options);

/// Builds the site of the reports in a folder, or brings it up to date, and says what it found on
/// standard output. Files that are no reports are named on standard error; false when there are
/// some and `options.strict` is set. Throws UsageError for a bad folder, Error when a file cannot
/// be written.
[[nodiscard]] bool write_dashboard(const Options& options);

}  // namespace parbench
