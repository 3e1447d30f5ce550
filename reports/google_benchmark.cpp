// Google Benchmark's rows, regrouped by case and completed from the report.
#include "reports/google_benchmark.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace parbench::report {
namespace {

constexpr double nanoseconds_per_second = 1e9;

using RawRows = std::vector<const Json*>;

/// The case that a row belongs to: its name, or what remains of it when Google Benchmark's suffixes
/// are cut off one by one. nullptr for rows of other benchmarks.
RawRows* rows_of(std::map<std::string, RawRows, std::less<>>& rows, std::string_view name) {
  while (!name.empty()) {
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
  for (const Case& c : report.cases) rows.try_emplace(c.name);
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
  return time->get<double>() * unit->second;
}

/// What `per second` rates a case has, from the time of one execution.
void add_rates(Json& row, const Case& c, double seconds) {
  if (!(seconds > 0)) return;
  if (c.amount > 0 && c.amount_unit != "FLOP" && c.amount_unit != "B") {
    row["items_per_second"] = c.amount / seconds;
  }
  const double bytes = c.amount_unit == "B" ? c.amount : c.bytes;
  if (bytes > 0) row["bytes_per_second"] = bytes / seconds;
  const double flops = c.amount_unit == "FLOP" ? c.amount : c.flops;
  if (flops > 0) row["flop_per_second"] = flops / seconds;
}

/// User counters of the raw row; everything else in it is known better here.
void add_counters(Json& row, const Json& raw) {
  for (const auto& [key, value] : raw.items()) {
    if (value.is_number() && !row.contains(key)) row[key] = value;
  }
}

/// Writes the rows of one case.
class CaseRows {
 public:
  CaseRows(const Case& c, int family, RawRows raw)
      : case_(c), family_(family), raw_(std::move(raw)) {
    if (raw_.size() != c.samples.size()) raw_.clear();
  }

  void append_to(Json& benchmarks) {
    for (std::size_t i = 0; i < case_.samples.size(); ++i) benchmarks.push_back(iteration(i));
    if (case_.samples.size() < 2) return;
    const Statistics& s = *case_.statistics;
    std::vector<double> sorted = cpu_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    const double cpu_median =
        sorted.size() % 2 == 1 ? sorted[middle] : std::midpoint(sorted[middle - 1], sorted[middle]);
    const double cpu_mean =
        std::accumulate(cpu_.begin(), cpu_.end(), 0.0) / static_cast<double>(cpu_.size());
    const double cpu_deviation = deviation(cpu_mean);
    benchmarks.push_back(aggregate("mean", s.mean, cpu_mean, true));
    benchmarks.push_back(aggregate("median", s.median, cpu_median, true));
    benchmarks.push_back(aggregate("stddev", s.standard_deviation, cpu_deviation, false));
    Json cv = aggregate("cv", 0, 0, false);
    cv["aggregate_unit"] = "percentage";
    cv["real_time"] = s.mean > 0 ? s.standard_deviation / s.mean : 0;
    cv["cpu_time"] = cpu_mean > 0 ? cpu_deviation / cpu_mean : 0;
    benchmarks.push_back(std::move(cv));
  }

 private:
  [[nodiscard]] Json opening(const std::string& name, const char* run_type) const {
    return {
        {"name", name},           {"family_index", family_}, {"per_family_instance_index", 0},
        {"run_name", case_.name}, {"run_type", run_type},    {"repetitions", case_.samples.size()}};
  }

  [[nodiscard]] Json iteration(std::size_t index) {
    const Sample& sample = case_.samples[index];
    const Json* raw = raw_.empty() ? nullptr : raw_[index];
    const std::optional<double> cpu = raw ? cpu_nanoseconds(*raw) : std::nullopt;
    cpu_.push_back(cpu.value_or(sample.wall_seconds * nanoseconds_per_second));
    Json row = opening(case_.name, "iteration");
    row["repetition_index"] = index;
    row["threads"] = 1;
    row["iterations"] = sample.iterations;
    row["real_time"] = sample.seconds * nanoseconds_per_second;
    row["cpu_time"] = cpu_.back();
    row["time_unit"] = "ns";
    add_rates(row, case_, sample.seconds);
    if (raw) add_counters(row, *raw);
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

  const Case& case_;
  int family_;
  RawRows raw_;
  std::vector<double> cpu_;
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
  complete("library_build_type", report.machine.build_type == "Debug" ? "debug" : "release");
  return context;
}

}  // namespace

GoogleBenchmarkPart arranged(const Report& report, const GoogleBenchmarkPart& raw) {
  GoogleBenchmarkPart part;
  part.context = context_of(report, raw.context);
  auto rows = group(report, raw.benchmarks);
  int family = 0;
  for (const Case& c : report.cases) {
    if (c.status != CaseStatus::measured || !c.statistics) continue;
    CaseRows(c, family++, std::move(rows.at(c.name))).append_to(part.benchmarks);
  }
  return part;
}

}  // namespace parbench::report
