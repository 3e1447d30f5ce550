// Writes Prometheus' text format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats):
// gauges in base units, grouped by name after their HELP and TYPE. Each series of a case has labels
// with the case's name, which is unique, its scenario and its strategy. Number format and
// parameters are labels of a separate info metric, to be joined when needed
// (`parbench_case_median_seconds * on(case) group_left(parameter_split) parbench_case_info`).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reports/io/formats/format.h"
#include "reports/io/json.h"
#include "reports/text/text.h"

namespace parbench::report {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

/// Escapes the three characters that label values must not contain.
std::string escaped(std::string_view value) {
  std::string text;
  for (const char letter : value) {
    if (letter == '\n') {
      text += "\\n";
    } else {
      if (letter == '\\' || letter == '"') text += '\\';
      text += letter;
    }
  }
  return text;
}

/// Replaces characters that a label's name must not contain: all but ASCII letters, digits and
/// underscores.
std::string label_name(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(
      text, [](char letter) { return !is_alphanumeric(letter); }, '_');
  return text;
}

/// Appends the lines of a metric to a text, preceded by HELP and TYPE.
class Gauge {
 public:
  Gauge(std::string& text, std::string_view name, std::string_view help)
      : text_(text), name_(name), help_(help) {}

  /// Adds a sample, unless its value is not finite.
  void add(const Labels& labels, double value) {
    if (!std::isfinite(value)) return;
    if (!std::exchange(begun_, true)) {
      text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name_, help_);
    }
    text_ += name_;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      text_ += fmt::format("{}{}=\"{}\"", i == 0 ? '{' : ',', labels[i].first,
                           escaped(labels[i].second));
    }
    text_ += fmt::format("{} {}\n", labels.empty() ? "" : "}", value);
  }

 private:
  std::string& text_;
  std::string_view name_;
  std::string_view help_;
  bool begun_ = false;
};

// ------------------------------------------------------------------------------------------ cases

struct Series {
  Labels labels;  // further labels beside the labels of the case
  double value;
};

struct CaseMetric {
  std::string_view name;
  std::string_view help;
  std::vector<Series> (*series)(const CaseResult&);
};

Labels labels_of(const CaseResult& c) {
  return {{"case", c.name}, {"scenario", c.scenario}, {"strategy", c.strategy}};
}

std::vector<Series> ends_of(const std::optional<Interval>& interval, const Labels& labels = {}) {
  if (!interval) return {};
  std::vector<Series> series{{labels, interval->low}, {labels, interval->high}};
  series[0].labels.emplace_back("end", "low");
  series[1].labels.emplace_back("end", "high");
  return series;
}

std::vector<Series> one(double value) { return {{{}, value}}; }

std::vector<Series> rate(const CaseResult& c, double amount) {
  if (!(amount > 0) || !(c.statistics->median > 0)) return {};
  return one(amount / c.statistics->median);
}

/// Returns the metrics whose values have the unit `unit` (Metric::unit).
std::vector<Series> metrics_in(const CaseResult& c, std::string_view unit) {
  std::vector<Series> series;
  for (const Metric& metric : c.metrics) {
    if (metric.unit == unit) series.push_back({{{"metric", metric.name}}, metric.value});
  }
  return series;
}

/// Returns the metrics in other amounts per second than bytes, with the unit as a label.
std::vector<Series> metrics_in_other_units(const CaseResult& c) {
  std::vector<Series> series;
  for (const Metric& metric : c.metrics) {
    if (metric.unit.empty() || metric.unit == "B") continue;
    series.push_back({{{"metric", metric.name}, {"unit", metric.unit}}, metric.value});
  }
  return series;
}

bool is_counted(const CaseResult& c) { return c.amount_unit != "FLOP" && c.amount_unit != "B"; }

