// Texts, names and cells of the dashboard's pages.
#include "reports/dashboard/pages/page_parts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "reports/dashboard/content_id.h"
#include "reports/units/units.h"
#include "reports/views/html/html_frame.h"

namespace parbench::report {
namespace {

/// "+5.2%", "−12%": a decimal where the number is small.
std::string signed_percent(double fraction) {
  const double percent = std::abs(100 * fraction);
  return fmt::format("{}{:.{}f}%", fraction < 0 ? "−" : "+", percent, percent < 9.95 ? 1 : 0);
}

/// As the tables of a report see it.
CaseResult as_case(const CaseIdentity& identity) {
  CaseResult c;
  c.strategy = identity.strategy;
  c.parameters = identity.parameters;
  c.dtype = identity.dtype;
  c.graph = identity.graph;
  return c;
}

void write_end(HtmlWriter& html, const Moment& moment, const std::string& to_site) {
  html.open("td", {{"class", "text"}});
  write_link(html, {to_site + report_page(moment.id), commit_text(moment)});
  html.raw("<br>").element("small", time_text(moment.started)).raw("</td>");
}

}  // namespace

std::string report_page(const std::string& content_id) { return "report/" + content_id + ".html"; }

std::string history_page(const std::string& machine_id, const std::string& scenario) {
  return fmt::format("history/{}/{}.html", machine_id, file_slug(scenario));
}

std::string time_text(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string commit_text(const Moment& moment) {
  constexpr std::size_t shown = 10;
  if (moment.commit.empty()) return "–";
  return moment.commit.substr(0, shown) + (moment.dirty ? "+" : "");
}

std::string change_text(const Change& change) {
  const Interval& interval = change.interval;
  return with_confidence(fmt::format("{} ({} to {})", signed_percent(change.size),
                                     signed_percent(interval.low), signed_percent(interval.high)),
                         interval);
}

double magnitude(const Change& change) { return std::abs(std::log1p(change.size)); }

CaseNames::CaseNames(const History& history) {
  std::vector<CaseResult> cases;
  cases.reserve(history.series.size());
  for (const Series& series : history.series) cases.push_back(as_case(series.identity));
  Cases pointers;
  for (const CaseResult& c : cases) {
    pointers.push_back(&c);
    strategies_.push_back(c.strategy);
  }
  columns_ = parameter_columns(pointers);
}

std::string CaseNames::name(std::size_t series) const {
  return row_text(strategies_[series], columns_, series);
}

void write_change_ends(HtmlWriter& html, const History& history, const Series& series,
                       const Change& change, const std::string& to_site) {
  write_end(html, history.moments[series.points[change.at - 1].moment], to_site);
  write_end(html, history.moments[series.points[change.at].moment], to_site);
}

void write_headings(HtmlWriter& html, const std::vector<std::string>& titles) {
  html.raw("<thead>\n<tr>");
  for (const std::string& title : titles) html.element("th", title, {{"scope", "col"}});
  html.raw("</tr>\n</thead>\n");
}

void write_number_cell(HtmlWriter& html, const std::string& text, double number) {
  html.element("td", text, {{"data-v", fmt::format("{:.6g}", number)}});
}

}  // namespace parbench::report
