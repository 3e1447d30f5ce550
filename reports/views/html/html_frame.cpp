// Writes the beginning and the end of pages.
#include "reports/views/html/html_frame.h"

namespace parbench::report {
namespace {

constexpr std::string_view head_start = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
)";

constexpr std::string_view no_script_note =
    "This page has tables only: it was written by a build of parbench without npm. A build that "
    "finds npm adds pictures, sorting and filtering.";

/// Returns the content security policy. Allows styles of elements, which charts set. Allows file:
/// URLs for pages of a site on disk, because not all browsers include the page's folder in 'self'.
std::string_view policy(const WebAssets& assets) {
  return assets.linked ? "default-src 'none'; style-src 'self' file: 'unsafe-inline'; "
                         "script-src 'self' file:; img-src data:"
                       : "default-src 'none'; style-src 'unsafe-inline'; script-src "
                         "'unsafe-inline'; img-src data:";
}

void write_style(HtmlWriter& html, const WebAssets& assets) {
  if (assets.linked) {
    html.open("link", {{"rel", "stylesheet"}, {"href", assets.style}}).raw("\n");
  } else {
    html.raw("<style>\n").raw(assets.style).raw("</style>\n");
  }
}

void write_script(HtmlWriter& html, const WebAssets& assets) {
  if (assets.linked) {
    html.open("script", {{"src", assets.script}}).raw("</script>\n");
  } else {
    html.raw("<script>\n").raw(assets.script).raw("</script>\n");
  }
}

}  // namespace

void write_link(HtmlWriter& html, const PageLink& link) {
  html.element("a", link.text, {{"href", link.target}});
}

void open_page(HtmlWriter& html, const WebAssets& assets, std::string_view title,
               const std::vector<PageLink>& up) {
  html.raw(head_start);
  if (assets.linked) html.raw(site_generator).raw("\n");
  html.open("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy(assets)}});
  html.raw("\n").element("title", title).raw("\n");
  write_style(html, assets);
  html.raw("</head>\n<body>\n");
  html.raw("<a class=\"skip\" href=\"#results\">Skip to the results</a>\n");
  if (!up.empty()) {
    html.raw("<nav class=\"up\" aria-label=\"Site\">\n<ul>\n");
    for (const PageLink& link : up) {
      html.raw("<li>");
      write_link(html, link);
      html.raw("</li>\n");
    }
    html.raw("</ul>\n</nav>\n");
  }
  html.raw("<header>\n").element("h1", title);
  html.raw("<div id=\"page-tools\"></div>\n</header>\n");
}

void open_results(HtmlWriter& html, const WebAssets& assets) {
  html.raw("<main id=\"results\">\n");
  if (assets.script.empty()) html.element("p", no_script_note, {{"class", "note"}}).raw("\n");
}

void close_page(HtmlWriter& html, const WebAssets& assets, std::string_view data_id,
                const std::function<std::string()>& data) {
  if (!assets.script.empty()) {
    html.open("script", {{"type", "application/json"}, {"id", data_id}});
    html.raw(data()).raw("</script>\n");
    write_script(html, assets);
  }
  html.raw("</body>\n</html>\n");
}

}  // namespace parbench::report
