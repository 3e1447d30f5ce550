// Rows and cells of a page's tables.
#include "reports/views/html/html_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/units/units.h"
#include "reports/views/case_table.h"
#include "reports/views/html/html_timelines.h"

namespace parbench::report {
namespace {

/// A longer table is folded, so that a browser need not lay it out before anybody wants to see it.
constexpr std::size_t max_unfolded = 1000;

/// "53 convolution_forward on jit:avx512_core, 1 linear_forward on gemm:jit".
std::string kernels_text(const std::vector<Kernel>& kernels) {
  std::vector<std::string> items;
  for (const Kernel& kernel : kernels) {
    items.push_back(fmt::format("{} {} on {}{}", kernel.count, kernel.operation,
                                kernel.implementation,
                                kernel.chosen_by.empty() ? "" : " by " + kernel.chosen_by));
  }
  return fmt::format("{}", fmt::join(items, ", "));
}

/// "median clock 1800 MHz, least clock 1700 MHz, at most 71 °C, at most 300 W", as far as known.
std::string condition_text(const CaseCondition& condition) {
  std::vector<std::string> items;
  const auto add = [&](std::string_view what, std::optional<double> value, std::string_view unit) {
    if (value) items.push_back(fmt::format("{} {} {}", what, format_number(*value, 4), unit));
  };
  add("median clock", condition.median_clock_mhz, "MHz");
  add("least clock", condition.min_clock_mhz, "MHz");
  add("at most", condition.max_temperature_celsius, "°C");
  add("at most", condition.max_power_watts, "W");
  return fmt::format("{}", fmt::join(items, ", "));
}

/// "3 of 14 (2 power cap on cuda:0, 1 low clock on cuda:0)".
std::string throttling_text(const Throttling& throttling) {
  std::vector<std::string> items;
  for (const ThrottleReason& reason : throttling.reasons) {
    items.push_back(fmt::format("{} {} on {}", reason.samples, reason.reason, reason.device));
  }
  const std::string counts =
      fmt::format("{} of {}", throttling.marked_samples, throttling.read_samples);
  return items.empty() ? counts : fmt::format("{} ({})", counts, fmt::join(items, ", "));
}

/// Paints the table of one scenario.
class TablePage {
 public:
  TablePage(HtmlWriter& html, const ScenarioCases& group)
      : html_(html), group_(group), table_(case_table(group.cases)) {}

  void write(const std::string& id) {
    html_.raw("<ul class=\"shared\">\n");
    for (const auto& line : table_.captions) {
      if (!line.empty()) html_.element("li", fmt::format("{}", fmt::join(line, " · "))).raw("\n");
    }
    html_.raw("</ul>\n");
    const bool folded = table_.rows.size() > max_unfolded;
    if (folded) {
      html_.raw("<details class=\"long\">");
      html_.element("summary", fmt::format("All {} cases", table_.rows.size())).raw("\n");
    }
    table(id + "-table");
    if (folded) html_.raw("</details>\n");
    footnotes();
  }

 private:
  void table(const std::string& id) {
    const std::string label = fmt::format("All cases of {}", group_.scenario);
    html_.open("div", {{"class", "table"},
                       {"id", id},
                       {"role", "region"},
                       {"tabindex", "0"},
                       {"aria-label", label}});
    html_.raw("<table class=\"cases\">\n").element("caption", label).raw("\n<thead>\n<tr>");
    for (const TableColumn& column : table_.columns) heading(whole_title(column));
    heading("details");
    html_.raw("</tr>\n</thead>\n<tbody>\n");
    for (std::size_t row = 0; row < table_.rows.size(); ++row) body_row(row);
    html_.raw("</tbody>\n</table></div>\n");
  }

  void heading(std::string_view title) { html_.element("th", title, {{"scope", "col"}}); }

  void body_row(std::size_t row) {
    const CaseResult& c = *group_.cases[row];
    const bool fastest = table_.rows[row].emphasis == Emphasis::bold;
    html_.raw(!has_number(c) ? "<tr class=\"missing\">"
              : fastest      ? "<tr class=\"fastest\">"
                             : "<tr>");
    html_.element("th", c.strategy, {{"scope", "row"}});
    const std::size_t end = has_number(c) ? table_.columns.size() : table_.first_number;
    for (std::size_t i = 1; i < end; ++i) cell(table_.columns[i].cells[row]);
    if (!has_number(c)) reason(row);
    details(c);
    html_.raw("</tr>\n");
  }

  void cell(const TableCell& cell) {
    if (cell.number && std::isfinite(*cell.number)) {
      html_.element("td", whole_text(cell), {{"data-v", fmt::format("{:.9g}", *cell.number)}});
    } else {
      html_.element("td", whole_text(cell));
    }
  }

  /// Why a case has no numbers, over the columns that would hold them.
  void reason(std::size_t row) {
    html_.open("td", {{"class", "reason"},
                      {"colspan", std::to_string(table_.columns.size() - table_.first_number)}});
    html_.element("strong", table_.columns[table_.first_number].cells[row].text);
    if (!table_.rows[row].reason.empty()) html_.text(": " + table_.rows[row].reason);
    html_.close("td");
  }

