// Reports as one page of HTML that needs nothing else: no network, no other file, no script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/report.h"

namespace parbench::report {

/// A report and what the page calls it, its file's name for example.
struct NamedReport {
  std::string name;
  Report report;
};

/// What the page looks like and what brings it to life (reports/web).
struct WebAssets {
  std::string_view style;
  std::string_view script;  // empty: built without npm; the page says that it has no pictures
};

/// Those that were built into this program.
[[nodiscard]] const WebAssets& built_in_web_assets();

/// The page: for each report its answers, and for each scenario its question, a table of all cases
/// with reasons of those without a number, published figures beside measured ones, then the
/// machine; at the end how to read it. All of it is there and can be read, printed and listened to
/// without the script, which adds pictures, sorting and filtering. Text of reports is `printable`
/// and stays text. UTF-8. It depends on nothing but its arguments.
[[nodiscard]] std::string to_html(const std::vector<NamedReport>& reports, const WebAssets& assets);

}  // namespace parbench::report
