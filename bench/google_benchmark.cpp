// One benchmark per sample: registered, run, cleared. Rows are printed by the library itself.
#include "bench/google_benchmark.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "kernels/error.h"
#include "reports/google_benchmark.h"
#include "reports/statistics.h"

namespace parbench {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

/// Keeps what Google Benchmark reports in memory.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    collected.insert(collected.end(), runs.begin(), runs.end());
  }
  std::vector<Run> collected;
};

std::string counter_name(const std::string& unit) {
  if (unit == "B") return "bytes_per_second";
  if (unit == "FLOP") return "flop_per_second";
  return "items_per_second";
}

/// The row carries the case's name alone: iterations and the kind of time are the harness's
/// affair, the same for all, and would only make names differ between runs.
void strip_name(Run& run) {
  benchmark::BenchmarkName name;
  name.function_name = run.run_name.function_name;
  run.run_name = std::move(name);
}

void drop_non_finite_counters(Run& run) {
  std::erase_if(run.counters,
                [](const auto& counter) { return !std::isfinite(counter.second.value); });
}

/// What one benchmark body found.
struct Outcome {
  double seconds = 0;
  double wall_seconds = 0;
  std::exception_ptr error;
};

void check_time(const Timing& timing) {
  if (std::isfinite(timing.seconds) && timing.seconds >= 0) return;
  throw Error(fmt::format("an execution took {} s: its time must be a finite number, 0 or more",
                          timing.seconds));
}

void run_body(benchmark::State& state, const std::function<Timing()>& execute, Outcome& outcome) {
  for (auto _ : state) {
    try {
      const Timing timing = execute();
      check_time(timing);
      state.SetIterationTime(timing.seconds);
      outcome.seconds += timing.seconds;
      outcome.wall_seconds += timing.wall_seconds;
    } catch (const std::exception& error) {
      outcome.error = std::current_exception();
      state.SkipWithError(error.what());
      break;
    } catch (...) {
      outcome.error = std::current_exception();
      state.SkipWithError("unknown exception");
      break;
    }
  }
}

/// Values of one column of rows, per iteration, in seconds for times.
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
  // The reporters divide times, but not percentages, by the row's iterations.
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

/// All rows go out in one call: the CSV reporter takes its columns from the first.
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

benchmark::Counter rate_of(const Amount& amount) {
  return {amount.value, benchmark::Counter::kIsIterationInvariantRate};
}

/// What a row of a report was made of, with times in nanoseconds. Beside its rate, which follows
/// from the amount, it may have counters that the user has asked for.
Run run_of(const report::Json& row, const Amount& amount) {
  static const std::set<std::string_view> no_counters{
      "family_index",     "per_family_instance_index",
      "repetitions",      "repetition_index",
      "threads",          "iterations",
      "real_time",        "cpu_time",
      "items_per_second", "bytes_per_second",
      "flop_per_second"};
  constexpr double nanosecond = 1e-9;
  Run run;
  run.run_name.function_name = row.at("name").get<std::string>();
  run.iterations = row.at("iterations").get<std::int64_t>();
  const auto count = static_cast<double>(run.iterations);
  run.real_accumulated_time = row.at("real_time").get<double>() * nanosecond * count;
  run.cpu_accumulated_time = row.at("cpu_time").get<double>() * nanosecond * count;
  const double seconds = row.at("real_time").get<double>() * nanosecond;
  if (amount.value > 0 && seconds > 0) {
    run.counters[counter_name(amount.unit)] = {amount.value / seconds, rate_of(amount).flags};
  }
  for (const auto& [name, value] : row.items()) {
    if (value.is_number() && !no_counters.contains(name)) run.counters[name] = value.get<double>();
  }
  return run;
}

benchmark::ConsoleReporter::OutputOptions console_options(const RowStyle& style) {
  using Reporter = benchmark::ConsoleReporter;
  const int color = style.color ? Reporter::OO_Color : Reporter::OO_None;
  const int tabular = style.counters_tabular ? Reporter::OO_Tabular : Reporter::OO_None;
  return static_cast<Reporter::OutputOptions>(color | tabular);
}

}  // namespace

class GoogleBenchmark::Rows {
 public:
  struct CaseRows {
    std::string name;
    Amount amount;
    std::vector<Run> runs;
  };

  std::vector<CaseRows> cases;

