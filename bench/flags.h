// The flags of the command line as data: one table that parsing, help, config files and
// suggestions share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/options.h"
#include "scenarios/scenario.h"

namespace parbench {

using ScenarioList = std::vector<std::unique_ptr<Scenario>>;

enum class FlagKind {
  single,  // takes one value
  list,    // takes a comma list; given repeatedly, the lists join
  toggle,  // takes none, or true or false
};

struct Flag {
  std::string name;         // without dashes
  std::string placeholder;  // what stands for the value in the help
  std::string description;
  std::string group;  // heading in the help
  FlagKind kind = FlagKind::single;
};

/// Text of each flag that was given, as it was given: "1,3" stays one text. A toggle that was given
/// without value has "true".
using FlagValues = std::map<std::string, std::vector<std::string>, std::less<>>;

/// All flags: the fixed ones, then one for each axis of the scenarios; an axis that several
/// scenarios have is one flag.
[[nodiscard]] std::vector<Flag> all_flags(const ScenarioList& scenarios);

[[nodiscard]] std::vector<std::string> names_of(const std::vector<Flag>& flags);
[[nodiscard]] std::vector<std::string> names_of(const ScenarioList& scenarios);

/// Whether a toggle was given; the last one counts. Throws UsageError for a value other than true
/// and false.
[[nodiscard]] bool is_on(const FlagValues& values, std::string_view flag);

/// The items of the comma lists of one flag. Throws UsageError for an empty item or one that occurs
/// twice.
[[nodiscard]] std::vector<std::string> split_items(std::string_view flag,
                                                   const std::vector<std::string>& texts);

/// The fraction that a percentage stands for, "2" or "2%". Throws UsageError that names
/// `--threshold` when it is none or not from 0 to 1000.
[[nodiscard]] double threshold_from(const std::string& text);

/// Turns flags into Options (all but `command` and `command_line`). Throws UsageError for a value
/// that its flag does not take; axis values are checked when the sweep is expanded.
[[nodiscard]] Options options_from(const FlagValues& values, const ScenarioList& scenarios);

/// The flags that would give these options again, typed: what a report keeps of them.
[[nodiscard]] std::vector<Parameter> flags_from(const Options& options);

}  // namespace parbench
