// Writes Google Benchmark's context and rows for the cases of a report.
#include "reports/io/google_benchmark.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "reports/io/json.h"
#include "reports/io/json_list.h"

namespace parbench::report {
namespace {

constexpr double nanoseconds_per_second = 1e9;

/// Returns whether a time is from 0 to 1e28 ns: its square is finite, and it fits Bencher's decimal
/// numbers (at most 7.9e28).
bool is_time(double nanoseconds) { return nanoseconds >= 0 && nanoseconds <= 1e28; }

/// Adds the rates of a case, from the seconds of one execution.
void add_rates(Json& row, const CaseResult& c, double seconds) {
  if (!(seconds > 0)) return;
  const auto add = [&](const char* key, double amount) {
    if (amount > 0 && std::isfinite(amount / seconds)) row[key] = amount / seconds;
  };
  if (c.amount_unit != "FLOP" && c.amount_unit != "B") add("items_per_second", c.amount);
  add("bytes_per_second", c.amount_unit == "B" ? c.amount : c.bytes);
  add("flop_per_second", c.amount_unit == "FLOP" ? c.amount : c.flops);
}

double share(double part, double whole) {
  return whole > 0 && std::isfinite(part / whole) ? part / whole : 0;
}

double median_of(std::vector<double> values) {
  // Sorts NaN to the end, because a report may have it.
  std::ranges::sort(values,
                    [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle]
                                : std::midpoint(values[middle - 1], values[middle]);
}

/// Writes the rows of a case with statistics.
class CaseRows {
 public:
  CaseRows(const CaseResult& c, int family) : case_(c), family_(family) {
    for (const Sample& sample : c.samples) {
      cpu_.push_back(sample.cpu_seconds * nanoseconds_per_second);
    }
  }

  void append_to(Json& benchmarks) const {
    for (std::size_t i = 0; i < case_.samples.size(); ++i) benchmarks.push_back(iteration(i));
    if (case_.samples.size() < 2) return;
    const Statistics& s = *case_.statistics;
    const double cpu_mean =
        std::accumulate(cpu_.begin(), cpu_.end(), 0.0) / static_cast<double>(cpu_.size());
    const double cpu_deviation = deviation(cpu_mean);
    benchmarks.push_back(aggregate("mean", s.mean, cpu_mean, true));
    benchmarks.push_back(aggregate("median", s.median, median_of(cpu_), true));
    benchmarks.push_back(aggregate("stddev", s.standard_deviation, cpu_deviation, false));
    Json cv = aggregate("cv", 0, 0, false);
    cv["aggregate_unit"] = "percentage";
    cv["real_time"] = share(s.standard_deviation, s.mean);
    cv["cpu_time"] = share(cpu_deviation, cpu_mean);
    benchmarks.push_back(std::move(cv));
  }

  /// Returns a row with the name of the case and its median.
  [[nodiscard]] Json median() const {
    const double seconds = case_.statistics->median;
    const double cpu = cpu_.empty() ? seconds * nanoseconds_per_second : median_of(cpu_);
    Json row = aggregate("median", seconds, cpu, true);
    row["name"] = case_.name;
    return row;
  }

 private:
  [[nodiscard]] Json opening(const std::string& name, const char* run_type) const {
    return {
        {"name", name},           {"family_index", family_}, {"per_family_instance_index", 0},
        {"run_name", case_.name}, {"run_type", run_type},    {"repetitions", case_.samples.size()}};
  }

  [[nodiscard]] Json iteration(std::size_t index) const {
    const Sample& sample = case_.samples[index];
    Json row = opening(case_.name, "iteration");
    row["repetition_index"] = index;
    row["threads"] = 1;
    row["iterations"] = sample.iterations;
    row["real_time"] = sample.seconds * nanoseconds_per_second;
    row["cpu_time"] = cpu_[index];
    row["time_unit"] = "ns";
    add_rates(row, case_, sample.seconds);
    for (const auto& [name, value] : sample.counters) {
      if (std::isfinite(value) && !row.contains(name)) row[name] = value;
    }
    return row;
  }

  [[nodiscard]] Json aggregate(const char* what, double seconds, double cpu_time,
                               bool has_rates) const {
    Json row = opening(case_.name + "_" + what, "aggregate");
    row["threads"] = 1;
    row["aggregate_name"] = what;
    row["aggregate_unit"] = "time";
    row["iterations"] = case_.samples.size();
    row["real_time"] = seconds * nanoseconds_per_second;
    row["cpu_time"] = cpu_time;
    row["time_unit"] = "ns";
    if (has_rates) add_rates(row, case_, seconds);
    return row;
  }

  [[nodiscard]] double deviation(double mean) const {
    double squares = 0;
    for (const double value : cpu_) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / static_cast<double>(cpu_.size() - 1));
  }

  const CaseResult& case_;
  int family_;
  std::vector<double> cpu_;  // CPU time of each sample in nanoseconds
};

void for_each_case(const Report& report, auto&& visit) {
  int family = 0;
  for (const CaseResult& c : report.cases) {
    if (has_number(c)) visit(CaseRows(c, family++));
  }
}

bool has_times(const CaseResult& c) {
  const auto good = [](double seconds) { return is_time(seconds * nanoseconds_per_second); };
  const Statistics& s = *c.statistics;
  return good(s.median) && good(s.mean) && good(s.standard_deviation) &&
         std::ranges::all_of(c.samples, [&](const Sample& sample) {
           return good(sample.seconds) && good(sample.cpu_seconds);
         });
}

}  // namespace

Json google_benchmark_context(const Report& report) {
  const Machine& machine = report.machine;
  const auto cache_data = [](const CpuCache& cache) -> Json {
    return {{"type", cache.type},
            {"level", cache.level},
            {"size", cache.bytes},
            {"num_sharing", cache.sharing}};
  };
  // The build type is that of parbench, which measures the times. Google Benchmark's library, which
  // Debian builds with assertions, does not affect them, and readers warn about "debug".
  Json context{
      {"date", report.started_utc},
      {"host_name", machine.host},
      {"executable", report.command_line.empty() ? "parbench" : report.command_line.front()},
      {"num_cpus", machine.cores_online},
      {"mhz_per_cpu", std::llround(machine.cpu_mhz.value_or(0))},
      {"cpu_scaling_enabled", machine.governor.value_or("performance") != "performance"},
      {"caches", json_list(machine.caches, cache_data)},
      {"load_avg", machine.load_average},
      {"library_build_type", machine.build_type == "Debug" ? "debug" : "release"}};
  // Copies the circumstances of another program.
  for (const auto& [key, value] : machine.circumstances) {
    context[key] = value == "true" || value == "false" ? Json(value == "true") : Json(value);
  }
  return context;
}

Json google_benchmark_rows(const Report& report) {
  Json rows = Json::array();
  for_each_case(report, [&](const CaseRows& of_case) { of_case.append_to(rows); });
  return rows;
}

std::string google_benchmark_text(const Report& report, Rows rows) {
  Report finite = report;
  std::erase_if(finite.cases, [&](const CaseResult& c) {
    return !has_number(c) || !has_times(c) || (rows == Rows::all && c.samples.empty());
  });
  if (finite.cases.empty()) {
    throw UsageError("no case was measured, and this format has room for nothing else");
  }
  Json benchmarks = Json::array();
  for_each_case(finite, [&](const CaseRows& of_case) {
    if (rows == Rows::all) of_case.append_to(benchmarks);
    if (rows == Rows::median) benchmarks.push_back(of_case.median());
  });
  return to_text(
      {{"context", google_benchmark_context(finite)}, {"benchmarks", std::move(benchmarks)}});
}

}  // namespace parbench::report
