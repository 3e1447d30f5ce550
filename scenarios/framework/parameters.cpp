// Parses axis values strictly, and describes allowed values.
#include "scenarios/framework/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/number.h"
#include "scenarios/framework/suggest.h"

namespace parbench {
namespace {

constexpr std::int64_t largest_integer = 1'000'000'000'000'000;  // also exact as a double
constexpr std::int64_t shortest_duration = 1;                    // nanoseconds

struct Unit {
  std::string_view suffix;
  std::int64_t nanoseconds;
};
constexpr std::array units{Unit{"ns", 1}, Unit{"us", 1'000}, Unit{"µs", 1'000},
                           Unit{"ms", 1'000'000}, Unit{"s", 1'000'000'000}};

[[noreturn]] void reject(const Axis& axis, std::string_view text, std::string_view why) {
  throw UsageError(
      fmt::format("{} '{}' {}; allowed: {}", spelled(axis.name), text, why, allowed_values(axis)));
}

bool has_upper_limit(const Axis& axis) { return axis.max >= axis.min; }

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns the value of a text that is a finite decimal number; nothing for other texts, such as
/// numbers with '+', with spaces or in hexadecimal.
std::optional<double> to_real(std::string_view text) {
  const auto value = number_in<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

void check_range(const Axis& axis, std::string_view text, double value) {
  if (value < axis.min) reject(axis, text, "is too small");
  if (has_upper_limit(axis) && value > axis.max) reject(axis, text, "is too large");
}

/// Parses the whole number `part` of a value `text`, up to `largest_integer` in magnitude.
std::int64_t to_integer(const Axis& axis, std::string_view text, std::string_view part) {
  const bool negative = part.starts_with('-');
  if (!is_digits(negative ? part.substr(1) : part)) reject(axis, text, "is not a whole number");
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  const bool overflow = error == std::errc::result_out_of_range;
  if (overflow || value > largest_integer || value < -largest_integer) {
    reject(axis, text, negative ? "is too small" : "is too large");
  }
  return value;
}

std::int64_t read_integer(const Axis& axis, std::string_view text, std::string_view part) {
  const std::int64_t value = to_integer(axis, text, part);
  check_range(axis, text, static_cast<double>(value));
  return value;
}

constexpr std::array<std::string_view, 4> byte_units{"KiB", "MiB", "GiB", "TiB"};
constexpr std::int64_t bytes_base = 1024;

/// Parses a number of bytes, with or without a binary unit.
std::int64_t read_bytes(const Axis& axis, std::string_view text) {
  std::int64_t scale = 1;
  for (const std::string_view suffix : byte_units) {
    scale *= bytes_base;
    if (!text.ends_with(suffix)) continue;
    const std::int64_t number = to_integer(axis, text, text.substr(0, text.size() - suffix.size()));
    check_range(axis, text, static_cast<double>(number) * static_cast<double>(scale));
    if (number > largest_integer / scale) reject(axis, text, "is too large");
    return number * scale;
  }
  return read_integer(axis, text, text);
}

double read_real(const Axis& axis, std::string_view text, std::string_view part) {
  const auto value = to_real(part);
  if (!value) reject(axis, text, "is not a number");
  check_range(axis, text, *value);
  return *value == 0 ? 0.0 : *value;  // drops the sign of "-0", which would name another case
}

/// Converts the number before a unit to exact nanoseconds.
std::int64_t scale_duration(const Axis& axis, std::string_view text, double number, Unit unit) {
  const double exact = number * static_cast<double>(unit.nanoseconds);
  if (std::abs(exact) > static_cast<double>(largest_integer)) {
    reject(axis, text, number < 0 ? "is too small" : "is too large");
  }
  const double rounded = std::round(exact);
  if (std::abs(exact - rounded) > 1e-6 * std::max(1.0, std::abs(exact))) {
    reject(axis, text, "is not a whole number of nanoseconds");
  }
  check_range(axis, text, rounded);
  if (rounded < static_cast<double>(shortest_duration) && axis.min > 0) {
    reject(axis, text, "is too small");
  }
  return static_cast<std::int64_t>(rounded);
}

struct Duration {
  double number = 0;
  Unit unit;
};

std::optional<Duration> to_duration(std::string_view text) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.suffix)) continue;
    const auto number = to_real(text.substr(0, text.size() - unit.suffix.size()));
    if (number) return Duration{*number, unit};
  }
  return std::nullopt;
}

std::int64_t read_duration(const Axis& axis, std::string_view text) {
  if (const auto duration = to_duration(text)) {
    return scale_duration(axis, text, duration->number, duration->unit);
  }
  if (to_real(text)) reject(axis, text, "has no unit");
  reject(axis, text, "is not a duration");
}

/// Returns whether a text ends with a suffix, ignoring case.
bool ends_like(std::string_view text, std::string_view suffix) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return text.size() >= suffix.size() &&
         std::ranges::equal(text.substr(text.size() - suffix.size()), suffix, {}, lower, lower);
}

