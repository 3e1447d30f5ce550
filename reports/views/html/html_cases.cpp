// Writes the details that a scenario's tables have on pages only.
#include "reports/views/html/html_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/units/units.h"
#include "reports/model/disturbances.h"
#include "reports/text/text.h"
#include "reports/views/cases/case_table.h"
#include "reports/views/html/html_table.h"
#include "reports/views/html/html_timelines.h"

namespace parbench::report {
namespace {

/// Max rows of an unfolded table. A browser lays out a longer, folded table only when it is opened.
constexpr std::size_t max_unfolded = 1000;

/// Returns "53 convolution_forward on jit:avx512_core, 1 linear_forward on gemm:jit".
std::string kernels_text(const std::vector<Kernel>& kernels) {
  return joined(kernels, ", ", [](const Kernel& kernel) {
    return fmt::format("{} {} on {}{}", kernel.count, kernel.operation, kernel.implementation,
                       kernel.chosen_by.empty() ? "" : " by " + kernel.chosen_by);
  });
}

/// Returns "median clock 1800 MHz, lowest clock 1700 MHz, at most 71 °C, at most 300 W", if known.
std::string condition_text(const CaseCondition& condition) {
  std::vector<std::string> items;
  const auto add = [&](std::string_view what, std::optional<double> value, std::string_view unit) {
    if (value) items.push_back(fmt::format("{} {} {}", what, format_number(*value, 4), unit));
  };
  add("median clock", condition.median_clock_mhz, "MHz");
  add("lowest clock", condition.min_clock_mhz, "MHz");
  add("at most", condition.max_temperature_celsius, "°C");
  add("at most", condition.max_power_watts, "W");
  return fmt::format("{}", fmt::join(items, ", "));
}

/// Returns "3 of 14 (2 power cap on cuda:0, 1 low clock on cuda:0)".
std::string throttling_text(const Throttling& throttling) {
  const std::string reasons = joined(throttling.reasons, ", ", [](const ThrottleReason& reason) {
    return fmt::format("{} {} on {}", reason.samples, reason.reason, reason.device);
  });
  const std::string counts =
      fmt::format("{} of {}", throttling.marked_samples, throttling.read_samples);
  return reasons.empty() ? counts : fmt::format("{} ({})", counts, reasons);
}

/// The facts about a case that the table lacks, as one text with a line each. List elements would
/// slow a browser down for thousands of cases.
class Details {
 public:
  explicit Details(const CaseResult& c) : lines_("case: " + c.name) {
    if (c.statistics) add_statistics(*c.statistics);
    if (c.bound && !is_bound_disproved(c)) add_bound(*c.bound);
    if (c.verification) {
      fact("verified against", c.verification->against);
      fact("verified", c.verification->detail);
    }
    fact("sampling ended by", c.stopped_because);
    fact("kernels", kernels_text(c.kernels));
    for (const CaseCondition& condition : c.conditions) {
      fact(condition.device, condition_text(condition));
    }
    if (c.throttling) fact("throttled samples", throttling_text(*c.throttling));
    if (is_over_quota(c)) {
      fact("CPU quota", format_percent(c.quota_lost, 0) + " of the CPU time withheld");
    }
    if (c.profile) {
      fact("busy and idle", profile_text(*c.profile));
    }
    for (const auto& [name, value] : c.notes) fact(name, value);
  }

  [[nodiscard]] std::string take() { return std::move(lines_); }

 private:
  void add_statistics(const Statistics& s) {
    if (s.median_interval) {
      fact("interval of the median",
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

  std::string lines_;
};

// -------------------------------------------------------------------------------------- published

bool belongs(const CaseResult& c, const Published& figure) {
  if (c.scenario != figure.scenario || c.strategy != figure.strategy) return false;
  return std::ranges::all_of(figure.parameters, [&](const auto& parameter) {
    return std::ranges::find(c.parameters, parameter) != c.parameters.end();
  });
}

/// A published figure and the measured case beside it; `measured` is null if the run lacks the
/// case.
struct PlacedFigure {
  const Published* figure = nullptr;
  const CaseResult* measured = nullptr;

  [[nodiscard]] std::optional<double> seconds() const {
    if (measured == nullptr || !has_number(*measured)) return std::nullopt;
    return measured->statistics->median * figure->executions;
  }
};

std::string here(const PlacedFigure& placed) {
  const auto seconds = placed.seconds();
  return seconds ? format_duration(*seconds) : "not measured";
}

std::string times_faster(const PlacedFigure& placed) {
  const auto seconds = placed.seconds();
  return seconds ? format_ratio(placed.figure->seconds / *seconds) : "";
}

std::string parameters_text(const NamedValues& values) {
  return joined(values, ", ",
                [](const auto& one) { return one.first + ' ' + value_text(one.second); });
}

}  // namespace

void write_case_table(HtmlWriter& html, const ScenarioCases& group, const std::string& id) {
  Table table = case_table(group);
  add_column(table, {.title = "details", .folded = true}, group.cases,
             [](const CaseResult* c) { return Details(*c).take(); });
  std::vector<std::string> shared;
  for (const auto& line : table.captions) {
    if (!line.empty()) shared.push_back(fmt::format("{}", fmt::join(line, " · ")));
  }
  write_list(html, "shared", shared);
  const bool folded = table.rows.size() > max_unfolded;
  if (folded) {
    html.raw("<details class=\"long\">");
    html.element("summary", fmt::format("All {} cases", table.rows.size())).raw("\n");
  }
  write_table(html, table,
              {"cases", id + "-table", fmt::format("All cases of {}", group.scenario)});
  if (folded) html.raw("</details>\n");
  write_footnotes(html, table);
}

void write_published(HtmlWriter& html, const Report& report, const ScenarioCases& group) {
  std::vector<PlacedFigure> figures;
  for (const Published& figure : report.published) {
    if (figure.scenario != group.scenario) continue;
    const auto found = std::ranges::find_if(
        group.cases, [&](const CaseResult* candidate) { return belongs(*candidate, figure); });
    figures.push_back({&figure, found == group.cases.end() ? nullptr : *found});
  }
  if (figures.empty()) return;
  Table table;
  const auto add = [&](const std::string& title, Align align, auto cell) {
    add_column(table, {.title = title, .align = align}, figures, cell);
  };
  using Figure = const PlacedFigure&;
  add("strategy", Align::left, [](Figure placed) { return placed.figure->strategy; });
  add("case", Align::left,
      [](Figure placed) { return parameters_text(placed.figure->parameters); });
  add("published by", Align::left, [](Figure placed) { return placed.figure->source; });
  add("published", Align::right,
      [](Figure placed) { return format_duration(placed.figure->seconds); });
  add("here", Align::right, here);
  add("published over here", Align::right, times_faster);
  write_table(html, table,
              {.css_class = "published",
               .label = "Published figures, measured on other hardware, beside those of this run"});
}

}  // namespace parbench::report
