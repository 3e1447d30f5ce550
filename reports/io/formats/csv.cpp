// One line for each case, by RFC 4180: CRLF, and quotes round whatever needs them. A column is
// called what the value is called in the JSON report ("statistics.median_interval.low"), so that
// the schema describes both, and a new field has its column by itself. Of lists there is the number
// of their items.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <list>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "reports/io/formats/format.h"
#include "reports/io/json.h"
#include "reports/model/fields.h"

namespace parbench::report {
namespace {

// -------------------------------------------------------------------------------------- one case

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

/// The cells of a case with the names of their columns. Every field has its cells, whether there is
/// a value or not.
class Cells {
 public:
  explicit Cells(const CaseResult& c) { visit_fields(*this, c); }

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

  void add(const Metric& metric) {  // its name is the column's
    add_at("value", metric.value);
    optional("interval", metric.interval);
  }

  std::vector<std::pair<std::string, std::string>> cells_;
  std::string path_;    // of the field that is being visited
  bool blank_ = false;  // inside something that is not there
};

// ------------------------------------------------------------------------------------- all cases

/// The columns that the cases have between them, each behind the one that its case names before it.
class Columns {
 public:
  explicit Columns(const std::vector<CaseResult>& cases) {
    add(CaseResult{});
    for (const CaseResult& c : cases) add(c);
  }

  [[nodiscard]] std::string header() const {
    std::string line;
    for (const std::string& name : names_) append(line, name);
    return ended(std::move(line));
  }

  [[nodiscard]] std::string line_of(const CaseResult& c) const {
    const Cells cells(c);
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
  void add(const CaseResult& c) {
    auto behind = names_.begin();
    const Cells cells(c);
    for (const auto& [column, value] : cells.list()) {
      const auto [known, is_new] = places_.try_emplace(column);
      if (is_new) known->second = names_.insert(behind, column);
      behind = std::next(known->second);
    }
  }

  static void append(std::string& line, std::string_view cell) {
    const bool quoted = cell.find_first_of(",\"\r\n") != std::string_view::npos;
    if (quoted) line += '"';
    for (const char letter : cell) {
      line += letter;
      if (letter == '"') line += letter;
    }
    if (quoted) line += '"';
    line += ',';
  }

  static std::string ended(std::string line) {
    line.replace(line.size() - 1, 1, "\r\n");  // the comma behind the last cell
    return line;
  }

  std::list<std::string> names_;
  std::unordered_map<std::string, std::list<std::string>::iterator> places_;
};

}  // namespace

std::string csv_text(const Report& report) {
  const Columns columns(report.cases);
  std::string text = columns.header();
  for (const CaseResult& c : report.cases) text += columns.line_of(c);
  return text;
}

}  // namespace parbench::report
