// Visits all text of a report by the list in fields.h.
#include "reports/model/printable.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "reports/model/fields.h"
#include "reports/text/text.h"

namespace parbench::report {
namespace {

/// Names of fields with prose, in which line breaks stay.
constexpr std::array<std::string_view, 5> prose{"error", "question", "text", "detail", "warnings"};

class Cleaner {
 public:
  void operator()(std::string_view name, auto& field) {
    keep_line_breaks_ = std::ranges::find(prose, name) != prose.end();
    clean(field);
  }
  void optional(std::string_view name, auto& field) { (*this)(name, field); }

 private:
  void clean(std::string& text) { text = printable(text, keep_line_breaks_); }

  void clean(Value& value) {
    if (auto* text = std::get_if<std::string>(&value)) clean(*text);
  }

  template <class T>
  void clean(std::vector<T>& list) {
    if constexpr (!std::is_arithmetic_v<T>) {
      for (T& item : list) clean(item);
    }
  }

  template <class T>
  void clean(std::optional<T>& value) {
    if (value) clean(*value);
  }

  template <class T>
  void clean(std::pair<std::string, T>& named) {
    clean(named.first);
    clean(named.second);
  }

  template <class T>
  void clean(T& field) {
    if constexpr (requires { visit_fields(*this, field); }) visit_fields(*this, field);
  }

  bool keep_line_breaks_ = false;
};

}  // namespace

Report printable(const Report& report) {
  Report result = report;
  Cleaner cleaner;
  visit_fields(cleaner, result);
  return result;
}

}  // namespace parbench::report
