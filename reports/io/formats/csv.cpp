// Writes one line per case, or per row of its calls, by RFC 4180: CRLF, and quotes if needed. Text
// that a spreadsheet would read as a formula gets an apostrophe. Columns have the names of the
// values in the JSON report ("statistics.median_interval.low"), so that the schema describes both,
// and new fields get columns automatically. Lists without names are represented by their length.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "reports/io/formats/format.h"
#include "reports/io/json.h"
#include "reports/model/ceilings.h"
#include "reports/model/fields.h"

namespace parbench::report {

/// Calls of a case, with the rates that `show --calls` shows.
struct CallsOfCase {
  std::string name;
  CallMetrics calls;
  std::optional<double> flops_per_second = {};
  std::optional<double> flops_of_peak = {};
  std::optional<double> bytes_per_second = {};
  std::optional<double> bytes_of_peak = {};
};

void visit_fields(auto& visit, const CallsOfCase& x) {
  visit("case", x.name);
  visit_fields(visit, x.calls);
  visit.optional("flops_per_second", x.flops_per_second);
  visit.optional("flops_of_peak", x.flops_of_peak);
  visit.optional("bytes_per_second", x.bytes_per_second);
  visit.optional("bytes_of_peak", x.bytes_of_peak);
}

namespace {

// ------------------------------------------------------------------------------------ one record

std::string text_of(const std::string& text) { return text; }
std::string text_of(CaseStatus status) { return std::string(to_string(status)); }

template <class T>
requires std::is_enum_v<T> std::string text_of(T value) { return std::string(name_of(value)); }

template <class T>
requires std::is_arithmetic_v<T> std::string text_of(T number) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(number)) return {};
  }
  return fmt::format("{}", number);
}

std::string text_of(const Value& value) {
  return std::visit([](const auto& v) { return text_of(v); }, value);
}

template <class T>
std::string text_of(const std::vector<T>& list) {
  return fmt::format("{}", list.size());
}

/// The cells of a record with the names of their columns. A field without a value has empty cells.
class Cells {
 public:
  template <class Record>
  explicit Cells(const Record& record) {
    visit_fields(*this, record);
  }

  [[nodiscard]] const auto& list() const { return cells_; }

  void operator()(const char* name, const auto& field) { add_at(name, field); }
  void optional(const char* name, const auto& field) {
    const bool outer = std::exchange(blank_, blank_ || is_absent(field));
    add_at(name, field);
    blank_ = outer;
  }

 private:
  void add_at(std::string_view name, const auto& field) {
    const std::size_t outer = path_.size();
    if (!path_.empty()) path_ += '.';
    path_ += name;
    add(field);
    path_.resize(outer);
  }

  template <class T>
  void add(const T& field) {
    if constexpr (requires { visit_fields(*this, field); }) {
      visit_fields(*this, field);
    } else {
      cells_.emplace_back(path_, blank_ ? std::string() : text_of(field));
    }
  }

  template <class T>
  void add(const std::optional<T>& field) {
    add(field.value_or(T{}));
  }

  template <class T>
  void add(const std::vector<std::pair<std::string, T>>& named) {
    for (const auto& [name, value] : named) add_at(name, value);
  }

  void add(const std::vector<DeviceMemory>& devices) {
    for (const DeviceMemory& memory : devices) add_at(memory.device, memory.bytes);
  }

  void add(const std::vector<Metric>& metrics) {
    for (const Metric& metric : metrics) add_at(metric.name, metric);
  }

  void add(const Metric& metric) {  // the column has the metric's name
    add_at("value", metric.value);
    optional("interval", metric.interval);
  }

  std::vector<std::pair<std::string, std::string>> cells_;
  std::string path_;    // path of the visited field
  bool blank_ = false;  // whether the visited field is inside an absent value
};

// ----------------------------------------------------------------------------------- all records

bool is_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.find_first_of("0123456789.") != 0) return false;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return end == text.data() + text.size() && error != std::errc::invalid_argument;
}

/// Returns whether a spreadsheet would read a cell as a formula.
bool is_formula(std::string_view cell) {
  constexpr std::string_view beginnings = "=+-@\t\r";
  return cell.find_first_of(beginnings) == 0 && !is_number(cell);
}

/// The union of the records' columns; each column follows the one that precedes it in the first
/// record that has it.
template <class Record>
class Columns {
 public:
  explicit Columns(const std::vector<Record>& records) {
    add(Record{});
    for (const Record& record : records) add(record);
  }

  [[nodiscard]] std::string header() const {
    std::string line;
    for (const std::string& name : names_) append(line, name);
    return ended(std::move(line));
  }

  [[nodiscard]] std::string line_of(const Record& record) const {
    const Cells cells(record);
    std::unordered_map<std::string_view, std::string_view> values;
    for (const auto& [column, value] : cells.list()) values[column] = value;
    std::string line;
    for (const std::string& name : names_) {
      const auto value = values.find(name);
      append(line, value == values.end() ? std::string_view() : value->second);
    }
    return ended(std::move(line));
  }

 private:
  void add(const Record& record) {
    auto next = names_.begin();
    const Cells cells(record);
    for (const auto& [column, value] : cells.list()) {
      const auto [known, is_new] = columns_.try_emplace(column);
      if (is_new) known->second = names_.insert(next, column);
      next = std::next(known->second);
    }
  }

  static void append(std::string& line, std::string_view cell) {
    const bool quoted = cell.find_first_of(",\"\r\n") != std::string_view::npos;
    if (quoted) line += '"';
    if (is_formula(cell)) line += '\'';
    for (const char letter : cell) {
      line += letter;
      if (letter == '"') line += letter;
    }
    if (quoted) line += '"';
    line += ',';
  }

  static std::string ended(std::string line) {
    line.replace(line.size() - 1, 1, "\r\n");  // replaces the comma after the last cell
    return line;
  }

  std::list<std::string> names_;
  std::unordered_map<std::string, std::list<std::string>::iterator> columns_;
};

template <class Record>
std::string table_of(const std::vector<Record>& records) {
  const Columns<Record> columns(records);
  std::string text = columns.header();
  for (const Record& record : records) text += columns.line_of(record);
  return text;
}

std::optional<double> rate(double amount, double seconds) {
  if (!(amount > 0) || !(seconds > 0)) return std::nullopt;
  return amount / seconds;
}

std::optional<double> quotient(std::optional<double> value, std::optional<double> whole) {
  if (!value || !whole) return std::nullopt;
  return *value / *whole;
}

}  // namespace

std::string csv_text(const Report& report) { return table_of(report.cases); }

std::string csv_of_calls(const Report& report) {
  std::vector<CallsOfCase> rows;
  for (const CaseResult& c : report.cases) {
    if (!c.profile) continue;
    const Ceilings ceilings = common_ceilings(report, c);
    for (const CallMetrics& calls : c.profile->metrics.calls) {
      CallsOfCase& row = rows.emplace_back(CallsOfCase{.name = c.name, .calls = calls});
      row.flops_per_second = rate(calls.flops, calls.seconds);
      row.flops_of_peak = quotient(row.flops_per_second, ceilings.flops(calls.kind));
      row.bytes_per_second = rate(calls.bytes, calls.seconds);
      row.bytes_of_peak = quotient(row.bytes_per_second, ceilings.bytes(calls.kind));
    }
  }
  return table_of(rows);
}

}  // namespace parbench::report