constexpr CaseMetric case_metrics[] = {
    {"parbench_case_median_seconds", "Median time of one execution.",
     [](const CaseResult& c) { return one(c.statistics->median); }},
    {"parbench_case_median_interval_seconds", "Ends of the median's confidence interval.",
     [](const CaseResult& c) { return ends_of(c.statistics->median_interval); }},
    {"parbench_case_standard_deviation_seconds", "Standard deviation of the samples.",
     [](const CaseResult& c) { return one(c.statistics->standard_deviation); }},
    {"parbench_case_samples", "Number of samples.",
     [](const CaseResult& c) { return one(static_cast<double>(c.samples.size())); }},
    {"parbench_case_bound_seconds", "Minimum time of any schedule of the tasks.",
     [](const CaseResult& c) { return c.bound ? one(c.bound->seconds) : std::vector<Series>(); }},
    {"parbench_case_bound_ratio", "The bound over the median.",
     [](const CaseResult& c) { return c.bound ? one(c.efficiency) : std::vector<Series>(); }},
    {"parbench_case_speedup_ratio", "The baseline's time over that of the case.",
     [](const CaseResult& c) -> std::vector<Series> {
       if (!c.speedup) return {};
       return {{{{"baseline", c.speedup->baseline}}, c.speedup->value}};
     }},
    {"parbench_case_speedup_interval_ratio", "Ends of the speedup's confidence interval.",
     [](const CaseResult& c) -> std::vector<Series> {
       if (!c.speedup) return {};
       return ends_of(c.speedup->interval, {{"baseline", c.speedup->baseline}});
     }},
    {"parbench_case_metric_ratio", "A fraction that follows from the times of several cases.",
     [](const CaseResult& c) { return metrics_in(c, ""); }},
    {"parbench_case_metric_bytes_per_second", "A bandwidth that follows from the times.",
     [](const CaseResult& c) { return metrics_in(c, "B"); }},
    {"parbench_case_metric_per_second", "Another amount per second that follows from the times.",
     metrics_in_other_units},
    {"parbench_case_items_per_second", "Items per second, by the median.",
     [](const CaseResult& c) {
       std::vector<Series> series = rate(c, is_counted(c) ? c.amount : 0);
       for (Series& one : series) one.labels = {{"item", c.amount_unit}};
       return series;
     }},
    {"parbench_case_flops_per_second", "Floating-point operations per second, by the median.",
     [](const CaseResult& c) { return rate(c, c.amount_unit == "FLOP" ? c.amount : c.flops); }},
    {"parbench_case_bytes_per_second", "Minimal memory traffic per second, by the median.",
     [](const CaseResult& c) { return rate(c, c.amount_unit == "B" ? c.amount : c.bytes); }},
    {"parbench_case_memory_bytes", "Memory that the case holds on a device.",
     [](const CaseResult& c) {
       std::vector<Series> series;
       for (const DeviceMemory& memory : c.memory) {
         series.push_back({{{"device", memory.device}}, static_cast<double>(memory.bytes)});
       }
       return series;
     }},
};

void add_case_metrics(std::string& text, const Report& report) {
  for (const CaseMetric& metric : case_metrics) {
    Gauge gauge(text, metric.name, metric.help);
    for (const CaseResult& c : report.cases) {
      if (!has_number(c)) continue;
      for (const Series& series : metric.series(c)) {
        Labels labels = labels_of(c);
        labels.insert(labels.end(), series.labels.begin(), series.labels.end());
        gauge.add(labels, series.value);
      }
    }
  }
}

/// Adds parameters as labels. Parameters that differ only in characters that a label cannot contain
/// get underscores at the end.
void add_parameters(Labels& labels, const NamedValues& parameters, std::set<std::string>& taken) {
  for (const auto& [name, value] : parameters) {
    std::string label = "parameter_" + label_name(name);
    while (!taken.insert(label).second) label += '_';
    labels.emplace_back(std::move(label),
                        std::visit([](const auto& v) { return fmt::format("{}", v); }, value));
  }
}

void add_case_info(std::string& text, const Report& report) {
  Gauge gauge(text, "parbench_case_info", "Identity of the case as labels; always 1.");
  for (const CaseResult& c : report.cases) {
    Labels labels = labels_of(c);
    labels.emplace_back("dtype", c.dtype);
    std::set<std::string> taken;
    add_parameters(labels, c.parameters, taken);
    add_parameters(labels, c.hidden_parameters, taken);
    gauge.add(labels, 1);
  }
}

void add_status(std::string& text, const Report& report) {
  static constexpr std::array all{CaseStatus::measured, CaseStatus::failed, CaseStatus::skipped,
                                  CaseStatus::not_run};
  Gauge gauge(text, "parbench_case_status",
              "1 for the state that the case is in, 0 for the others.");
  for (const CaseResult& c : report.cases) {
    for (const CaseStatus status : all) {
      Labels labels = labels_of(c);
      labels.emplace_back("status", to_string(status));
      gauge.add(labels, c.status == status ? 1 : 0);
    }
  }
}

// -------------------------------------------------------------------------------------------- run

void add_run(std::string& text, const Report& report) {
  const Machine& machine = report.machine;
  Gauge(text, "parbench_run_info", "Version, commit and machine of the run as labels; always 1.")
      .add({{"version", report.version},
            {"started", report.started_utc},
            {"host", machine.host},
            {"cpu", machine.cpu_model},
            {"commit", machine.commit.value_or("")}},
           1);
  Gauge(text, "parbench_run_duration_seconds", "Duration of the run.")
      .add({}, report.duration_seconds);
  Gauge(text, "parbench_run_complete", "1 when every case was measured, otherwise 0.")
      .add({}, report.complete ? 1 : 0);
}

}  // namespace

std::string prometheus_text(const Report& report) {
  std::string text;
  add_run(text, report);
  add_case_info(text, report);
  add_status(text, report);
  add_case_metrics(text, report);
  return text;
}

}  // namespace parbench::report
