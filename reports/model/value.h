// Values of a report that have a name.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace parbench::report {

using Value = std::variant<std::int64_t, double, std::string>;
using NamedValues = std::vector<std::pair<std::string, Value>>;
using NamedNumbers = std::vector<std::pair<std::string, double>>;
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// Returns a parameter's value as every table shows it.
[[nodiscard]] std::string value_text(const Value& value);

}  // namespace parbench::report