  /// Rows of all cases, each with its repetitions numbered.
  [[nodiscard]] std::vector<Run> all(bool iterations, bool aggregates) const {
    std::vector<Run> rows;
    for (std::size_t family = 0; family < cases.size(); ++family) {
      const std::vector<Run> runs = numbered(cases[family].runs, family);
      if (iterations) rows.insert(rows.end(), runs.begin(), runs.end());
      if (!aggregates || runs.size() < 2) continue;
      for (const Aggregate& aggregate : aggregates_of_case) {
        rows.push_back(aggregate_row(runs, aggregate));
      }
    }
    return rows;
  }

 private:
  static std::vector<Run> numbered(std::vector<Run> runs, std::size_t family) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i].family_index = static_cast<std::int64_t>(family);
      runs[i].per_family_instance_index = 0;
      runs[i].repetitions = static_cast<std::int64_t>(runs.size());
      runs[i].repetition_index = static_cast<std::int64_t>(i);
    }
    return runs;
  }
};

GoogleBenchmark::GoogleBenchmark() : rows_(std::make_unique<Rows>()) {}
GoogleBenchmark::~GoogleBenchmark() = default;

std::size_t GoogleBenchmark::add(std::string name, Amount amount) {
  rows_->cases.push_back({std::move(name), std::move(amount), {}});
  return rows_->cases.size() - 1;
}

report::Sample GoogleBenchmark::sample(std::size_t index, std::int64_t iterations, int round,
                                       const std::function<Timing()>& execute) {
  Rows::CaseRows& rows = rows_->cases.at(index);
  Outcome outcome;
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(rows.name.c_str(),
                               [&](benchmark::State& state) {
                                 run_body(state, execute, outcome);
                                 if (rows.amount.value <= 0) return;
                                 state.counters[counter_name(rows.amount.unit)] =
                                     rate_of(rows.amount);
                               })
      ->UseManualTime()
      ->MeasureProcessCPUTime()
      ->Iterations(iterations)
      ->Repetitions(1);
  Collector collector;
  std::ostream nowhere(nullptr);
  collector.SetOutputStream(&nowhere);
  collector.SetErrorStream(&nowhere);
  benchmark::RunSpecifiedBenchmarks(&collector, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (outcome.error) std::rethrow_exception(outcome.error);
  if (collector.collected.size() != 1) {
    throw Error(fmt::format("Google Benchmark reported {} rows for one sample of {}",
                            collector.collected.size(), rows.name));
  }
  Run& run = collector.collected.front();
  strip_name(run);
  drop_non_finite_counters(run);
  rows.runs.push_back(run);
  const auto count = static_cast<double>(iterations);
  return {outcome.seconds / count, outcome.wall_seconds / count, iterations, round};
}

void GoogleBenchmark::take_rows(const std::vector<report::CaseResult>& cases,
                                const report::GoogleBenchmarkPart& rows) {
  for (const report::CaseResult& one : cases) {
    if (one.samples.empty()) continue;
    auto known = std::ranges::find(rows_->cases, one.name, &Rows::CaseRows::name);
    if (known == rows_->cases.end()) {
      known = rows_->cases.insert(known, {one.name, {one.amount, one.amount_unit}, {}});
    }
    for (const report::Json& row : rows.benchmarks) {
      if (row.at("run_type") != "iteration" || row.at("name") != one.name) continue;
      known->runs.push_back(run_of(row, known->amount));
    }
  }
}

void GoogleBenchmark::discard(std::size_t index) { rows_->cases.at(index).runs.clear(); }

void GoogleBenchmark::discard(const std::string& name) {
  const auto known = std::ranges::find(rows_->cases, name, &Rows::CaseRows::name);
  if (known != rows_->cases.end()) known->runs.clear();
}

report::GoogleBenchmarkPart GoogleBenchmark::part() const {
  std::stringstream text;
  benchmark::JSONReporter reporter;
  print_rows(reporter, text, rows_->all(true, false));
  report::Json json = report::Json::parse(text);
  return {std::move(json.at("context")), std::move(json.at("benchmarks"))};
}

void GoogleBenchmark::write(std::ostream& out, RowFormat format, const RowStyle& style) const {
  const std::vector<Run> rows = rows_->all(!style.aggregates_only, true);
  switch (format) {
    case RowFormat::json: {
      benchmark::JSONReporter reporter;
      print_rows(reporter, out, rows);
      return;
    }
    case RowFormat::console: {
      benchmark::ConsoleReporter reporter(console_options(style));
      print_rows(reporter, out, rows);
      return;
    }
    case RowFormat::csv: {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
      benchmark::CSVReporter reporter;
#pragma GCC diagnostic pop
      print_rows(reporter, out, rows);
      return;
    }
  }
}

}  // namespace parbench
