// Typed parameters of a case, and the axes that define them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scenarios/plan/role.h"

namespace parbench {

using Value = std::variant<std::int64_t, double, std::string>;

[[nodiscard]] std::string to_string(const Value& value);

/// Name and value. Parameters are in the order in which the case's name shows them.
struct Parameter {
  std::string name;
  Value value;
  /// Whether the case's name omits the parameter, to stay short, because the value is a default or
  /// follows from other parameters.
  bool implied = false;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

class Parameters {
 public:
  void set(std::string name, Value value);    // replaces, or appends
  void imply(std::string name, Value value);  // like `set`, but omitted from the case's name

  void state(std::string_view name);  // adds an implied parameter to the case's name

  [[nodiscard]] const Value* find(std::string_view name) const;  // nullptr if absent
  /// The getters throw std::out_of_range for an absent name and std::bad_variant_access for a wrong
  /// type.
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  /// Return the value of that name, or the fallback for an absent one.
  [[nodiscard]] std::int64_t integer_or(std::string_view name, std::int64_t fallback) const;
  [[nodiscard]] Value value_or(std::string_view name, const Value& fallback) const;
  [[nodiscard]] std::string text_or(std::string_view name, std::string_view fallback) const;

  /// Returns the parameters whose names satisfy the predicate, in order.
  [[nodiscard]] Parameters where(const auto& predicate) const {
    Parameters chosen;
    for (const Parameter& parameter : values_) {
      if (predicate(parameter.name)) chosen.values_.push_back(parameter);
    }
    return chosen;
  }

  [[nodiscard]] auto begin() const { return values_.begin(); }
  [[nodiscard]] auto end() const { return values_.end(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  friend bool operator==(const Parameters&, const Parameters&) = default;

 private:
  void put(Parameter parameter);

  std::vector<Parameter> values_;
};

/// Kind of an axis's values.
enum class AxisKind {
  integer,   // whole number within [min, max]
  real,      // finite number within [min, max]
  percent,   // like `real`, with or without a percent sign
  duration,  // "250us", "1ms", "0.5s": kept as text, 1000us as "1ms"; min and max in nanoseconds
  bytes,     // "512", "64KiB", "1MiB": kept as text, 1024KiB as "1MiB"; min and max in bytes
  choice,    // one of `choices`
  sizes,     // a whole number, or several as a+b+c, each within [min, max]; kept as text when
             // several
  text,      // any text; the scenario checks it
};

/// One dimension of a sweep. Its flag is `--<name>`, with a comma list of values.
struct Axis {
  std::string name;
  std::string description;
  AxisKind kind = AxisKind::integer;
  std::vector<Value> quick = {};  // if empty, the scenario derives the values
  std::vector<Value> published = {};
  double min = 1;
  double max = 0;  // below `min`: no upper limit
  std::vector<std::string> choices = {};
  std::string file_suffix = {};  // suffix of files that are choices too: ".onnx"
  /// Strategies to which the axis applies; empty: all.
  std::vector<std::string> strategies = {};
  /// Name of another axis whose parameter this axis sets, in another unit; cases have only that
  /// parameter.
  std::string sets = {};
  /// Whether its parameter identifies cases. If not (`--slowdown`), it is in CaseSpec::hidden.
  bool identity = true;
  /// Role of the axis in findings, and the value that findings recommend.
  std::optional<Role> role = {};
  std::string advised = {};
  /// Values of both presets if they depend on the number of devices; null: the values above.
  std::function<std::vector<Value>(int devices)> by_devices = {};

  [[nodiscard]] bool applies_to(std::string_view strategy) const;
};

/// Returns the spelling of a flag or argument on the command line: "--split" for "split"; "-o" and
/// "REPORT" are unchanged.
[[nodiscard]] std::string spelled(std::string_view name);

/// Parses one value of an axis. Throws UsageError that names the flag, the value and the allowed
/// values.
[[nodiscard]] Value parse_value(const Axis& axis, std::string_view text);

/// Throws UsageError, as `parse_value` does, unless a typed value is allowed for the axis.
void check_value(const Axis& axis, const Value& value);

/// Returns the nanoseconds of a duration that `parse_value` has accepted.
[[nodiscard]] std::int64_t nanoseconds_of(std::string_view duration);
/// Returns the bytes of a size that `parse_value` has accepted.
[[nodiscard]] std::int64_t bytes_of(std::string_view size);

/// Describes the allowed values, for messages and `list`: "whole numbers from 1 to 4096".
[[nodiscard]] std::string allowed_values(const Axis& axis);

}  // namespace parbench
