// Writes a report as JSON and reads it, using the list of fields in fields.h.
#include "reports/io/json.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/base/error.h"
#include "reports/io/google_benchmark.h"
#include "reports/model/fields.h"
#include "reports/text/text.h"
#include "reports/text/utc.h"

namespace parbench::report {
namespace {

constexpr std::array<std::pair<CaseStatus, std::string_view>, 4> status_names{
    {{CaseStatus::measured, "measured"},
     {CaseStatus::failed, "failed"},
     {CaseStatus::skipped, "skipped"},
     {CaseStatus::not_run, "not_run"}}};

/// Version of files of peaks; increases when an older reader would misread them.
constexpr int peaks_version = 1;

// The values of the enumerations of a report, for reading their names.
constexpr const auto& values_of(TaskKind /*kind*/) { return task_kinds; }
constexpr const auto& values_of(SubmitMode /*mode*/) { return submit_modes; }
constexpr const auto& values_of(StreamKind /*kind*/) { return stream_kinds; }
constexpr const auto& values_of(Role /*role*/) { return known_roles; }

template <class T>
concept Enumeration = requires(T value) {
  values_of(value);
};

template <class T>
concept Scalar = std::is_arithmetic_v<T> || std::same_as<T, std::string>;

/// A struct that is read and written field by field.
template <class T>
concept Record = std::is_class_v<T> && !std::same_as<T, std::string>;

// ---------------------------------------------------------------------------------------- writing

Json write(const Scalar auto& value) { return value; }

Json write(CaseStatus status) { return to_string(status); }

Json write(Enumeration auto value) { return name_of(value); }

Json write(const Value& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

template <Record T>
Json write(const T& fields);

template <class T>
Json write(const std::optional<T>& value) {
  return write(*value);
}

template <class T>
Json write(const std::vector<T>& list) {
  Json array = Json::array();
  for (const T& item : list) array.push_back(write(item));
  return array;
}

template <class T>
Json write(const std::vector<std::pair<std::string, T>>& named) {
  Json object = Json::object();
  for (const auto& [name, value] : named) object[name] = write(value);
  return object;
}

struct ObjectWriter {
  Json object = Json::object();

  void operator()(const char* name, const auto& field) { object[name] = write(field); }
  void optional(const char* name, const auto& field) {
    if (!is_absent(field)) object[name] = write(field);
  }
};

template <Record T>
Json write(const T& fields) {
  ObjectWriter writer;
  visit_fields(writer, fields);
  return std::move(writer.object);
}

void replace_non_finite(Json& json) {
  if (json.is_structured()) {
    for (Json& child : json) replace_non_finite(child);
  } else if (json.is_number_float() && !std::isfinite(json.get<double>())) {
    json = nullptr;
  }
}

// ---------------------------------------------------------------------------------------- reading

/// Returns a name for a message: short and without NUL bytes, at which a message would end.
std::string brief_name(std::string_view name) { return printable(shortened(name, 100)); }

/// The reader's position in the file, for messages. A linked list, so that no text is created
/// unless an error occurs.
struct JsonPath {
  const JsonPath* parent = nullptr;
  std::string_view name;
  std::size_t index = 0;

  [[nodiscard]] std::string text() const {
    if (!parent) return std::string(name);
    if (name.empty()) return fmt::format("{}[{}]", parent->text(), index);
    return fmt::format("{}.{}", parent->text(), brief_name(name));
  }
};

[[noreturn]] void wrong(const JsonPath& path, std::string_view expected, const Json& found) {
  throw UsageError(
      fmt::format("{}: expected {}, found {}", path.text(), expected, found.type_name()));
}

void read(bool& value, const Json& json, const JsonPath& path) {
  if (!json.is_boolean()) wrong(path, "true or false", json);
  value = json.get<bool>();
}

void read(double& value, const Json& json, const JsonPath& path) {
  if (!json.is_number() && !json.is_null()) wrong(path, "a number", json);
  value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

void read(std::string& value, const Json& json, const JsonPath& path) {
  if (!json.is_string()) wrong(path, "text", json);
  value = json.get<std::string>();
}

template <std::integral T>
void read(T& value, const Json& json, const JsonPath& path) {
  if (!json.is_number_integer()) wrong(path, "a whole number", json);
  const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                              : std::in_range<T>(json.get<std::int64_t>());
  if (!fits) throw UsageError(fmt::format("{}: {} is out of range", path.text(), json.dump()));
  value = json.get<T>();
}

void read(CaseStatus& status, const Json& json, const JsonPath& path) {
  for (const auto& [value, name] : status_names) {
    if (json == name) {
      status = value;
      return;
    }
  }
  wrong(path, "measured, failed, skipped or not_run", json);
}

template <Enumeration E>
void read(E& value, const Json& json, const JsonPath& path) {
  std::vector<std::string_view> names;
  for (const E known : values_of(value)) {
    names.push_back(name_of(known));
    if (json != names.back()) continue;
    value = known;
    return;
  }
  wrong(path, fmt::format("{}", fmt::join(names, " or ")), json);
}

void read(Value& value, const Json& json, const JsonPath& path) {
  if (json.is_number_integer()) {
    read(value.emplace<std::int64_t>(), json, path);
  } else if (json.is_string()) {
    value = json.get<std::string>();
  } else {
    read(value.emplace<double>(), json, path);
  }
}

template <Record T>
void read(T& fields, const Json& json, const JsonPath& path);

template <class T>
void read(std::optional<T>& value, const Json& json, const JsonPath& path) {
  if (json.is_null()) return;
  read(value.emplace(), json, path);
}

template <class T>
void read(std::vector<T>& list, const Json& json, const JsonPath& path) {
  if (!json.is_array()) wrong(path, "a list", json);
  list.reserve(json.size());
  for (const Json& item : json) {
    const JsonPath here{&path, {}, list.size()};
    read(list.emplace_back(), item, here);
  }
}

template <class T>
void read(std::vector<std::pair<std::string, T>>& named, const Json& json, const JsonPath& path) {
  if (!json.is_object()) wrong(path, "an object", json);
  for (const auto& [name, item] : json.items()) {
    const JsonPath here{&path, name};
    read(named.emplace_back(name, T{}).second, item, here);
  }
}

struct Reader {
  const Json& object;
  const JsonPath& path;

  void operator()(const char* name, auto& field) const {
    if (!optional(name, field)) {
      throw UsageError(fmt::format("{}: \"{}\" is missing", path.text(), name));
    }
  }
  bool optional(const char* name, auto& field) const {
    const auto found = object.find(name);
    if (found == object.end()) return false;
    read(field, *found, JsonPath{&path, name});
    return true;
  }
};

template <Record T>
void read(T& fields, const Json& json, const JsonPath& path) {
  if (!json.is_object()) wrong(path, "an object", json);
  const Reader reader{json, path};
  visit_fields(reader, fields);
}

void check_version(const Json& parbench) {
  const JsonPath path{nullptr, "parbench"};
  int version = 0;
  if (!parbench.is_object()) wrong(path, "an object", parbench);
  Reader{parbench, path}("schema_version", version);
  if (version == schema_version) return;
  throw UsageError(
      fmt::format("it has schema version {}, this program reads version {}: use the {} version of "
                  "parbench that wrote it",
                  version, schema_version, version > schema_version ? "newer" : "older"));
}

/// Throws UsageError unless the start time is valid; files of other programs may lack it. Histories
/// sort reports by start time.
void check_start(const Report& report) {
  if (report.started_utc.empty() && !report.measured_by.empty()) return;
  try {
    static_cast<void>(seconds_of_utc(report.started_utc));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("parbench.started_utc: {}", error.what()));
  }
}

void check_index(int index, std::size_t count, const JsonPath& path, std::string_view what) {
  if (index >= 0 && static_cast<std::size_t>(index) < count) return;
  throw UsageError(
      fmt::format("{}: {} {} does not exist; there are {}", path.text(), what, index, count));
}

/// Throws UsageError unless a timeline's graph is valid, the indices of its calls exist, and no
/// call begins before the timeline or ends before its own begin: views and metrics do not check
/// this.
void check_timeline(const Timeline& timeline, const JsonPath& path) {
  PlanGraph graph;
  graph.lanes = timeline.graph.lanes;
  try {
    for (const Task& task : timeline.graph.tasks) (void)graph.add_task(task);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}.graph: {}", path.text(), error.what()));
  }
  for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
    const TimedCall& call = timeline.calls[i];
    const JsonPath list{&path, "calls"};
    const JsonPath here{&list, {}, i};
    check_index(call.task, graph.tasks.size(), here, "task");
    check_index(call.lane, graph.lanes.size(), here, "lane");
    if (call.ran.begin >= timeline.begin && call.ran.end >= call.ran.begin) continue;
    throw UsageError(fmt::format(
        "{}: runs from {} to {} ns; a call must begin within the timeline and before its own end",
        here.text(), call.ran.begin, call.ran.end));
  }
}

void check_timelines(const std::vector<CaseResult>& cases, std::string_view path) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!cases[i].profile || !cases[i].profile->timeline) continue;
    check_timeline(*cases[i].profile->timeline,
                   JsonPath{nullptr, fmt::format("{}[{}].profile.timeline", path, i)});
  }
}