std::string read_choice(const Axis& axis, std::string_view text) {
  if (!axis.file_suffix.empty() && text.ends_with(axis.file_suffix)) return std::string(text);
  if (std::ranges::find(axis.choices, text) != axis.choices.end()) return std::string(text);
  if (!axis.file_suffix.empty() && ends_like(text, axis.file_suffix)) {
    reject(axis, text, fmt::format("does not end with '{}'; rename the file", axis.file_suffix));
  }
  throw UsageError(fmt::format("{} '{}' is not a choice; allowed: {}{}", spelled(axis.name), text,
                               allowed_values(axis), did_you_mean(text, axis.choices)));
}

Value read_sizes(const Axis& axis, std::string_view text) {
  if (text.find('+') == std::string_view::npos) return read_integer(axis, text, text);
  std::string_view rest = text;
  while (true) {
    const std::size_t plus = rest.find('+');
    read_integer(axis, text, rest.substr(0, plus));
    if (plus == std::string_view::npos) return std::string(text);
    rest.remove_prefix(plus + 1);
  }
}

std::string range_text(const Axis& axis, auto format) {
  if (has_upper_limit(axis)) {
    return fmt::format("from {} to {}", format(axis.min), format(axis.max));
  }
  return fmt::format("of at least {}", format(axis.min));
}

std::string number_text(double value) { return fmt::format("{:.15g}", value); }

/// Returns a number of bytes in the largest unit of which it is a multiple.
std::string bytes_text(double bytes) {
  auto count = static_cast<std::int64_t>(bytes);
  std::string_view unit;
  for (const std::string_view larger : byte_units) {
    if (count == 0 || count % bytes_base != 0) break;
    count /= bytes_base;
    unit = larger;
  }
  return fmt::format("{}{}", count, unit);
}

