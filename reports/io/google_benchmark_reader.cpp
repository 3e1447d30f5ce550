// Converts contexts and rows.
#include "reports/io/google_benchmark_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "reports/io/benchmark_name.h"
#include "reports/io/json.h"
#include "reports/statistics/statistics.h"
#include "reports/text/text.h"
#include "reports/text/utc.h"
#include "reports/units/units.h"

namespace parbench::report {
namespace {

/// An object of the file, with its place for messages.
class Fields {
 public:
  Fields(const Json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object.is_object()) {
      throw UsageError(fmt::format("{}: expected an object, found {}", place_, object.type_name()));
    }
  }

  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }

  /// Empty where it is missing.
  [[nodiscard]] std::string text(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) return {};
    if (!found->is_string()) wrong(key, "text", *found);
    return found->get<std::string>();
  }

  /// NaN where it is null, which stands for numbers that are not finite.
  [[nodiscard]] std::optional<double> number(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) return std::nullopt;
    if (found->is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!found->is_number()) wrong(key, "a number", *found);
    return found->get<double>();
  }

  /// `fallback` also for numbers that are no count.
  template <class T>
  [[nodiscard]] T count(const char* key, T fallback) const {
    const double value = number(key).value_or(-1);
    // The first number that T does not have is a power of two, as which a double can hold it.
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    return value >= 0 && value < end ? static_cast<T>(value) : fallback;
  }

  [[nodiscard]] bool is_true(const char* key) const {
    const auto found = object_.find(key);
    return found != object_.end() && *found == true;
  }

  [[noreturn]] void refuse(const char* key, const std::string& what) const {
    throw UsageError(fmt::format("{}.{}: {}", place_, key, what));
  }

  [[nodiscard]] const Json& json() const { return object_; }

 private:
  [[noreturn]] void wrong(const char* key, std::string_view expected, const Json& found) const {
    refuse(key, fmt::format("expected {}, found {}", expected, found.type_name()));
  }

  const Json& object_;
  std::string place_;
};

std::string quoted(const std::string& text) { return printable(shortened(text, 60)); }

// ---------------------------------------------------------------------------------------- context

/// "./build/string_bench" as "string_bench".
std::string program_name(const std::string& executable) {
  const std::string name = executable.substr(executable.find_last_of("/\\") + 1);
  return name.empty() ? "benchmarks" : name;
}

std::vector<CpuCache> caches_of(const Fields& context) {
  std::vector<CpuCache> caches;
  if (!context.has("caches") || !context.json()["caches"].is_array()) return caches;
  for (const Json& item : context.json()["caches"]) {
    const Fields cache(item, "context.caches");
    caches.push_back({cache.text("type"), cache.count("level", 0), cache.count("size", 0),
                      cache.count("num_sharing", 0)});
  }
  return caches;
}

/// "CPU with caches of 32 KiB L1, 1 MiB L2, 32 MiB L3".
std::string cpu_of(const std::vector<CpuCache>& caches) {
  std::vector<std::string> texts;
  for (const CpuCache& cache : caches) {
    if (cache.type == "Instruction") continue;
    texts.push_back(
        fmt::format("{} L{}", format_bytes(static_cast<double>(cache.bytes)), cache.level));
  }
  return texts.empty() ? "unknown CPU"
                       : fmt::format("CPU with caches of {}", fmt::join(texts, ", "));
}

