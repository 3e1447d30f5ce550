// Reports as a page of HTML: one that needs nothing else (no network, no other file, no script), or
// one of a site, whose pages share style and script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// A report and what the page calls it, its file's name for example.
struct NamedReport {
  std::string name;
  Report report;
};

/// What a page looks like and what brings it to life (reports/web).
struct WebAssets {
  std::string_view style;
  std::string_view script;  // empty: built without npm; the page says that it has no pictures
  bool linked = false;      // style and script are URLs, relative to the page, and not text
};

/// Return the assets built into this program: for a single page, and for the pages of a site.
[[nodiscard]] const WebAssets& built_in_web_assets();
[[nodiscard]] const WebAssets& built_in_site_assets();

struct PageLink {
  std::string target;  // relative to the page
  std::string text;
};

/// The page: for each report its answers, and for each scenario its question, a table of all cases
/// with reasons of those without a number, published figures beside measured ones, then the
/// machine; at the end how to read it. All of it is there and can be read, printed and listened to
/// without the script, which adds pictures, sorting and filtering. Text of reports is `printable`
/// and stays text. UTF-8. It depends on nothing but its arguments. `up` leads to the pages above it
/// in a site.
[[nodiscard]] std::string to_html(const std::vector<NamedReport>& reports, const WebAssets& assets,
                                  const std::vector<PageLink>& up = {});

}  // namespace parbench::report