std::string duration_text(double nanoseconds) {
  constexpr std::array descending{Unit{"s", 1'000'000'000}, Unit{"ms", 1'000'000},
                                  Unit{"us", 1'000}};
  for (const Unit& unit : descending) {
    const auto scale = static_cast<double>(unit.nanoseconds);
    if (nanoseconds >= scale) return number_text(nanoseconds / scale) + std::string(unit.suffix);
  }
  return number_text(nanoseconds) + "ns";
}

const Value& require(const Parameters& parameters, std::string_view name) {
  const Value* value = parameters.find(name);
  if (value == nullptr) throw std::out_of_range(fmt::format("no parameter named '{}'", name));
  return *value;
}

}  // namespace

std::string to_string(const Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>) {
          return held;
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

void Parameters::put(Parameter parameter) {
  const auto found = std::ranges::find(values_, parameter.name, &Parameter::name);
  if (found != values_.end()) {
    *found = std::move(parameter);
  } else {
    values_.push_back(std::move(parameter));
  }
}

void Parameters::set(std::string name, Value value) {
  put({.name = std::move(name), .value = std::move(value)});
}

void Parameters::imply(std::string name, Value value) {
  put({.name = std::move(name), .value = std::move(value), .implied = true});
}

void Parameters::state(std::string_view name) {
  const auto found = std::ranges::find(values_, name, &Parameter::name);
  if (found != values_.end()) found->implied = false;
}

const Value* Parameters::find(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &Parameter::name);
  return found == values_.end() ? nullptr : &found->value;
}

std::int64_t Parameters::integer(std::string_view name) const {
  return std::get<std::int64_t>(require(*this, name));
}

double Parameters::real(std::string_view name) const {
  return std::get<double>(require(*this, name));
}

const std::string& Parameters::text(std::string_view name) const {
  return std::get<std::string>(require(*this, name));
}

std::int64_t Parameters::integer_or(std::string_view name, std::int64_t fallback) const {
  return find(name) == nullptr ? fallback : integer(name);
}

Value Parameters::value_or(std::string_view name, const Value& fallback) const {
  const Value* value = find(name);
  return value == nullptr ? fallback : *value;
}

std::string Parameters::text_or(std::string_view name, std::string_view fallback) const {
  return find(name) == nullptr ? std::string(fallback) : text(name);
}

bool Axis::applies_to(std::string_view strategy) const {
  return strategies.empty() || std::ranges::find(strategies, strategy) != strategies.end();
}

std::string spelled(std::string_view name) {
  const bool is_argument = std::ranges::all_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
  return fmt::format("{}{}", is_argument || name.starts_with('-') ? "" : "--", name);
}

Value parse_value(const Axis& axis, std::string_view text) {
  if (text.empty()) reject(axis, text, "is empty");
  switch (axis.kind) {
    case AxisKind::integer:
      return read_integer(axis, text, text);
    case AxisKind::real:
      return read_real(axis, text, text);
    case AxisKind::percent:
      return read_real(axis, text, text.substr(0, text.size() - (text.ends_with('%') ? 1 : 0)));
    case AxisKind::duration:
      return duration_text(static_cast<double>(read_duration(axis, text)));
    case AxisKind::bytes:
      return bytes_text(static_cast<double>(read_bytes(axis, text)));
    case AxisKind::choice:
      return read_choice(axis, text);
    case AxisKind::sizes:
      return read_sizes(axis, text);
    case AxisKind::text:
      return std::string(text);
  }
  throw std::logic_error("axis of an unknown kind");
}

void check_value(const Axis& axis, const Value& value) {
  const std::string text = to_string(value);
  if (parse_value(axis, text) != value) reject(axis, text, "has another type");
}

std::int64_t nanoseconds_of(std::string_view duration) {
  const auto parts = to_duration(duration);
  if (!parts) throw std::invalid_argument(fmt::format("'{}' is not a duration", duration));
  return std::llround(parts->number * static_cast<double>(parts->unit.nanoseconds));
}

std::int64_t bytes_of(std::string_view text) {
  const Axis any{.name = "size", .description = {}, .kind = AxisKind::bytes, .min = 0, .max = -1};
  return read_bytes(any, text);
}

std::string allowed_values(const Axis& axis) {
  switch (axis.kind) {
    case AxisKind::integer:
      return "whole numbers " + range_text(axis, number_text);
    case AxisKind::real:
    case AxisKind::percent:
      return "numbers " + range_text(axis, number_text);
    case AxisKind::duration:
      return "durations with a unit (ns, us, ms, s) " + range_text(axis, duration_text);
    case AxisKind::bytes:
      return fmt::format("whole numbers of bytes, or of {}, {}", fmt::join(byte_units, ", "),
                         range_text(axis, bytes_text));
    case AxisKind::choice:
      return fmt::format("{}{}", fmt::join(axis.choices, ", "),
                         axis.file_suffix.empty() ? "" : ", or a file *" + axis.file_suffix);
    case AxisKind::sizes:
      return "whole numbers " + range_text(axis, number_text) + ", or several in one case as a+b+c";
    case AxisKind::text:
      return "text";
  }
  throw std::logic_error("axis of an unknown kind");
}

}  // namespace parbench
