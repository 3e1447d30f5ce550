// Formats values.
#include "reports/model/value.h"

#include <fmt/format.h>

#include "kernels/base/units/units.h"

namespace parbench::report {

std::string value_text(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return format_number(*real);
  return std::get<std::string>(value);
}

}  // namespace parbench::report