  /// Everything else that the report says of a case, folded. A line for each fact instead of a
  /// list: thousands of cases would make it half a million elements, which take a browser seconds.
  void details(const CaseResult& c) {
    lines_ = "case: " + c.name;
    if (c.statistics) add_statistics(*c.statistics);
    if (c.bound && !is_no_bound(c)) add_bound(*c.bound);
    if (c.verification) {
      fact("compared with", c.verification->against);
      fact("compared", c.verification->detail);
    }
    fact("sampling ended by", c.stopped_because);
    fact("kernels", kernels_text(c.kernels));
    for (const CaseCondition& condition : c.conditions) {
      fact(condition.device, condition_text(condition));
    }
    if (c.throttling) fact("throttled samples", throttling_text(*c.throttling));
    if (c.profile) {
      fact("when it ran", fmt::format("{}", fmt::join(device_shares(c.profile->metrics), "; ")));
      if (c.profile->deviation) fact("its time", deviation_text(*c.profile));
    }
    for (const auto& [name, value] : c.notes) fact(name, value);
    html_.raw("<td><details><summary>more</summary>").element("p", lines_);
    html_.raw("</details></td>");
  }

  void add_statistics(const Statistics& s) {
    if (s.median_interval) {
      fact("median’s interval",
           fmt::format("{} to {} ({})", format_duration(s.median_interval->low),
                       format_duration(s.median_interval->high),
                       format_confidence(s.median_interval->confidence)));
    }
    fact("mean ± standard deviation",
         fmt::format("{} ± {}", format_duration(s.mean), format_duration(s.standard_deviation)));
    fact("min, max", fmt::format("{}, {}", format_duration(s.min), format_duration(s.max)));
  }

  void add_bound(const Bound& bound) {
    fact("bound", format_duration(bound.seconds));
    fact("critical path", format_duration(bound.critical_path));
    fact("busiest lane",
         fmt::format("{}, {}", bound.busiest_lane_name, format_duration(bound.busiest_lane)));
  }

  void fact(std::string_view name, std::string_view value) {
    if (!value.empty()) lines_ += fmt::format("\n{}: {}", name, value);
  }

  void footnotes() {
    if (table_.footnotes.empty()) return;
    html_.raw("<ul class=\"marks\">\n");
    for (const auto& [mark, note] : table_.footnotes)
      html_.element("li", mark + ' ' + note).raw("\n");
    html_.raw("</ul>\n");
  }

  HtmlWriter& html_;
  const ScenarioCases& group_;
  CaseTable table_;
  std::string lines_;  // of the details that are being written
};

// -------------------------------------------------------------------------------------- published

bool belongs(const CaseResult& c, const Published& figure) {
  if (c.scenario != figure.scenario || c.strategy != figure.strategy) return false;
  return std::ranges::all_of(figure.parameters, [&](const auto& parameter) {
    return std::ranges::find(c.parameters, parameter) != c.parameters.end();
  });
}

std::string here(const CaseResult* c, const Published& figure) {
  if (c == nullptr || !has_number(*c)) return std::string("not measured");
  return format_duration(c->statistics->median * figure.executions);
}

std::string times_faster(const CaseResult* c, const Published& figure) {
  if (c == nullptr || !has_number(*c)) return {};
  return format_ratio(figure.seconds / (c->statistics->median * figure.executions));
}

std::string parameters_text(const NamedValues& values) {
  std::vector<std::string> items;
  for (const auto& [name, value] : values) items.push_back(name + ' ' + value_text(value));
  return fmt::format("{}", fmt::join(items, ", "));
}

}  // namespace

void write_case_table(HtmlWriter& html, const ScenarioCases& group, const std::string& id) {
  TablePage(html, group).write(id);
}

void write_published(HtmlWriter& html, const Report& report, const ScenarioCases& group) {
  const auto of_scenario = [&](const Published& p) { return p.scenario == group.scenario; };
  if (std::ranges::none_of(report.published, of_scenario)) return;
  html.raw(
      "<table class=\"published\">\n<caption>Published figures, measured on other hardware, beside "
      "those of this run</caption>\n<thead><tr><th scope=\"col\">strategy</th><th scope=\"col\">"
      "case</th><th scope=\"col\">published by</th><th scope=\"col\">published</th><th "
      "scope=\"col\">here</th><th scope=\"col\">published over here</th></tr></thead>\n<tbody>\n");
  for (const Published& figure : report.published) {
    if (!of_scenario(figure)) continue;
    const auto found = std::ranges::find_if(
        group.cases, [&](const CaseResult* candidate) { return belongs(*candidate, figure); });
    const CaseResult* c = found == group.cases.end() ? nullptr : *found;
    html.open("tr").element("th", figure.strategy, {{"scope", "row"}});
    html.element("td", parameters_text(figure.parameters)).element("td", figure.source);
    html.element("td", format_duration(figure.seconds));
    html.element("td", here(c, figure)).element("td", times_faster(c, figure));
    html.raw("</tr>\n");
  }
  html.raw("</tbody>\n</table>\n");
}

}  // namespace parbench::report
