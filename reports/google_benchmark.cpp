// Google Benchmark's rows, regrouped by case and completed from the report.
#include "reports/google_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/error.h"

namespace parbench::report {
namespace {

constexpr double nanoseconds_per_second = 1e9;

/// A time whose squares still have a sum, and which Bencher's decimal numbers (up to 7.9e28) hold.
bool is_time(double nanoseconds) { return nanoseconds >= 0 && nanoseconds <= 1e28; }

using RawRows = std::vector<const Json*>;

/// The case that a row belongs to: its name, or what remains of it when Google Benchmark's suffixes
/// are cut off one by one. nullptr for rows of other benchmarks.
RawRows* rows_of(std::map<std::string, RawRows, std::less<>>& rows, std::string_view name) {
  constexpr int most_suffixes = 8;  // that it adds: iterations, repeats, threads, kind of time …
  for (int cut = 0; cut <= most_suffixes && !name.empty(); ++cut) {
    if (const auto found = rows.find(name); found != rows.end()) return &found->second;
    const std::size_t slash = name.rfind('/');
    name = slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
  }
  return nullptr;
}

bool is_iteration(const Json& row) {
  return row.is_object() && row.value("run_type", "iteration") == "iteration" &&
         !row.value("error_occurred", false) && row.contains("name") && row["name"].is_string();
}

std::map<std::string, RawRows, std::less<>> group(const Report& report, const Json& raw) {
  std::map<std::string, RawRows, std::less<>> rows;
  for (const CaseResult& c : report.cases) rows.try_emplace(c.name);
  for (const Json& row : raw) {
    if (!is_iteration(row)) continue;
    if (RawRows* found = rows_of(rows, row["name"].get_ref<const std::string&>())) {
      found->push_back(&row);
    }
  }
  return rows;
}

std::optional<double> cpu_nanoseconds(const Json& row) {
  static const std::map<std::string, double, std::less<>> units{
      {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
  const auto time = row.find("cpu_time");
  const auto unit = units.find(row.value("time_unit", "ns"));
  if (time == row.end() || !time->is_number() || unit == units.end()) return std::nullopt;
  const double nanoseconds = time->get<double>() * unit->second;
  return is_time(nanoseconds) ? std::optional(nanoseconds) : std::nullopt;
}

/// What `per second` rates a case has, from the time of one execution.
void add_rates(Json& row, const CaseResult& c, double seconds) {
  if (!(seconds > 0)) return;
  const auto add = [&](const char* key, double amount) {
    if (amount > 0 && std::isfinite(amount / seconds)) row[key] = amount / seconds;
  };
  if (c.amount_unit != "FLOP" && c.amount_unit != "B") add("items_per_second", c.amount);
  add("bytes_per_second", c.amount_unit == "B" ? c.amount : c.bytes);
  add("flop_per_second", c.amount_unit == "FLOP" ? c.amount : c.flops);
}

/// User counters of the raw row; everything else in it is known better here.
void add_counters(Json& row, const Json& raw) {
  for (const auto& [key, value] : raw.items()) {
    if (value.is_number() && !row.contains(key)) row[key] = value;
  }
}

double share(double part, double whole) {
  return whole > 0 && std::isfinite(part / whole) ? part / whole : 0;
}

double median_of(std::vector<double> values) {
  // A report may hold numbers that are none, which have no order of their own.
  std::ranges::sort(values,
                    [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle]
                                : std::midpoint(values[middle - 1], values[middle]);
}

/// Writes the rows of one case, which has statistics.
class CaseRows {
 public:
  CaseRows(const CaseResult& c, int family, RawRows raw)
      : case_(c), family_(family), raw_(std::move(raw)) {
    if (raw_.size() != c.samples.size()) raw_.clear();
    for (std::size_t i = 0; i < c.samples.size(); ++i) {
      const auto cpu = raw_.empty() ? std::nullopt : cpu_nanoseconds(*raw_[i]);
      cpu_.push_back(cpu.value_or(c.samples[i].wall_seconds * nanoseconds_per_second));
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

  /// Under the name of the case.
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
    if (!raw_.empty()) add_counters(row, *raw_[index]);
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
  RawRows raw_;
  std::vector<double> cpu_;  // nanoseconds of each sample
};

Json context_of(const Report& report, const Json& raw) {
  Json context = raw.is_object() ? raw : Json::object();
  const auto complete = [&](const char* key, Json value) {
    if (!context.contains(key)) context[key] = std::move(value);
  };
  complete("date", report.started_utc);
  complete("host_name", report.machine.host);
  complete("executable", report.command_line.empty() ? "parbench" : report.command_line.front());
  complete("num_cpus", report.machine.cores_online);
  complete("mhz_per_cpu", std::llround(report.machine.cpu_mhz.value_or(0)));
  complete("cpu_scaling_enabled", report.machine.governor.value_or("performance") != "performance");
  complete("caches", Json::array());
  complete("load_avg", Json::array());
  // Its library's own, which Debian builds with assertions, has no part in times that parbench
  // takes itself; readers warn of "debug".
  context["library_build_type"] = report.machine.build_type == "Debug" ? "debug" : "release";
  return context;
}

void for_each_case(const Report& report, const GoogleBenchmarkPart& raw, auto&& visit) {
  auto rows = group(report, raw.benchmarks);
  int family = 0;
  for (const CaseResult& c : report.cases) {
    if (has_number(c)) visit(CaseRows(c, family++, std::move(rows.at(c.name))));
  }
}

[[noreturn]] void wrong(const std::string& place, std::string_view expected, const Json& found) {
  throw UsageError(fmt::format("{}: expected {}, found {}", place, expected, found.type_name()));
}

void check_context(const Json& context) {
  if (!context.is_object()) wrong("context", "an object", context);
  const auto caches = context.find("caches");
  if (caches == context.end()) return;
  if (!caches->is_array()) wrong("context.caches", "a list", *caches);
  for (const Json& cache : *caches) {
    if (!cache.is_object()) wrong("context.caches", "a list of objects", cache);
  }
}

/// What of a row `arranged` relies on; anything else is a counter.
void check_row(const Json& row, const std::string& place) {
  if (!row.is_object()) wrong(place, "an object", row);
  for (const char* key : {"name", "run_type", "time_unit"}) {
    const auto found = row.find(key);
    if (found != row.end() && !found->is_string()) wrong(place + '.' + key, "text", *found);
  }
  const auto error = row.find("error_occurred");
  if (error != row.end() && !error->is_boolean()) {
    wrong(place + ".error_occurred", "true or false", *error);
  }
}

bool has_times(const CaseResult& c) {
  const auto good = [](double seconds) { return is_time(seconds * nanoseconds_per_second); };
  const Statistics& s = *c.statistics;
  return good(s.median) && good(s.mean) && good(s.standard_deviation) &&
         std::ranges::all_of(c.samples, [&](const Sample& sample) {
           return good(sample.seconds) && good(sample.wall_seconds);
         });
}

}  // namespace

GoogleBenchmarkPart google_benchmark_part(Json file) {
  GoogleBenchmarkPart part;
  if (const auto context = file.find("context"); context != file.end()) {
    check_context(*context);
    part.context = std::move(*context);
  }
  if (const auto rows = file.find("benchmarks"); rows != file.end()) {
    if (!rows->is_array()) wrong("benchmarks", "a list", *rows);
    for (std::size_t i = 0; i < rows->size(); ++i) {
      check_row((*rows)[i], fmt::format("benchmarks[{}]", i));
    }
    part.benchmarks = std::move(*rows);
  }
  return part;
}

GoogleBenchmarkPart arranged(const Report& report, const GoogleBenchmarkPart& raw) {
  GoogleBenchmarkPart part;
  part.context = context_of(report, raw.context);
  for_each_case(report, raw, [&](const CaseRows& rows) { rows.append_to(part.benchmarks); });
  return part;
}

Json projected(const Report& report, const GoogleBenchmarkPart& raw, Rows rows) {
  Report finite = report;
  std::erase_if(finite.cases, [&](const CaseResult& c) {
    return !has_number(c) || !has_times(c) || (rows == Rows::all && c.samples.empty());
  });
  if (finite.cases.empty()) {
    throw UsageError("no case was measured, and this format has room for nothing else");
  }
  Json benchmarks = Json::array();
  for_each_case(finite, raw, [&](const CaseRows& of_case) {
    if (rows == Rows::all) of_case.append_to(benchmarks);
    if (rows == Rows::median) benchmarks.push_back(of_case.median());
  });
  return {{"context", context_of(finite, raw.context)}, {"benchmarks", std::move(benchmarks)}};
}

}  // namespace parbench::report
