// Formats reports as HTML: as a self-contained page (no network, no other file, no script needed),
// or as a page of a site, whose pages share style and script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// A report and its name on the page, for example that of its file.
struct NamedReport {
  std::string name;
  Report report;
};

/// The style and the script of a page (reports/web).
struct WebAssets {
  std::string_view style;
  std::string_view script;  // empty: built without npm; the page says that it has no pictures
  bool linked = false;      // style and script are URLs relative to the page instead of text
};

/// Return the assets built into this program: for a single page, and for pages of a site.
[[nodiscard]] const WebAssets& built_in_web_assets();
[[nodiscard]] const WebAssets& built_in_site_assets();

struct PageLink {
  std::string target;  // URL relative to the page
  std::string text;
};

/// Returns the page: for each scenario of each report its question, answer and findings, a table of
/// all cases, the reasons of cases without a number, calls, and published figures; for each report
/// its machine; then an explanation. The page can be read, printed and read aloud without the
/// script, which adds pictures, sorting and filtering. Text of reports is `printable` and never
/// becomes markup. UTF-8. Depends on the arguments only. `up`: links to parent pages of a site.
[[nodiscard]] std::string to_html(const std::vector<NamedReport>& reports, const WebAssets& assets,
                                  const std::vector<PageLink>& up = {});

}  // namespace parbench::report
