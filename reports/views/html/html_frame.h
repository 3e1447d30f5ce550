// The frame of all HTML pages: head, title, links to parent pages, script and its data.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/views/html/html.h"
#include "reports/views/html/html_writer.h"

namespace parbench::report {

/// A tag in the head of all pages of a site, and of no other page.
inline constexpr std::string_view site_generator =
    "<meta name=\"generator\" content=\"parbench dashboard\">";

void write_link(HtmlWriter& html, const PageLink& link);

/// Writes the beginning of a page up to its title. A content security policy forbids all requests
/// except for the site's own style and script.
void open_page(HtmlWriter& html, const WebAssets& assets, std::string_view title,
               const std::vector<PageLink>& up);

/// Opens the main element, which the caller closes. Without a script, adds a note on why the page
/// has none.
void open_results(HtmlWriter& html, const WebAssets& assets);

/// Ends the page. If it has a script, first writes `data()` in the element `data_id` (see
/// `script_json`) and the script; otherwise `data` is not called.
void close_page(HtmlWriter& html, const WebAssets& assets, std::string_view data_id,
                const std::function<std::string()>& data);

}  // namespace parbench::report