std::optional<std::string> known_text(const Fields& context, const char* key) {
  std::string text = context.text(key);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

Machine machine_of(const Fields& context) {
  Machine machine;
  machine.host = context.text("host_name");
  machine.cores_online = context.count("num_cpus", 0);
  machine.caches = caches_of(context);
  machine.cpu_model = cpu_of(machine.caches);
  if (const int mhz = context.count("mhz_per_cpu", 0); mhz > 0) machine.cpu_mhz = mhz;
  machine.commit = known_text(context, "commit");
  machine.commit_subject = known_text(context, "commit_subject");
  machine.commit_author = known_text(context, "commit_author");
  return machine;
}

/// What --benchmark_context adds beside the commit.
NamedTexts labels_of(const Fields& context) {
  constexpr std::array<std::string_view, 8> known{
      "date",   "host_name",      "executable",   "library_version", "library_build_type",
      "commit", "commit_subject", "commit_author"};
  NamedTexts labels;
  for (const auto& [key, value] : context.json().items()) {
    const bool is_label = std::ranges::find(known, key) == known.end();
    if (is_label && value.is_string()) labels.emplace_back(key, value.get<std::string>());
  }
  return labels;
}

Report report_without_cases(const Fields& context) {
  Report report;
  std::string version = context.text("library_version");
  if (version.starts_with('v')) version.erase(0, 1);
  report.measured_by = version.empty() ? "Google Benchmark" : "Google Benchmark " + version;
  report.version = version.empty() ? "unknown" : version;
  try {
    report.started_utc = utc_of_date(context.text("date"));
  } catch (const UsageError& error) {
    context.refuse("date", error.what());
  }
  report.command_line = {context.text("executable")};
  report.machine = machine_of(context);
  report.labels = labels_of(context);
  return report;
}

// ------------------------------------------------------------------------------------------- rows

/// What a row has beside counters.
constexpr std::array<std::string_view, 18> known_numbers{"family_index",
                                                         "per_family_instance_index",
                                                         "repetitions",
                                                         "repetition_index",
                                                         "threads",
                                                         "iterations",
                                                         "real_time",
                                                         "cpu_time",
                                                         "items_per_second",
                                                         "bytes_per_second",
                                                         "flop_per_second",
                                                         "real_coefficient",
                                                         "cpu_coefficient",
                                                         "rms",
                                                         "label",
                                                         "name",
                                                         "run_name",
                                                         "time_unit"};

/// Seconds in the row's unit of time.
double unit_of(const Fields& row) {
  static const std::map<std::string, double> units{
      {"", 1e-9}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  const std::string unit = row.text("time_unit");
  const auto found = units.find(unit);
  if (found != units.end()) return found->second;
  row.refuse("time_unit",
             fmt::format("'{}' is none of ns, us, ms and s; correct it", quoted(unit)));
}

double time_of(const Fields& row, const char* key) {
  const double time = row.number(key).value_or(std::numeric_limits<double>::quiet_NaN());
  const double seconds = time * unit_of(row);
  if (seconds < 0 || seconds > max_case_seconds) {
    row.refuse(key, fmt::format("{} {} is not a valid time", time, row.text("time_unit")));
  }
  return seconds;
}

NamedNumbers counters_of(const Fields& row) {
  NamedNumbers counters;
  for (const auto& [name, value] : row.json().items()) {
    const bool known = std::ranges::find(known_numbers, name) != known_numbers.end();
    if (!known && value.is_number()) counters.emplace_back(name, value.get<double>());
  }
  return counters;
}

Sample sample_of(const Fields& row, int round) {
  const double seconds = time_of(row, "real_time");
  Sample sample{.seconds = seconds, .wall_seconds = seconds};
  sample.iterations = std::max<std::int64_t>(1, row.count<std::int64_t>("iterations", 1));
  sample.round = round;
  const double cpu_seconds = time_of(row, "cpu_time");
  sample.cpu_seconds = std::isnan(cpu_seconds) ? 0 : cpu_seconds;
  sample.counters = counters_of(row);
  return sample;
}

/// Finds the aggregates among the rows. Versions before 1.5 do not mark them: of "X_mean" and
/// "X_stddev", which every aggregate "X_…" is accompanied by, X is the benchmark.
class Aggregates {
 public:
  explicit Aggregates(const std::vector<Fields>& rows) {
    for (const Fields& row : rows) names_.insert(row.text("name"));
  }

  [[nodiscard]] bool contains(const Fields& row) const {
    if (row.has("run_type")) return row.text("run_type") == "aggregate";
    return is_complexity(row) || !benchmark_of(row).empty();
  }

  /// The benchmark that an aggregate is of; empty where it is unknown.
  [[nodiscard]] std::string benchmark_of(const Fields& row) const {
    if (is_complexity(row)) return {};
    if (row.has("run_name")) return row.text("run_name");
    const std::string name = row.text("name");
    const std::string benchmark = name.substr(0, std::min(name.rfind('_'), name.size()));
    const bool accompanied =
        names_.contains(benchmark + "_mean") && names_.contains(benchmark + "_stddev");
    return benchmark != name && accompanied ? benchmark : std::string();
  }

 private:
  /// Rows about all benchmarks of a family.
  static bool is_complexity(const Fields& row) {
    return row.has("big_o") || row.has("cpu_coefficient") || row.has("rms");
  }

  std::set<std::string> names_;
};

// ------------------------------------------------------------------------------------------ cases

/// The repetitions of one benchmark.
struct Benchmark {
  std::string name;
  std::optional<std::pair<double, double>> instance;  // family and place in it, from 1.5.3 on
  std::set<double> repetitions;                       // that were read
  std::vector<const Fields*> rows;
};

/// Sorts the rows of repetitions by benchmark. Two benchmarks may have one name: their instances
/// differ, or else a repetition comes a second time. The second one gets a number and keeps clear
/// of the names in the file.
class Benchmarks {
 public:
  explicit Benchmarks(std::set<std::string> names) : taken_(std::move(names)) {}

  void add(const Fields& row) {
    const std::string name = row.text("name");
    if (name.empty()) row.refuse("name", "is missing; take the file as the program has written it");
    const auto repetition = row.number("repetition_index");
    Benchmark& benchmark = benchmark_of(name, instance_of(row), repetition);
    if (repetition) benchmark.repetitions.insert(*repetition);
    benchmark.rows.push_back(&row);
  }

  [[nodiscard]] bool has(const std::string& name) const { return places_.contains(name); }
  [[nodiscard]] const std::vector<Benchmark>& list() const { return list_; }

 private:
  using Instance = std::optional<std::pair<double, double>>;

  Benchmark& benchmark_of(const std::string& name, const Instance& instance,
                          std::optional<double> repetition) {
    std::vector<std::size_t>& namesakes = places_[name];
    for (const std::size_t place : namesakes) {
      Benchmark& known = list_[place];
      const bool same = known.instance || instance
                            ? known.instance == instance
                            : place == namesakes.back() &&
                                  !(repetition && known.repetitions.contains(*repetition));
      if (same) return known;
    }
    Benchmark& added = list_.emplace_back();
    added.name = namesakes.empty() ? name : numbered(name, namesakes.size() + 1);
    added.instance = instance;
    namesakes.push_back(list_.size() - 1);
    return added;
  }

  std::string numbered(const std::string& name, std::size_t number) {
    std::string text;
    do {
      text = fmt::format("{} ({})", name, number++);
    } while (!taken_.insert(text).second);
    return text;
  }

  static Instance instance_of(const Fields& row) {
    const auto family = row.number("family_index");
    const auto place = row.number("per_family_instance_index");
    return family && place ? std::optional(std::pair(*family, *place)) : std::nullopt;
  }

  std::set<std::string> taken_;  // names of the file, and those that were given
  std::vector<Benchmark> list_;
  std::map<std::string, std::vector<std::size_t>> places_;  // in the list, by name
};

/// Takes the rate that the program gave, which may be of its CPU time.
void set_throughput(CaseResult& c, const std::vector<const Fields*>& rows) {
  const auto rate_of = [&](const char* key) {
    std::vector<double> rates;
    for (const Fields* row : rows) rates.push_back(row->number(key).value_or(0));
    const bool usable = std::ranges::all_of(rates, [](double rate) { return rate > 0; });
    return usable ? median(rates) : 0.0;
  };
  const double seconds = c.statistics->median;
  const double items = rate_of("items_per_second");
  const double bytes = rate_of("bytes_per_second");
  if (std::isfinite(bytes * seconds)) c.bytes = bytes * seconds;
  c.throughput = items > 0 ? items : bytes;
  if (!(c.throughput > 0) || !std::isfinite(c.throughput * seconds)) c.throughput = 0;
  if (c.throughput == 0) return;
  c.amount = c.throughput * seconds;
  c.amount_unit = items > 0 ? "items" : "B";
}

/// Sets the status of a benchmark that did not end well.
void find_failure(CaseResult& c, const std::vector<const Fields*>& rows) {
  const auto fail = [&](CaseStatus status, std::string why, std::string_view otherwise) {
    c.status = status;
    c.error = why.empty() ? std::string(otherwise) : std::move(why);
  };
  for (const Fields* row : rows) {
    if (row->is_true("error_occurred")) {
      return fail(CaseStatus::failed, row->text("error_message"), "it reported an error");
    }
    if (row->is_true("skipped")) {
      return fail(CaseStatus::skipped, row->text("skip_message"), "it skipped itself");
    }
  }
  const auto is_time = [](const Sample& sample) { return std::isfinite(sample.seconds); };
  if (!std::ranges::all_of(c.samples, is_time)) {
    fail(CaseStatus::failed, {}, "its real_time is no finite number in every repetition");
  }
}

CaseResult named_case(const std::string& name, const std::string& program) {
  CaseResult c;
  c.name = name;
  c.scenario = program;
  auto [family, parameters] = benchmark_name(name);
  c.strategy = std::move(family);
  c.parameters = std::move(parameters);
  return c;
}

CaseResult case_of(const Benchmark& benchmark, const std::string& program, int& round) {
  CaseResult c = named_case(benchmark.name, program);
  c.status = CaseStatus::measured;
  for (const Fields* row : benchmark.rows) c.samples.push_back(sample_of(*row, round++));
  find_failure(c, benchmark.rows);
  if (c.status != CaseStatus::measured) {
    c.samples.clear();
    return c;
  }
  c.statistics = summarise(Samples(c.samples));
  set_throughput(c, benchmark.rows);
  if (std::string label = benchmark.rows.front()->text("label"); !label.empty()) {
    c.notes.emplace_back("label", std::move(label));
  }
  return c;
}

constexpr std::string_view whole_file_remedy =
    "run the program with --benchmark_report_aggregates_only=false "
    "(--benchmark_display_aggregates_only=true shortens only what it prints)";

/// A benchmark of which the file has aggregates only.
CaseResult case_without_samples(const std::string& name, const std::string& program) {
  CaseResult c = named_case(name, program);
  c.status = CaseStatus::skipped;
  c.error = fmt::format("the file has only aggregates of it; {}", whole_file_remedy);
  return c;
}

std::vector<Fields> rows_of(const Json& benchmarks) {
  if (!benchmarks.is_array()) {
    throw UsageError(fmt::format("benchmarks: expected a list, found {}", benchmarks.type_name()));
  }
  std::vector<Fields> rows;
  for (const Json& item : benchmarks) {
    rows.emplace_back(item, fmt::format("benchmarks[{}]", rows.size()));
  }
  if (rows.empty()) {
    throw UsageError("benchmarks: is empty; choose some with the program's --benchmark_filter");
  }
  return rows;
}

}  // namespace

bool is_google_benchmark(const Json& file) {
  return file.is_object() && file.contains("context") && file.contains("benchmarks") &&
         !file.contains("parbench");
}

Report from_google_benchmark(const Json& file) {
  const Fields context(file.at("context"), "context");
  const std::vector<Fields> rows = rows_of(file.at("benchmarks"));
  Report report = report_without_cases(context);
  const std::string program = program_name(context.text("executable"));
  const Aggregates aggregates(rows);
  std::set<std::string> names;
  for (const Fields& row : rows) names.insert({row.text("name"), aggregates.benchmark_of(row)});
  Benchmarks benchmarks(std::move(names));
  std::vector<std::string> of_aggregates;
  for (const Fields& row : rows) {
    if (!aggregates.contains(row)) {
      benchmarks.add(row);
    } else if (std::string name = aggregates.benchmark_of(row); !name.empty()) {
      of_aggregates.push_back(std::move(name));
    }
  }
  if (benchmarks.list().empty()) {
    throw UsageError(fmt::format(
        "benchmarks: has aggregates only, which do not show how much repetitions vary; {}",
        whole_file_remedy));
  }
  int round = 0;
  for (const Benchmark& one : benchmarks.list()) {
    report.cases.push_back(case_of(one, program, round));
  }
  std::set<std::string> without_samples;
  for (const std::string& name : of_aggregates) {
    if (benchmarks.has(name) || !without_samples.insert(name).second) continue;
    report.cases.push_back(case_without_samples(name, program));
  }
  report.complete = std::ranges::all_of(report.cases, has_number);
  check_report(report, "cases");
  return report;
}

}  // namespace parbench::report
