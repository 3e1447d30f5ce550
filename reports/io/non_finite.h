// Numbers that are not finite in JSON of other programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace parbench::report {

/// JSON has no NaN and no Infinity, but Google Benchmark writes counters so. Returns the text with
/// null in their place; nothing where it has none outside of its strings.
[[nodiscard]] std::optional<std::string> with_null_for_non_finite(std::string_view text);

}  // namespace parbench::report
