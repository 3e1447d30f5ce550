// Matches cases by name and sorts them by difference.
#include "reports/views/html/html_side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "kernels/base/units/units.h"
#include "reports/text/table.h"
#include "reports/views/cases/case_table.h"
#include "reports/views/html/html_changes.h"
#include "reports/views/html/html_table.h"

namespace parbench::report {
namespace {

struct SharedCase {
  std::string name;
  std::vector<const CaseResult*> results;  // one per report; null: no number there
  double ratio = 1;                        // largest median over smallest
};

double ratio_of(const std::vector<const CaseResult*>& results) {
  double min = 0;
  double max = 0;
  for (const CaseResult* c : results) {
    if (c == nullptr) continue;
    const double median = c->statistics->median;
    min = min > 0 ? std::min(min, median) : median;
    max = std::max(max, median);
  }
  return min > 0 ? max / min : 1;
}

std::vector<SharedCase> shared_cases(const std::vector<NamedReport>& reports) {
  std::vector<SharedCase> cases;
  std::unordered_map<std::string, std::size_t> indices;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    for (const CaseResult& c : reports[i].report.cases) {
      if (!has_number(c)) continue;
      const auto [known, is_new] = indices.try_emplace(c.name, cases.size());
      if (is_new) cases.push_back({c.name, std::vector<const CaseResult*>(reports.size()), 1});
      cases[known->second].results[i] = &c;
    }
  }
  std::erase_if(cases, [](const SharedCase& one) {
    return std::ranges::count_if(one.results, [](const auto* c) { return c != nullptr; }) < 2;
  });
  for (SharedCase& one : cases) one.ratio = ratio_of(one.results);
  std::ranges::stable_sort(cases, std::ranges::greater(), &SharedCase::ratio);
  return cases;
}

/// Returns the change of a case's time relative to the first report, with the interval of the
/// case's median.
std::optional<ChangePoint> change_of(std::size_t row, const CaseResult* base, const CaseResult* c) {
  if (base == nullptr || c == nullptr || !(base->statistics->median > 0)) return std::nullopt;
  const double unit = base->statistics->median;
  ChangePoint point{.row = row, .value = c->statistics->median / unit - 1};
  if (const auto& own = c->statistics->median_interval) {
    point.interval = Interval{own->low / unit - 1, own->high / unit - 1, own->confidence};
  }
  return point;
}

/// Returns a series for each report except the first, which is the reference.
ChangesPicture changes_of(const std::vector<NamedReport>& reports,
                          const std::vector<SharedCase>& cases) {
  ChangesPicture picture{.description = fmt::format(
                             "The change of each case's time against {}, with the interval of its "
                             "own median.",
                             reports.front().name)};
  for (const SharedCase& one : cases) picture.cases.push_back(one.name);
  for (std::size_t i = 1; i < reports.size(); ++i) {
    ChangeSeries series{.name = reports[i].name};
    for (std::size_t row = 0; row < cases.size(); ++row) {
      const auto point = change_of(row, cases[row].results.front(), cases[row].results[i]);
      if (point) series.points.push_back(*point);
    }
    if (!series.points.empty()) picture.series.push_back(std::move(series));
  }
  return picture;
}

std::vector<Footnote> footnotes_of(const std::vector<SharedCase>& cases) {
  Cases shown;
  for (const SharedCase& one : cases) {
    std::ranges::copy_if(one.results, std::back_inserter(shown),
                         [](const CaseResult* c) { return c != nullptr; });
  }
  return median_footnotes(shown);
}

}  // namespace

void write_side_by_side(HtmlWriter& html, const WebAssets& assets,
                        const std::vector<NamedReport>& reports) {
  const std::vector<SharedCase> cases = shared_cases(reports);
  if (cases.empty()) return;
  Table table;
  add_column(table, {.title = "case", .align = Align::left, .verbatim = true}, cases,
             &SharedCase::name);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    add_column(table, {.title = reports[i].name, .verbatim_title = true}, cases,
               [i](const SharedCase& one) {
                 const CaseResult* c = one.results[i];
                 return c == nullptr ? TableCell{std::string(not_applicable)} : median_cell(*c);
               });
  }
  add_column(table, {.title = "slowest over fastest"}, cases, [](const SharedCase& one) {
    return TableCell{.text = format_ratio(one.ratio), .number = one.ratio};
  });
  table.footnotes = footnotes_of(cases);
  html.raw("<section id=\"side-by-side\" class=\"scenario\">\n");
  html.element("h2", "Side by side").raw("\n");
  html.element("p",
               "Medians of the cases that several reports have, the largest difference first. "
               "`parbench compare` gives verdicts on two of them.",
               {{"class", "note"}});
  html.raw("\n");
  if (const ChangesPicture picture = changes_of(reports, cases); !picture.series.empty()) {
    write_changes(html, assets, picture);
  }
  write_table(html, table, {.css_class = "cases", .label = "Cases of several reports"});
  write_footnotes(html, table);
  html.raw("</section>\n");
}

}  // namespace parbench::report
