// Rows and cells of a page's tables.
#include "reports/html_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reports/html_timelines.h"
#include "reports/table_cells.h"
#include "reports/units.h"

namespace parbench::report {
namespace {

/// A longer table is folded, so that a browser need not lay it out before anybody wants to see it.
constexpr std::size_t most_unfolded = 1000;

/// What a cell shows, and the number that a column is sorted by.
struct Cell {
  std::string text;
  std::optional<double> number = {};
};

/// A column with numbers of measured cases.
struct NumberColumn {
  std::string title;
  std::function<Cell(const CaseResult&)> cell;
};

std::optional<double> number_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

std::optional<double> parameter_number(const CaseResult& c, const std::string& name) {
  for (const NamedValues* values : {&c.parameters, &c.hidden_parameters}) {
    const auto found = std::ranges::find(*values, name, &NamedValues::value_type::first);
    if (found != values->end()) return number_of(found->second);
  }
  return std::nullopt;
}

Cell efficiency(const CaseResult& c) {
  if (!c.bound || is_no_bound(c)) return {efficiency_cell(c)};
  return {efficiency_cell(c), c.efficiency};
}

Cell verification(const CaseResult& c) {
  if (!c.verification) return {};
  return {fmt::format("✓ {}", format_percent(c.verification->largest_error)),
          c.verification->largest_error};
}

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

/// The table of one scenario.
class CaseTable {
 public:
  CaseTable(HtmlWriter& html, const ScenarioCases& group)
      : html_(html),
        group_(group),
        parameters_(parameter_columns(group.cases)),
        baselines_(group.cases),
        devices_(memory_devices(group.cases)),
        fastest_(fastest(group.cases)) {
    std::erase_if(parameters_, [&](const ParameterColumn& p) { return p.common.has_value(); });
    choose_columns();
  }

  void write(const std::string& id) {
    shared_values();
    const bool folded = group_.cases.size() > most_unfolded;
    if (folded) {
      html_.raw("<details class=\"long\">");
      html_.element("summary", fmt::format("All {} cases", group_.cases.size())).raw("\n");
    }
    table(id + "-table");
    if (folded) html_.raw("</details>\n");
    footnotes();
  }

 private:
  void shared_values() {
    html_.raw("<ul class=\"shared\">\n");
    for (const auto& line : caption_lines(parameter_columns(group_.cases), devices_)) {
      if (!line.empty()) html_.element("li", fmt::format("{}", fmt::join(line, " · "))).raw("\n");
    }
    html_.raw("</ul>\n");
  }

  void table(const std::string& id) {
    const std::string label = fmt::format("All cases of {}", group_.scenario);
    html_.open("div", {{"class", "table"},
                       {"id", id},
                       {"role", "region"},
                       {"tabindex", "0"},
                       {"aria-label", label}});
    html_.raw("<table class=\"cases\">\n").element("caption", label).raw("\n");
    head();
    html_.raw("<tbody>\n");
    for (std::size_t row = 0; row < group_.cases.size(); ++row) body_row(row);
    html_.raw("</tbody>\n</table></div>\n");
  }

  void choose_columns() {
    add("median", [](const CaseResult& c) -> Cell {
      return {median_cell(c, false), c.statistics->median};
    });
    add("± 95% CI", [](const CaseResult& c) -> Cell { return {interval_cell(c, false)}; });
    add("n", [](const CaseResult& c) -> Cell {
      return {samples_cell(c, false), static_cast<double>(c.samples.size())};
    });
    add("throughput", [](const CaseResult& c) -> Cell {
      return {throughput_cell(c), c.throughput};
    });
    add_speedup();
    for (const std::string& name : metric_names(group_.cases)) add_metric(name);
    add("of bound", efficiency);
    add(fmt::format("peak memory {}", fmt::join(devices_, " + ")),
        [this](const CaseResult& c) -> Cell {
          double bytes = 0;
          for (const DeviceMemory& memory : c.memory) bytes += static_cast<double>(memory.bytes);
          return {memory_cell(c, devices_), bytes};
        });
    add("verified", verification);
  }

  void add_speedup() {
    const std::set<std::string>& strategies = baselines_.strategies();
    const bool several = strategies.size() > 1;
    add(several || strategies.empty() ? "speedup" : "speedup over " + *strategies.begin(),
        [this, several](const CaseResult& c) -> Cell {
          if (baselines_.contains(c)) return {"baseline", 1};
          if (!c.speedup) return {};
          const std::string text = joined(parts_of(*c.speedup));
          return {
              several ? fmt::format("{} over {}", text, baselines_.strategy_of(*c.speedup)) : text,
              c.speedup->value};
        });
  }

  void add_metric(const std::string& name) {
    add(name, [name](const CaseResult& c) -> Cell {
      const Metric* metric = find_metric(c, name);
      if (metric == nullptr) return {};
      return {joined(parts_of(*metric)), metric->value};
    });
  }

  /// A column in which no case has anything to show is left out.
  void add(std::string title, std::function<Cell(const CaseResult&)> cell) {
    const bool any = std::ranges::any_of(group_.cases, [&](const CaseResult* c) {
      return has_number(*c) && !cell(*c).text.empty();
    });
    if (any) numbers_.push_back({std::move(title), std::move(cell)});
  }

  void head() {
    html_.raw("<thead>\n<tr><th scope=\"col\">strategy</th>");
    for (const ParameterColumn& column : parameters_) heading(column.name);
    if (numbers_.empty()) heading("result");
    for (const NumberColumn& column : numbers_) heading(column.title);
    heading("details");
    html_.raw("</tr>\n</thead>\n");
  }

  void heading(std::string_view title) { html_.element("th", title, {{"scope", "col"}}); }

  void body_row(std::size_t row) {
    const CaseResult& c = *group_.cases[row];
    if (!has_number(c)) {
      html_.raw("<tr class=\"missing\">");
    } else {
      html_.raw(&c == fastest_ ? "<tr class=\"fastest\">" : "<tr>");
    }
    html_.element("th", c.strategy, {{"scope", "row"}});
    for (const ParameterColumn& column : parameters_) {
      cell({column.values[row].value_or("–"), parameter_number(c, column.name)});
    }
    if (has_number(c)) {
      for (const NumberColumn& column : numbers_) cell(column.cell(c));
    } else {
      reason(c);
    }
    details(c);
    html_.raw("</tr>\n");
  }

  void cell(const Cell& cell) {
    if (cell.number && std::isfinite(*cell.number)) {
      html_.element("td", cell.text, {{"data-v", fmt::format("{:.9g}", *cell.number)}});
    } else {
      html_.element("td", cell.text);
    }
  }

  /// Why a case has no numbers, over the columns that would hold them.
  void reason(const CaseResult& c) {
    html_.open("td", {{"class", "reason"},
                      {"colspan", std::to_string(std::max<std::size_t>(numbers_.size(), 1))}});
    html_.element("strong", status_word(c));
    if (const std::string why = status_reason(c); !why.empty()) html_.text(": " + why);
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
    const std::vector<Footnote> notes = mark_footnotes(group_.cases);
    if (notes.empty()) return;
    html_.raw("<ul class=\"marks\">\n");
    for (const auto& [mark, note] : notes) html_.element("li", mark + ' ' + note).raw("\n");
    html_.raw("</ul>\n");
  }

  HtmlWriter& html_;
  const ScenarioCases& group_;
  std::vector<ParameterColumn> parameters_;  // that tell cases apart
  Baselines baselines_;
  std::vector<std::string> devices_;
  const CaseResult* fastest_;
  std::vector<NumberColumn> numbers_;
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
  CaseTable(html, group).write(id);
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
