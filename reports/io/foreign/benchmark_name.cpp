// Splits the names of benchmarks.
#include "reports/io/foreign/benchmark_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/number.h"

namespace parbench::report {
namespace {

constexpr std::array<std::string_view, 3> clocks{"real_time", "manual_time", "process_time"};

std::vector<std::string_view> components(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t slash = name.find('/');
    parts.push_back(name.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    name.remove_prefix(slash + 1);
  }
}

/// Returns the integer that the text denotes. Text in another form, such as "08" or "0.5", stays
/// text, so that different names stay different.
Value value_of(std::string_view text) {
  const auto number = number_in<std::int64_t>(text);
  if (number && fmt::to_string(*number) == text) return *number;
  return std::string(text);
}

/// Returns the parameter in a component of a name; nothing if the component is a part of the
/// family's name. `index`: the number of parameters before the component.
std::optional<NamedValues::value_type> parameter_of(std::string_view part, std::size_t index) {
  if (std::ranges::find(clocks, part) != clocks.end()) {
    return std::pair("time", Value(std::string(part)));
  }
  const std::size_t colon = part.find(':');
  if (colon == std::string_view::npos) {
    Value value = value_of(part);
    if (!std::holds_alternative<std::int64_t>(value)) return std::nullopt;
    return std::pair(fmt::format("arg{}", index), std::move(value));
  }
  const std::string_view text = part.substr(colon + 1);
  // not a parameter: "a::b"
  if (colon == 0 || text.empty() || text.front() == ':') return std::nullopt;
  return std::pair(std::string(part.substr(0, colon)), value_of(text));
}

}  // namespace

BenchmarkName benchmark_name(const std::string& name) {
  const std::vector<std::string_view> parts = components(name);
  BenchmarkName result{std::string(parts.front()), {}};
  for (const std::string_view part : std::span(parts).subspan(1)) {
    auto parameter = parameter_of(part, result.parameters.size());
    const bool named_twice =
        parameter && find_value(result.parameters, parameter->first) != nullptr;
    if (named_twice || (!parameter && !result.parameters.empty())) return {name, {}};
    if (parameter) {
      result.parameters.push_back(std::move(*parameter));
    } else {
      result.family.append("/").append(part);
    }
  }
  return result;
}

}  // namespace parbench::report
