// What all pages of HTML have around their content: head, title, links upwards, script and its
// data.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/views/html/html.h"
#include "reports/views/html/html_writer.h"

namespace parbench::report {

/// In the head of all pages of a site, and of no other page.
inline constexpr std::string_view site_generator =
    "<meta name=\"generator\" content=\"parbench dashboard\">";

void write_link(HtmlWriter& html, const PageLink& link);

/// Everything down to the title. A policy in the page forbids every request but those for the
/// site's own style and script.
void open_page(HtmlWriter& html, const WebAssets& assets, std::string_view title,
               const std::vector<PageLink>& up);

/// The main element, which the caller closes; a page without script says why.
void open_results(HtmlWriter& html, const WebAssets& assets);

/// The script, with the data that it finds in the element `data_id` (see script_json); without
/// script nothing asks for data.
void close_page(HtmlWriter& html, const WebAssets& assets, std::string_view data_id,
                const std::function<std::string()>& data);

}  // namespace parbench::report
