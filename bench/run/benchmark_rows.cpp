// Converts samples to runs of Google Benchmark, which the library prints.
#include "bench/run/benchmark_rows.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <ostream>
#include <span>
#include <string>

#include "reports/statistics/statistics.h"

namespace parbench {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

std::string counter_name(const std::string& unit) {
  if (unit == "B") return "bytes_per_second";
  if (unit == "FLOP") return "flop_per_second";
  return "items_per_second";
}

void drop_non_finite_counters(Run& run) {
  std::erase_if(run.counters,
                [](const auto& counter) { return !std::isfinite(counter.second.value); });
}

/// Function that returns a value of a row: seconds per iteration, or a counter.
using Column = std::function<double(const Run&)>;

double per_iteration(const Run& run, double accumulated) {
  return run.iterations > 0 ? accumulated / static_cast<double>(run.iterations) : accumulated;
}

double variation(std::span<const double> values) {
  const double center = mean(values);
  return center == 0 ? 0 : standard_deviation(values) / center;
}

struct Aggregate {
  const char* name;
  double (*compute)(std::span<const double>);
  benchmark::StatisticUnit unit;
};

constexpr Aggregate aggregates_of_case[] = {
    {"mean", mean, benchmark::kTime},
    {"median", median, benchmark::kTime},
    {"stddev", standard_deviation, benchmark::kTime},
    {"cv", variation, benchmark::kPercentage},
};

double aggregate_of(const std::vector<Run>& runs, const Aggregate& aggregate,
                    const Column& column) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const Run& run : runs) values.push_back(column(run));
  return aggregate.compute(values);
}

Run aggregate_row(const std::vector<Run>& runs, const Aggregate& aggregate) {
  Run row = runs.front();
  row.run_type = Run::RT_Aggregate;
  row.aggregate_name = aggregate.name;
  row.aggregate_unit = aggregate.unit;
  row.repetition_index = Run::no_repetition_index;
  row.iterations = static_cast<benchmark::IterationCount>(runs.size());
  // Reporters divide times by the row's iterations, but not percentages.
  const double scale = aggregate.unit == benchmark::kTime ? static_cast<double>(runs.size()) : 1.0;
  row.real_accumulated_time = scale * aggregate_of(runs, aggregate, [](const Run& run) {
                                return per_iteration(run, run.real_accumulated_time);
                              });
  row.cpu_accumulated_time = scale * aggregate_of(runs, aggregate, [](const Run& run) {
                               return per_iteration(run, run.cpu_accumulated_time);
                             });
  for (auto& counter : row.counters) {  // clang 14 cannot capture a structured binding
    counter.second.value = aggregate_of(runs, aggregate, [&](const Run& run) {
      const auto found = run.counters.find(counter.first);
      return found == run.counters.end() ? 0.0 : found->second.value;
    });
  }
  drop_non_finite_counters(row);
  return row;
}

/// Prints all rows in one call, because the CSV reporter takes its columns from the first call.
void print_rows(benchmark::BenchmarkReporter& reporter, std::ostream& out,
                const std::vector<Run>& rows) {
  benchmark::BenchmarkReporter::Context context;
  context.name_field_width = 10;  // Google Benchmark 1.7 leaves it uninitialised
  for (const Run& row : rows) {
    context.name_field_width = std::max(context.name_field_width, row.benchmark_name().size());
  }
  std::ostream nowhere(nullptr);
  reporter.SetOutputStream(&out);
  reporter.SetErrorStream(&nowhere);
  reporter.ReportContext(context);
  if (!rows.empty()) reporter.ReportRuns(rows);
  reporter.Finalize();
}

/// Returns the row of a sample, named like its case: Google Benchmark's suffixes for iterations and
/// kind of time would be the same for all.
Run row_of(const report::CaseResult& c, std::size_t index) {
  const report::Sample& sample = c.samples[index];
  const auto count = static_cast<double>(sample.iterations);
  Run run;
  run.run_name.function_name = c.name;
  run.per_family_instance_index = 0;
  run.repetitions = static_cast<std::int64_t>(c.samples.size());
  run.repetition_index = static_cast<std::int64_t>(index);
  run.iterations = sample.iterations;
  run.real_accumulated_time = sample.seconds * count;
  run.cpu_accumulated_time = sample.cpu_seconds * count;
  if (c.amount > 0 && sample.seconds > 0) {
    run.counters[counter_name(c.amount_unit)] = {c.amount / sample.seconds,
                                                 benchmark::Counter::kIsIterationInvariantRate};
  }
  for (const auto& [name, value] : sample.counters) run.counters[name] = value;
  drop_non_finite_counters(run);
  return run;
}

std::vector<Run> rows_of(const std::vector<report::CaseResult>& cases, bool aggregates_only) {
  std::vector<Run> rows;
  std::int64_t family = 0;
  for (const report::CaseResult& c : cases) {
    if (c.samples.empty()) continue;
    std::vector<Run> runs;
    for (std::size_t i = 0; i < c.samples.size(); ++i) {
      runs.push_back(row_of(c, i));
      runs.back().family_index = family;
    }
    ++family;
    if (!aggregates_only) rows.insert(rows.end(), runs.begin(), runs.end());
    if (runs.size() < 2) continue;
    for (const Aggregate& aggregate : aggregates_of_case) {
      rows.push_back(aggregate_row(runs, aggregate));
    }
  }
  return rows;
}

benchmark::ConsoleReporter::OutputOptions console_options(const RowStyle& style) {
  using Reporter = benchmark::ConsoleReporter;
  const int color = style.color ? Reporter::OO_Color : Reporter::OO_None;
  const int tabular = style.counters_tabular ? Reporter::OO_Tabular : Reporter::OO_None;
  return static_cast<Reporter::OutputOptions>(color | tabular);
}

}  // namespace

void write_rows(std::ostream& out, const std::vector<report::CaseResult>& cases, RowFormat format,
                const RowStyle& style) {
  const std::vector<Run> rows = rows_of(cases, style.aggregates_only);
  const auto print = [&](benchmark::BenchmarkReporter&& reporter) {
    print_rows(reporter, out, rows);
  };
  switch (format) {
    case RowFormat::json:
      return print(benchmark::JSONReporter());
    case RowFormat::console:
      return print(benchmark::ConsoleReporter(console_options(style)));
    case RowFormat::csv:
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
      return print(benchmark::CSVReporter());
#pragma GCC diagnostic pop
  }
}

}  // namespace parbench