/// Throws UsageError unless the names are unique: they identify cases and rows.
void check_names(const std::vector<CaseResult>& cases, std::string_view path) {
  std::unordered_map<std::string_view, std::size_t> indices;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto [known, is_new] = indices.emplace(cases[i].name, i);
    if (is_new) continue;
    throw UsageError(
        fmt::format("{}[{}].name: '{}' is the name of cases[{}] as well; keep one of the two", path,
                    i, brief_name(cases[i].name), known->second));
  }
}

/// Throws UsageError for times below 0 or above `max_case_seconds`. Accepts NaN, which all users
/// handle.
void check_times(const std::vector<CaseResult>& cases, std::string_view path) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto check_time = [&](double seconds, std::string_view what) {
      if (std::isnan(seconds) || (seconds >= 0 && seconds <= max_case_seconds)) return;
      throw UsageError(
          fmt::format("{}[{}].{}: {} is not a valid time in seconds", path, i, what, seconds));
    };
    if (const auto& statistics = cases[i].statistics) {
      check_time(statistics->median, "statistics.median");
      check_time(statistics->mean, "statistics.mean");
      check_time(statistics->min, "statistics.min");
      check_time(statistics->max, "statistics.max");
    }
    for (const Sample& sample : cases[i].samples) check_time(sample.seconds, "samples");
  }
}

