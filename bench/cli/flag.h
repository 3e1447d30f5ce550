// Flags and arguments as rows of a table, which command line, reports, --rerun, config files, help
// and suggestions are derived from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/base/tensor.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

enum class FlagKind {
  single,  // takes one value
  list,    // takes a comma-separated list; lists of repeated flags are joined
  many,    // takes one value each time it is given
  toggle,  // takes no value, or true or false
};

/// How a run's report records a flag.
enum class InReport {
  nothing,
  recorded,
  repeated,  // recorded, and read from the report by --rerun
};

/// A flag that cannot be given together with the row's flag, and the reason.
struct Exclusion {
  std::string_view flag;
  std::string_view reason;
};

/// Typed values of each axis that was given: --split 1,3 → {"split", {1, 3}}.
using AxisValues = std::map<std::string, std::vector<Value>, std::less<>>;

/// Where --scenario stores the scenarios that it selects from `all`.
struct ScenarioChoice {
  std::vector<const Scenario*>* chosen = nullptr;
  const ScenarioList* all = nullptr;
};

/// The variable that holds a flag's value. An empty optional, text or list means that the flag was
/// not given.
using Target =
    std::variant<std::monostate, bool*, int*, std::optional<int>*, std::uint64_t*, double*,
                 std::optional<double>*, std::string*, std::vector<std::string>*, Preset*,
                 NumberFormat*, std::optional<NumberFormat>*, ScenarioChoice, AxisValues*>;

struct FlagRow {
  /// Name ("split" for --split; "-o" and the positional "REPORT" unchanged), description, and
  /// allowed values.
  Axis value;
  FlagKind kind = FlagKind::single;
  std::string placeholder = {};  // stands for the value in the help
  std::string group = {};        // heading in the help
  bool required = false;
  bool hidden = false;  // internal flag: not in the help, never suggested
  InReport in_report = InReport::nothing;
  bool in_config = true;
  std::vector<Exclusion> excludes = {};
  Target target = {};
};

/// The next three functions return the rule for a flag's values: any non-empty text, one of several
/// words, or numbers in a range.
[[nodiscard]] Axis text_rule(std::string name, std::string description);
[[nodiscard]] Axis choice_rule(std::string name, std::string description,
                               std::vector<std::string> choices);
[[nodiscard]] Axis number_rule(std::string name, std::string description, AxisKind kind, double min,
                               double max);

/// The next five functions return the row of a flag: four kinds with values, and a toggle.
[[nodiscard]] FlagRow text_flag(std::string name, std::string description, std::string placeholder,
                                Target target);
[[nodiscard]] FlagRow choice_flag(std::string name, std::string description,
                                  std::vector<std::string> choices, std::string placeholder,
                                  Target target);
[[nodiscard]] FlagRow number_flag(std::string name, std::string description, AxisKind kind,
                                  double min, double max, std::string placeholder, Target target);
[[nodiscard]] FlagRow many_flag(std::string name, std::string description, std::string placeholder,
                                std::vector<std::string>* target);
[[nodiscard]] FlagRow toggle_flag(std::string name, std::string description, bool* target);

/// Returns the row of a flag that must be given.
[[nodiscard]] FlagRow required(FlagRow row);

/// The texts of each flag that was given: "1,3" is one text. A toggle without a value has "true".
using FlagTexts = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Returns the names of all rows that are not hidden.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<FlagRow>& rows);
template <class Pointer>
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Pointer>& scenarios) {
  std::vector<std::string> names;
  for (const auto& scenario : scenarios) names.emplace_back(scenario->name());
  return names;
}

/// Returns the row with this name; null if there is none.
[[nodiscard]] const FlagRow* find_row(const std::vector<FlagRow>& rows, std::string_view name);

/// Returns whether a toggle is on; its last text decides. Throws UsageError for a value other than
/// true and false.
[[nodiscard]] bool is_on(const FlagTexts& texts, std::string_view flag);

/// Parses the texts of one flag. Throws UsageError, with the flag, the value and what is allowed,
/// also for an empty or repeated item of a list.
[[nodiscard]] std::vector<Value> parse_values(const FlagRow& row,
                                              const std::vector<std::string>& texts);

/// Parses the texts of one flag and stores the value in the row's target. Throws UsageError.
void read_flag(const FlagRow& row, const std::vector<std::string>& texts);

/// Calls `read_flag` for each row that has texts.
void read_flags(const std::vector<FlagRow>& rows, const FlagTexts& texts);

/// Returns the value of the row's target; nothing if the row has no target, the target is empty, or
/// a toggle is off.
[[nodiscard]] std::optional<Value> value_of(const FlagRow& row);

[[nodiscard]] bool exclude_each_other(const std::vector<FlagRow>& rows, std::string_view one,
                                      std::string_view other);

/// Throws UsageError if two flags that exclude each other are given.
void check_exclusions(const std::vector<FlagRow>& rows, const FlagTexts& texts);

}  // namespace parbench
