// Named values of a report.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace parbench::report {

using Value = std::variant<std::int64_t, double, std::string>;
using NamedValues = std::vector<std::pair<std::string, Value>>;
using NamedNumbers = std::vector<std::pair<std::string, double>>;
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// Finds a value by name; null if there is none.
template <class T>
[[nodiscard]] const T* find_value(const std::vector<std::pair<std::string, T>>& values,
                                  std::string_view name) {
  const auto found = std::ranges::find(values, name, &std::pair<std::string, T>::first);
  return found == values.end() ? nullptr : &found->second;
}

/// Returns a value as tables show it.
[[nodiscard]] std::string value_text(const Value& value);

}  // namespace parbench::report