/// Limits the size of tables, above all CSV: a table has a row per case and a column for most of
/// the names below, so a small file may become a huge table. Also limits the names because they are
/// searched linearly.
void check_table_size(const std::vector<CaseResult>& cases, std::string_view path) {
  constexpr std::size_t max_names = 1'000;
  constexpr std::size_t max_cells = 10'000'000;
  std::unordered_set<std::string_view> names;
  for (const CaseResult& c : cases) {
    names.insert(c.scenario);
    for (const auto& [name, value] : c.parameters) names.insert(name);
    for (const auto& [name, value] : c.hidden_parameters) names.insert(name);
    for (const Metric& metric : c.metrics) names.insert(metric.name);
    for (const DeviceMemory& memory : c.memory) names.insert(memory.device);
    for (const auto& [name, text] : c.notes) names.insert(name);
  }
  if (names.size() <= max_names && cases.size() * names.size() <= max_cells) return;
  throw UsageError(fmt::format(
      "{}: {} cases name {} scenarios, parameters, metrics, devices and notes; tables are made of "
      "at most {} names and {} cells, use a report of fewer cases",
      path, cases.size(), names.size(), max_names, max_cells));
}

}  // namespace

std::string_view to_string(CaseStatus status) {
  for (const auto& [value, name] : status_names) {
    if (value == status) return name;
  }
  throw Error("a case has an unknown status");
}

Json to_json(const Report& report) {
  ObjectWriter parbench;
  parbench("schema_version", schema_version);
  visit_fields(parbench, report);
  Json file{{"context", google_benchmark_context(report)},
            {"benchmarks", google_benchmark_rows(report)},
            {"parbench", std::move(parbench.object)}};
  replace_non_finite(file);
  return file;
}

Report from_json(const Json& file) {
  const auto parbench = file.is_object() ? file.find("parbench") : file.end();
  if (parbench == file.end()) {
    throw UsageError(
        "it has no \"parbench\" object: it was not written by parbench, nor by Google Benchmark, "
        "whose files have \"context\" and \"benchmarks\"");
  }
  check_version(*parbench);
  Report report;
  read(report, *parbench, JsonPath{nullptr, "parbench"});
  check_report(report);
  return report;
}

void check_report(const Report& report, std::string_view path) {
  check_start(report);
  check_names(report.cases, path);
  check_times(report.cases, path);
  check_timelines(report.cases, path);
  check_table_size(report.cases, path);
}

Json to_json(const KnownPeaks& known) {
  ObjectWriter file;
  file("peaks_version", peaks_version);
  visit_fields(file, known);
  replace_non_finite(file.object);
  return std::move(file.object);
}

KnownPeaks peaks_from_json(const Json& file) {
  const JsonPath path{nullptr, "peaks"};
  if (!file.is_object()) wrong(path, "an object", file);
  int version = 0;
  Reader{file, path}("peaks_version", version);
  if (version != peaks_version) {
    throw UsageError(fmt::format("it has version {} of peaks, this program reads version {}",
                                 version, peaks_version));
  }
  KnownPeaks known;
  read(known, file, path);
  return known;
}

std::string to_text(const Json& file) {
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace parbench::report
