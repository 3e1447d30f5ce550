// Reads reports, writes them in another form.
#include "bench/report_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "bench/flag_files.h"
#include "bench/standard_streams.h"
#include "kernels/error.h"
#include "reports/views/call_table.h"
#include "reports/compare/render.h"
#include "reports/dashboard/index_page.h"
#include "reports/dashboard/site.h"
#include "reports/io/file.h"
#include "reports/io/formats/format.h"
#include "reports/text/text.h"
#include "reports/text/units.h"
#include "reports/views/html.h"

namespace parbench {
namespace {

/// The command line has refused names that do not exist.
const report::Format& format_of(const std::string& name) {
  return *std::ranges::find(report::formats(), name, &report::Format::name);
}

void write_text(const std::string& text, const Options& options) {
  if (options.output_path.empty()) {
    print(text);
  } else if (report::is_special_file(options.output_path)) {
    report::write_special_file(options.output_path, text);
  } else {
    report::write_file(options.output_path, text);
  }
}

/// Each file once: "5 files: 3 reports, 1 copy, 1 skipped".
std::string files_text(const report::SiteSummary& site) {
  const std::size_t copies = site.files - site.reports - site.skipped.size();
  std::string text = fmt::format("{}: {}", report::format_count(site.files, "file"),
                                 report::format_count(site.reports, "report"));
  for (const auto& [count, what] : {std::pair(copies, copies == 1 ? "copy" : "copies"),
                                    std::pair(site.skipped.size(), "skipped")}) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  }
  return text + '\n';
}

}  // namespace

void check_output(const Options& options) {
  if (options.output_path.empty()) return;
  for (const std::string& path : options.input_paths) {
    if (!report::is_same_file(options.output_path, path)) continue;
    throw UsageError(fmt::format(
        "-o '{}' is a report, which it would overwrite; choose another path", options.output_path));
  }
  if (report::is_special_file(options.output_path)) return;  // /dev/stderr, a pipe
  naming_flag("-o ", [&] { report::check_writable(options.output_path); });
}

report::TextStyle text_style() {
  report::TextStyle style;
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  style.color = terminal && std::getenv("NO_COLOR") == nullptr;
  if (terminal) {
    const auto columns = static_cast<std::size_t>(terminal_columns(STDOUT_FILENO));
    style.width = std::min(style.width, std::max<std::size_t>(columns, 40));
  }
  return style;
}

std::string report_line(const std::string& path) { return fmt::format("report: {}\n", path); }

void show_report(const Options& options) {
  const std::string& path = options.input_paths.front();
  const report::Report report = report::read_report(path);
  print(options.calls ? report::calls_table(report, text_style())
                      : report::to_table(report, text_style()));
  print(report_line(path));
}

void export_report(const Options& options) {
  const report::Format& format = format_of(options.export_format);
  check_output(options);
  const std::string& path = options.input_paths.front();
  const report::Report report = report::read_report(path);
  write_text(naming_flag(path + ": ", [&] { return format.write(report); }), options);
}

ExitCode compare_reports(const Options& options) {
  check_output(options);
  const std::string& base_path = options.input_paths.at(0);
  const std::string& now_path = options.input_paths.at(1);
  const report::Report base = report::read_report(base_path);
  const report::Report now = report::read_report(now_path);
  const compare::Comparison comparison =
      compare::compare({base_path, base}, {now_path, now},
                       {.rule = {.threshold = options.threshold},
                        .allow_different_machine = options.allow_different_machine});
  write_comparison(comparison, options);
  return exit_code_of(comparison);
}

void write_comparison(const compare::Comparison& comparison, const Options& options) {
  const bool to_file = !options.output_path.empty();
  if (options.export_format == "json") {
    write_text(compare::json_text(comparison), options);
  } else if (options.export_format == "markdown") {
    write_text(compare::to_markdown(comparison), options);
  } else {
    write_text(compare::to_table(comparison, to_file ? report::TextStyle() : text_style()),
               options);
  }
}

ExitCode exit_code_of(const compare::Comparison& comparison) {
  return static_cast<ExitCode>(compare::exit_code(comparison));
}

void write_page(const Options& options) {
  check_output(options);
  std::vector<report::NamedReport> reports;
  for (const std::string& path : options.input_paths) {
    reports.push_back({std::filesystem::path(path).filename().string(), report::read_report(path)});
  }
  const bool is_file =
      !options.output_path.empty() && !report::is_special_file(options.output_path);
  write_text(report::to_html(reports, report::built_in_web_assets()), options);
  if (is_file) print(fmt::format("page: {}\n", options.output_path));
}

bool write_dashboard(const Options& options) {
  const std::filesystem::path site = options.output_path;
  const report::SiteSummary built = report::build_site(options.input_paths.front(), site);
  for (const std::string& file : built.skipped) {
    fmt::print(stderr, "parbench: skipped {}\n", report::printable(file));
  }
  print(files_text(built));
  print(fmt::format(
      "histories: {} · changes: {}, {} of them in the {} days before the newest report\n",
      built.histories, built.changes, built.recent_changes, report::recent_days));
  print(fmt::format("dashboard: {}\n", (site / "index.html").string()));
  return built.skipped.empty() || !options.strict;
}

}  // namespace parbench
